/**
 * What programs read of GATE, as JSON schemas: the record of `gate ask --json` and a line of `results.jsonl`. Made from
 * the zod schemas that the code itself uses, so that the two cannot drift.
 */
import { z } from 'zod';
import { AnswerRecord } from '../domain';
import { ResultLine } from './batch-score';

/** What `--json` adds to the stored record. */
export const AnswerOutput = AnswerRecord.extend({
  asOf: z.string().describe('when the rows were read'),
  reused: z.boolean().describe('the question was asked again, and a stored search answered it'),
  rowsChanged: z.boolean().describe('asked again, the SQL gave other rows than before'),
  claims: AnswerRecord.shape.claims.describe(
    'what the SQL takes for granted or, with operator null, what is not stored; each with the counts by which the database decided it; left out by searches that claim nothing',
  ),
  report: z.string().nullable().describe('path of the HTML report; null with encryption on'),
  ui: z.string().nullable().describe('address in the Temporal UI; null when no server stays up'),
});

/** By the name of the file in `docs/schemas`, as its text. */
export function jsonSchemas(): Readonly<Record<string, string>> {
  return {
    'answer.schema.json': text('The answer to a question: gate ask, result and demo with --json', AnswerOutput),
    'results.schema.json': text('A line of results.jsonl: one question of gate batch run', ResultLine),
  };
}

/** `io: 'input'`: a reader also meets records of earlier versions, which lack the fields that have a default. */
function text(title: string, schema: z.ZodType): string {
  return `${JSON.stringify({ title, ...z.toJSONSchema(schema, { io: 'input' }) }, null, 2)}\n`;
}
