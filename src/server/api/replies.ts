/** What the API answers. */
import * as z from 'zod';
import { AnswerRecord, LayerEntry, LayerRule } from '../../domain';
import { BatchStatus } from '../../app/run/batch-status';
import { Usage } from '../../domain/state';
import { Listed } from '../../record/search-index';

const Outage = z.object({
  step: z.string(),
  attempt: z.int(),
  reason: z.string(),
  nextTryAt: z.string().nullable(),
  givesUpAt: z.string().nullable(),
});

export const Question = z
  .object({
    id: z.string(),
    question: z.string().nullable(),
    status: z
      .string()
      .describe(
        'answered, unanswerable, abstained, cancelled or failed; running, paused, waiting; interrupted: nobody works on it; unknown: no Temporal answers',
      ),
    reason: z.string().nullable().describe('why it ended without an answer'),
    iteration: z.number().nullable(),
    bottleneck: z.string().nullable(),
    doing: z.string().nullable().describe('what is waited for and how long, and what is done'),
    learned: z.string().nullable(),
    usage: Usage.nullable(),
    outages: z.array(Outage).describe('steps that are tried again'),
    ui: z.string().nullable(),
    traceId: z.string().nullable(),
    next: z.string().nullable().describe('what to do next'),
    record: AnswerRecord.nullable().describe('once it has ended'),
  })
  .describe('where a question stands');

export const Accepted = z.object({ id: z.string(), status: z.literal('running'), ui: z.string().nullable() });

export const Questions = z.object({
  questions: z.array(Listed.extend({ status: z.string() })),
  next: z.string().nullable().describe('"after" of the next page'),
});

export const Steered = z.object({
  id: z.string(),
  kind: z.string(),
  author: z.string(),
  remarkId: z.string().nullable().describe('under which the search keeps it, if it does'),
  heard: z.enum(['next-call', 'call-after', 'any-call-after']).optional().describe('when a model hears a hint'),
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
export const Batch = BatchStatus;
export const StartedBatch = z.object({
  id: z.string(),
  status: z.enum(['running', 'completed']),
  ui: z.string().nullable(),
  questions: z.int(),
});
