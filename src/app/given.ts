/** What a program gives, at any door: one schema for each use case that takes more than a name. */
import * as z from 'zod';
import { linesOf } from '../config/file';
import { Method } from '../config/schema';
import { BudgetLimits, MemoryMode, Role } from '../domain';
import type { AskRequest } from './ask';
import { UsageError } from './errors';

const text = z.string().min(1);

export const AskOptions = z.strictObject({
  /** A configured name, a file, a folder of data files, or a URL. Left out: the only configured database. */
  db: text.optional(),
  /** Background, such as the date that the question refers to; with `instructions` at most 32,000 characters. */
  context: z.string().optional(),
  /** Rules that the answer must follow. */
  instructions: z.string().optional(),
  /** Paths of documentation. Left out: that of the configuration; false: none. */
  docs: z.union([z.literal(false), z.array(text)]).optional(),
  /** The answer in words with SQL and rows (the default), or the SQL and its rows alone. */
  output: z.enum(['answer', 'sql']).optional(),
  /** Whether the search may look things up on the web. */
  web: z.boolean().optional(),
  /** The search that the question follows: its id, the beginning of it, or `last`. */
  after: text.optional(),
  /** As `--method` takes it. Left out: that of the configuration, else `fast`. */
  method: Method.optional(),
  /** How the semantic layer is used. Left out: as configured, else `on`. */
  memory: MemoryMode.optional(),
  /** A model for all roles, or for some of them. */
  model: z.union([text, z.partialRecord(z.enum(['default', ...Role.options]), text)]).optional(),
  /** Another one makes another search. Left out: 0. */
  seed: z.int().optional(),
  /** Limits of this question; null lifts one. Left out: as configured, else 1 US dollar. */
  budgets: BudgetLimits.optional(),
  /** Searches anew, whatever is stored. */
  fresh: z.boolean().optional(),
  /** Rows of the result at most. Left out: the 10,000 that are stored; more are read again with the same SQL. */
  maxRows: z.int().positive().optional(),
  /** A file that every exchange with the model is written to. */
  record: text.optional(),
  /** A recording that answers in place of a model. */
  replay: text.optional(),
});
export type AskOptions = z.input<typeof AskOptions>;

const note = z.string().max(2_000).optional();

/** What a person decides about a layer, or says of its database. `entry` and `question`: an id, or its beginning. */
export const LayerCommand = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['confirm', 'reject']), entry: z.string(), note }),
  z.strictObject({ kind: z.literal('edit'), entry: z.string(), statement: z.string(), note }),
  z.strictObject({ kind: z.literal('add'), statement: z.string(), note }),
  z.strictObject({ kind: z.literal('answer'), question: z.string(), text: z.string(), note }),
]);
export type LayerCommand = z.infer<typeof LayerCommand>;

export function askRequest(text: string, options: unknown): AskRequest {
  const { model, output = 'answer', ...rest } = given(AskOptions, options, 'options');
  const models = typeof model === 'string' ? { default: model } : model;
  return { ...rest, text: given(z.string(), text, 'question'), output, ...(models && { model: models }) };
}

/** Throws `UsageError`, one line for each mistake. */
export function given<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new UsageError(linesOf(schema, error, what).join('\n'), { cause: error });
}
