/** Limits of one question by the names that people give them: the budget of each, and how many of its units one is. */
import type { Budgets } from '../domain';

export const LIMITS = {
  calls: ['llmCalls', 1, true],
  tokens: ['tokens', 1, true],
  minutes: ['wallMs', 60_000, false],
  sql: ['sqlExecutions', 1, true],
  'sql-seconds': ['sqlMs', 1_000, false],
  'sql-rows': ['sqlRows', 1, true],
  'sql-gb': ['sqlBytes', 1e9, false],
} as const satisfies Readonly<Record<string, readonly [keyof Budgets, by: number, isWhole: boolean]>>;

export type Limits = Readonly<Partial<Record<keyof typeof LIMITS, number | 'none'>>>;

/** What is not given stays as it is. */
export interface LimitFlags {
  readonly maxCost?: number | 'none';
  readonly max?: Limits;
}

export function limitsOf({ max = {}, maxCost }: LimitFlags): Partial<Budgets> {
  const budgets = Object.entries(max).map(([name, value]) => {
    const [budget, by] = LIMITS[name as keyof typeof LIMITS];
    // A whole number of at least 1, and no larger than one that stays exact.
    const whole = (number: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.max(1, Math.round(number * by)));
    return [budget, value === 'none' ? null : whole(value)] as const;
  });
  const cost = maxCost === undefined ? {} : { costUsd: maxCost === 'none' ? null : maxCost };
  return { ...Object.fromEntries(budgets), ...cost };
}
