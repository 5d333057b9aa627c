/**
 * Commands of a person to a running search. Each is a workflow update: refused with a reason, or applied and recorded. The
 * part that models should know becomes a remark: human evidence under its author's name.
 */
import * as z from 'zod';
import { BudgetLimits } from './question';

const author = z.string().min(1).max(100);
const reason = z.string().min(1).max(2_000);

export const Steering = z.discriminatedUnion('kind', [
  /** `byProgram`: no person stands behind it, so the layer keeps nothing of the search. */
  z.object({
    kind: z.literal('hint'),
    author,
    text: z.string().min(1).max(2_000),
    byProgram: z.literal(true).optional(),
  }),
  z.object({ kind: z.literal('pause'), author }),
  z.object({ kind: z.literal('resume'), author }),
  /** New limits. Limits that are not given stay unchanged; null removes a limit. */
  z.object({ kind: z.literal('budget'), author, budgets: BudgetLimits }),
  /** Withdraws an update with everything that rests on it. Its SQL is not used again for that operator. */
  z.object({ kind: z.literal('veto'), author, update: z.string().min(1), reason }),
  /** Keeps a reading: of an update, or the current one of an operator. */
  z.object({ kind: z.literal('pin'), author, target: z.string().min(1), reason }),
  /** Answer now, with the best so far. */
  z.object({ kind: z.literal('stop'), author }),
]);
export type Steering = z.infer<typeof Steering>;
export type SteeringKind = Steering['kind'];
export type SteeringOf<K extends SteeringKind> = Extract<Steering, { kind: K }>;

/** Human evidence: what models are told of a hint, a veto or a pin. */
export const Remark = z.object({
  /** `h1`, `h2`, … */
  remarkId: z.string(),
  kind: z.enum(['hint', 'veto', 'pin']),
  author: z.string(),
  /** The operator or update it is about; null for a hint. */
  target: z.string().nullable(),
  text: z.string(),
  at: z.string(),
});
export type Remark = z.infer<typeof Remark>;
