/** The ledger of one search and its limits (D6). */
import type { BudgetName, Budgets, Usage } from '../domain';
import type { UsageDelta } from '../domain/ports/step-parts';

/** What is counted only where it occurs is absent while there was none. */
export function addUsage(a: Usage, delta: UsageDelta): Usage {
  const sum: Usage = { ...a };
  for (const [key, more] of Object.entries(delta) as [keyof Usage, number | undefined][])
    if (more !== undefined) sum[key] = (a[key] ?? 0) + more;
  return sum;
}

function spent(usage: Usage, elapsedMs: number): Readonly<Record<BudgetName, number>> {
  const { promptTokens, completionTokens, sqlBytes = 0 } = usage;
  return { ...usage, sqlBytes, tokens: promptTokens + completionTokens, wallMs: elapsedMs };
}

/** What a step spends. A model call checks every budget: without budget left to execute its result, it would be wasted. */
export type Spending = 'model' | 'sql';

/** SQL still runs when only a model budget is used up, so that a plan already paid for gets its result (D6). */
const SQL_BUDGETS: readonly BudgetName[] = ['wallMs', 'sqlExecutions', 'sqlMs', 'sqlRows', 'sqlBytes'];

/** The first budget that is used up, or null. */
export function exhaustedBudget(
  usage: Usage,
  elapsedMs: number,
  budgets: Budgets,
  spending: Spending = 'model',
): BudgetName | null {
  const used = spent(usage, elapsedMs);
  const isUsedUp = (name: BudgetName): boolean => budgets[name] !== null && used[name] >= budgets[name];
  const checked = Object.keys(budgets) as BudgetName[];
  return checked.find((name) => (spending === 'model' || SQL_BUDGETS.includes(name)) && isUsedUp(name)) ?? null;
}

/** The share of a budget from which on what is proved is read at once. */
const NEARLY = 0.75;

/** Whether most of a budget for model calls is spent. */
export function nearlySpent(usage: Usage, elapsedMs: number, budgets: Budgets): boolean {
  const used = spent(usage, elapsedMs);
  return (Object.keys(budgets) as BudgetName[]).some((name) => {
    const limit = budgets[name];
    return limit !== null && used[name] >= limit * NEARLY;
  });
}

/** Model calls still allowed; null when nothing limits them. */
export function callsLeft(usage: Usage, budgets: Budgets): number | null {
  return budgets.llmCalls === null ? null : Math.max(0, budgets.llmCalls - usage.llmCalls);
}

/**
 * What one of `of` children that begin together may spend: an equal share of what is left, by value. Null if nothing is left
 * of a budget.
 */
export function budgetsOfChild(budgets: Budgets, usage: Usage, elapsedMs: number, index = 0, of = 1): Budgets | null {
  const used = spent(usage, elapsedMs);
  const child = eachBudget(shareOfBudgets(budgets, usage, index, of), (limit, name) =>
    name === 'costUsd' ? limit - used[name] : Math.floor(limit - used[name]),
  );
  return Object.values(child).some((limit) => limit !== null && limit <= 0) ? null : child;
}

const WHOLE: readonly BudgetName[] = ['llmCalls', 'sqlExecutions', 'sqlRows'];

/**
 * The limits of one of `of` concurrent parts of a search: an equal share of what is left. Calls that do not divide evenly go to the
 * first ones by position. Shared counters would make the result depend on which step returns first (rule S11).
 */
export function shareOfBudgets(budgets: Budgets, usage: Usage, index: number, of: number): Budgets {
  const used = spent(usage, 0);
  return eachBudget(budgets, (limit, name) => {
    if (name === 'wallMs') return limit;
    const left = Math.max(0, limit - used[name]);
    return used[name] + (WHOLE.includes(name) ? Math.floor(left / of) + (index < left % of ? 1 : 0) : left / of);
  });
}

function eachBudget(budgets: Budgets, change: (limit: number, name: BudgetName) => number): Budgets {
  const changed = Object.entries(budgets).map(([name, limit]) => [
    name,
    limit === null ? null : change(limit, name as BudgetName),
  ]);
  return Object.fromEntries(changed) as Budgets;
}
