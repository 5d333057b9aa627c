/** One answer of a run: a line of its `results.jsonl`, from which every figure of its report can be made again. */
import * as z from 'zod';
import { AnswerStatus, EndedBy, Reuse, SqlValue, Standing, Usage } from '../domain';
import { VERDICTS } from './verdict';

/** Its JSON schema is `docs/schemas/results.schema.json`. */
export const ResultLine = z.object({
  set: z.string().describe('the name of its set of questions'),
  method: z.string().describe('with its settings'),
  seed: z.number().int(),
  id: z.string().describe('the id of the question in its file'),
  searchId: z.string().describe('what gate show takes'),
  question: z.string().describe('as the file asks it'),
  database: z.string().nullable().describe('as the file names it'),
  difficulty: z.string().nullable().describe('as the file says'),
  status: z.enum([...AnswerStatus.options, 'infrastructure-failure']),
  endedBy: EndedBy.nullable(),
  sql: z.string().nullable(),
  answer: z.string().nullable().describe('the answer in words; null: none was asked for'),
  standing: Standing.nullable().describe('how far the answer stands proved; null: it gave no answer'),
  proved: z.number().nullable().describe('share of what the answer assumes that is proved; null: it gave no answer'),
  columns: z.array(z.string()).optional().describe('with --rows: the names of the columns of the answer'),
  rows: z
    .array(z.array(SqlValue))
    .optional()
    .describe('with --rows: the rows of the answer, as far as the search keeps them'),
  truncated: z.boolean().optional().describe('with --rows: whether there are more rows than these'),
  verdict: z.enum(VERDICTS),
  verdictReason: z.string(),
  execution: z.boolean().nullable().describe('execution match by itself; null: it could not be decided'),
  official: z.boolean().nullable().describe("the rule of the benchmark's publisher; null: it could not be decided"),
  judged: z
    .object({
      verdict: z.enum(VERDICTS).nullable().describe('null: not judged, for the reason beside it'),
      reason: z.string(),
    })
    .optional()
    .describe('what the judge says of it; left out: no judge was asked for'),
  reuse: Reuse.optional().describe('left out by searches that make no updates'),
  usage: Usage.nullable(),
  wallMs: z.number().nullable().describe('from the start of the search to its end, in milliseconds'),
  error: z.string().nullable().describe('what went wrong around the search; null: nothing did'),
});
export type ResultLine = Readonly<z.infer<typeof ResultLine>>;
