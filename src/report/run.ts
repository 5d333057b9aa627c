/** What a run wrote down of itself: its figures, and all that is needed to make them again. */
import * as z from 'zod';
import { Comparison, MethodFigures } from '../questions';

export interface Table {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  /** What has to be known to read it. */
  readonly note?: string;
}

const RunDatabase = z.object({
  name: z.string(),
  dialect: z.string(),
  sha256: z.string().nullable().describe('of the SQLite file; null: a server'),
  schema: z.string().describe('fingerprint of its tables and columns'),
});

const RunSet = z.object({
  name: z.string(),
  note: z.string().nullable().describe('what these questions are not, such as synthetic ones in place of others'),
  remarks: z.array(z.string()).describe('what the data lack, or what is in no figure'),
  benchmark: z
    .object({ name: z.string(), title: z.string(), split: z.string(), source: z.string(), licence: z.string() })
    .nullable()
    .describe('whose official scorer decides; null: the gold of the file'),
  questionsSha256: z.string().describe('of the questions with their gold, as they were read'),
  databases: z.array(RunDatabase),
  settings: z.record(z.string(), z.unknown()).describe('of each method, with the first seed'),
  figures: z.array(MethodFigures),
  comparison: Comparison,
});
export type RunSet = Readonly<z.infer<typeof RunSet>>;

/** Its JSON schema is `docs/schemas/run.schema.json`. */
export const Run = z.object({
  schemaVersion: z.literal(1),
  name: z.string(),
  startedAt: z.string(),
  endedAt: z.string(),
  complete: z.boolean().describe('every question has ended for every method and seed'),
  command: z.string(),
  config: z.object({ text: z.string().describe('the file of the run as it is'), sha256: z.string() }),
  versions: z.object({
    gate: z.string(),
    node: z.string(),
    temporalServer: z.string().nullable().describe('null: every answer was in the store before'),
    temporalSdk: z.string(),
  }),
  endpoint: z.string().describe('of the model'),
  models: z.array(z.string()),
  prompts: z.record(z.string(), z.string()).describe('SHA-256 of each file of prompts of this version, as it is built'),
  sets: z.array(RunSet),
});
export type Run = Readonly<z.infer<typeof Run>>;
