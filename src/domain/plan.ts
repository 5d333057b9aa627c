/**
 * Plans, operators and bodies (design §2). A plan's *content* (this file) is stored once and never changes; which body
 * each operator currently has is the control view's business (`state.ts`), so a grounding replaces an id and no text.
 */
import * as z from 'zod';

/** Operator names are CTE names: the prefix keeps them apart from every relation (rule S8). */
export const OPERATOR_NAME = /^op_[a-z0-9_]{1,50}$/;
export const OperatorName = z.string().regex(OPERATOR_NAME);

export const ColumnType = z.enum(['integer', 'number', 'text', 'boolean', 'date', 'timestamp', 'json', 'other']);
export type ColumnType = z.infer<typeof ColumnType>;

export const Column = z.object({ name: z.string().min(1), type: ColumnType, meaning: z.string() });
export type Column = z.infer<typeof Column>;

export const Assumption = z.object({
  kind: z.enum(['meaning', 'unit', 'codes', 'join', 'time', 'other']),
  statement: z.string().min(1),
  /** How likely it is wrong and changes the answer, 0 to 1. */
  risk: z.number().min(0).max(1),
});
export type Assumption = z.infer<typeof Assumption>;

/** A SQL body. Its id is a hash of `sql` and of the operator names that the text reads (`reads`). */
export const Body = z.object({
  bodyId: z.string(),
  sql: z.string(),
  relations: z.array(z.string()),
  /** Operator names as they stand in the text; a plan that names them otherwise binds them by alias (rule S8). */
  reads: z.array(z.string()),
  recursive: z.boolean(),
  /** The text starts with its own WITH clause. */
  hasWith: z.boolean(),
});
export type Body = z.infer<typeof Body>;

export const Operator = z.object({
  name: OperatorName,
  purpose: z.string(),
  /** What the operator means, as a sentence that other plans can pick; half of the reuse key (rule S3). */
  intent: z.string().min(1),
  relations: z.array(z.string()),
  inputs: z.array(OperatorName),
  columns: z.array(Column).min(1),
  /** The output columns that identify a row; empty for a single row. */
  grain: z.array(z.string()),
  body: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('unresolved'), mapping: z.string() }),
    z.object({ kind: z.literal('assumed'), bodyId: z.string(), assumptions: z.array(Assumption) }),
  ]),
});
export type Operator = z.infer<typeof Operator>;

/** A reading that the question's own words leave open and no data can decide. */
export const WordingChoice = z.object({
  operator: OperatorName,
  taken: z.string(),
  other: z.string(),
  /** A body for the other reading, so that the answer can say what it would give. */
  otherBodyId: z.string().nullable(),
});

export const Plan = z.object({
  planId: z.string(),
  outline: z.string(),
  /** In dependency order; the last one yields the answer. */
  operators: z.array(Operator).min(1),
  /** Whether the question asks for an order of rows. */
  ordered: z.boolean(),
  /** A SELECT that returns one count of the rows the answer examines; it keeps an empty agreement from counting (S5). */
  controlBodyId: z.string().nullable(),
  /** A SELECT of two counts: how many things the question asks about, how many of them the SQL can use. Left out: not counted. */
  coverageBodyId: z.string().optional(),
  wording: z.array(WordingChoice),
  /** The answer in words, as the reply gave it, with places for values of the last operator's columns. */
  sentence: z.string().optional(),
});
export type Plan = z.infer<typeof Plan>;
