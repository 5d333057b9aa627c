/** What the API answers, beside what use cases give as it is. */
import * as z from 'zod';
import { LayerEntry, LayerRule } from '../../domain';
import { Listed } from '../../record/search-index';

export const Accepted = z.object({ id: z.string(), status: z.literal('running'), ui: z.string().nullable() });

export const Questions = z.object({
  questions: z.array(Listed.extend({ status: z.string() })),
  next: z.string().nullable().describe('"after" of the next page'),
});

export const Databases = z.object({
  databases: z.array(
    z.object({ name: z.string(), engine: z.string().describe('?: it cannot be used'), access: z.string() }),
  ),
});

export const Described = z.object({
  database: z.string(),
  version: z.string(),
  tables: z.int(),
  shown: z.int().nullable().describe('tables whose columns are shown; null: all'),
  tokens: z.int().describe('an estimate'),
  text: z.string(),
});

const Entry = LayerEntry.partial({ from: true });
const Held = z.looseObject({ entry: z.union([Entry, LayerRule]), status: z.string() });

export const Layer = z.object({
  database: z.string(),
  entries: z.array(Held).describe('proved by counts'),
  rules: z.array(Held).describe('said by people'),
  questions: z.array(z.looseObject({ questionId: z.string(), text: z.string() })).describe('what no data can decide'),
  verifiedAt: z.string().nullable(),
});

export const LayerDone = z.union([
  z.object({ held: Held }),
  z.looseObject({ checked: z.int(), unseen: z.int(), broken: z.array(z.looseObject({ entryId: z.string() })) }),
]);

export const Batches = z.object({ batches: z.array(z.looseObject({ id: z.string(), status: z.string() })) });
export const StartedBatch = z.object({
  id: z.string(),
  status: z.enum(['running', 'completed']),
  ui: z.string().nullable(),
  questions: z.int(),
});
