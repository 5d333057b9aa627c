/** What `gate submit` says beside the file that it writes: how it was made, and what of it is an answer. */
import { dirname, relative } from 'node:path';
import { z } from 'zod';
import type { BenchmarkItem } from '../benchmarks';
import type { Prediction } from '../benchmarks/benchmark';
import { Settings, type AnswerRecord, type SearchInput } from '../domain';
import { canonical } from '../domain/canonical';
import { each } from '../limiter';
import { sha256OfFile } from '../sha256';
import { packageVersion } from '../workers/package-folder';
import { promptHashes } from './run-provenance';
import { sha256 } from './services';

const Ids = z.array(z.string());

/** Its JSON schema is `docs/schemas/submission.schema.json`. */
export const Submission = z.object({
  schemaVersion: z.literal(1),
  benchmark: z.string(),
  source: z.string().describe('whose rules decide: its code and commit'),
  split: z.string().nullable().describe("null: the questions are those of the batch's own file"),
  batch: z.string().nullable().describe('id of the batch; null: its folder does not say'),
  gate: z.string().nullable().describe('version; null: not known'),
  method: Settings.shape.method.nullable().describe('of the first settings; null: no question has any'),
  models: Settings.shape.models.nullable().describe('of the first settings, by role'),
  settings: z.array(Settings).describe('all with which the questions were answered'),
  prompts: z.record(z.string(), z.string()).describe('SHA-256 of each file of prompts of this version, as it is built'),
  candidates: z.object({
    mean: z.number().nullable().describe('null: no question was answered'),
    most: z.number().int(),
    selfConsistency: z.string().describe("as BIRD's board asks: none, few, many or scale"),
    perQuestion: z.record(z.string(), z.number().int()),
  }),
  data: z.string().describe('SHA-256 of the ids, words and databases of all questions'),
  files: z.array(z.object({ file: z.string().describe('from the folder of this one'), sha256: z.string() })),
  questions: z.number().int(),
  answered: z.number().int(),
  abstained: Ids.describe('said to have no answer'),
  failed: Ids.describe('asked, and without a prediction'),
  notAnswered: Ids.describe('the batch has no answer to them'),
  literals: z
    .array(
      z.object({
        id: z.string(),
        literals: z.array(z.string()),
        unparsed: z.boolean().describe('the SQL could not be parsed: every string and number of it had to be known'),
      }),
    )
    .nullable()
    .describe('of unknown origin, which a person has looked at (--allow-literals); null: these are rows'),
  problems: z.array(z.string()).describe('for which the official checker would refuse the files'),
});
export type Submission = z.infer<typeof Submission>;

export interface Answered {
  readonly item: BenchmarkItem;
  readonly record: AnswerRecord | null;
  readonly input: SearchInput | null;
}

/** Of the version that writes the file: `gate` and `prompts`. Counts are those of the file, whatever a search was called. */
export async function manifestOf(
  path: string,
  answered: readonly Answered[],
  predictions: ReadonlyMap<string, Prediction>,
  written: readonly string[],
) {
  const idsOf = (kinds: readonly Prediction['kind'][], hasRecord = true): string[] =>
    answered.flatMap(({ item: { id }, record }) =>
      kinds.includes(predictions.get(id)?.kind ?? 'none') && (record !== null) === hasRecord ? [id] : [],
    );
  return {
    gate: packageVersion(),
    ...methodOf(answered),
    prompts: promptHashes(),
    candidates: candidatesOf(answered),
    data: sha256(canonical(answered.map(({ item: { id, question, database } }) => ({ id, question, database })))),
    files: await each(written, async (file) => ({
      file: relative(dirname(path), file),
      sha256: await sha256OfFile(file),
    })),
    questions: answered.length,
    answered: idsOf(['sql', 'rows']).length,
    abstained: idsOf(['abstained']),
    failed: idsOf(['none']),
    notAnswered: idsOf(['none'], false),
  };
}

function methodOf(answered: readonly Answered[]) {
  const settings = new Map(
    answered.flatMap(({ input }) => (input === null ? [] : [[canonical(input.settings), input.settings] as const])),
  );
  const [first] = settings.values();
  return {
    method: first?.method ?? null,
    models: first?.models ?? null,
    // All with which the questions were answered.
    settings: [...settings.values()],
  };
}

/** As BIRD's board asks: how many candidates a question had. */
function candidatesOf(answered: readonly Answered[]) {
  const counts = answered.flatMap(({ item, record }) =>
    record === null ? [] : [[item.id, record.candidates.length] as const],
  );
  const numbers = counts.map(([, count]) => count);
  const most = Math.max(0, ...numbers);
  return {
    mean: numbers.length === 0 ? null : numbers.reduce((sum, count) => sum + count, 0) / numbers.length,
    most,
    selfConsistency: most <= 1 ? 'none' : most <= 7 ? 'few (1–7)' : most <= 32 ? 'many (8–32)' : 'scale (more than 32)',
    perQuestion: Object.fromEntries(counts),
  };
}
