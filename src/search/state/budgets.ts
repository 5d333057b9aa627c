/** The ledger of one search and its limits (D6). */
import type { BudgetName, Budgets, Usage } from '../../domain';
import type { UsageDelta } from '../../ports/search-steps';

export function addUsage(a: Usage, delta: UsageDelta): Usage {
  return {
    llmCalls: a.llmCalls + (delta.llmCalls ?? 0),
    possiblyBilledCalls: a.possiblyBilledCalls + (delta.possiblyBilledCalls ?? 0),
    promptTokens: a.promptTokens + (delta.promptTokens ?? 0),
    ...counted('cachedTokens', a, delta),
    completionTokens: a.completionTokens + (delta.completionTokens ?? 0),
    costUsd: a.costUsd + (delta.costUsd ?? 0),
    sqlExecutions: a.sqlExecutions + (delta.sqlExecutions ?? 0),
    sqlMs: a.sqlMs + (delta.sqlMs ?? 0),
    sqlRows: a.sqlRows + (delta.sqlRows ?? 0),
    ...counted('lookups', a, delta),
  };
}

/** Absent while there was none. */
function counted(key: 'cachedTokens' | 'lookups', a: Usage, delta: UsageDelta): Partial<Usage> {
  return a[key] === undefined && delta[key] === undefined ? {} : { [key]: (a[key] ?? 0) + (delta[key] ?? 0) };
}

/** What a step spends. A model call checks every budget: without budget left to execute its result, it would be wasted. */
export type Spending = 'model' | 'sql';

/** SQL still runs when only a model budget is used up, so that a plan already paid for gets its result (D6). */
const SQL_BUDGETS: readonly BudgetName[] = ['wallMs', 'sqlExecutions', 'sqlMs', 'sqlRows'];

/** The first budget that is used up, or null. */
export function exhaustedBudget(
  usage: Usage,
  elapsedMs: number,
  budgets: Budgets,
  spending: Spending = 'model',
): BudgetName | null {
  const spent: Record<BudgetName, number> = {
    llmCalls: usage.llmCalls,
    tokens: usage.promptTokens + usage.completionTokens,
    costUsd: usage.costUsd,
    wallMs: elapsedMs,
    sqlExecutions: usage.sqlExecutions,
    sqlMs: usage.sqlMs,
    sqlRows: usage.sqlRows,
  };
  for (const name of Object.keys(spent) as BudgetName[]) {
    if (spending === 'sql' && !SQL_BUDGETS.includes(name)) continue;
    const limit = budgets[name];
    if (limit !== null && spent[name] >= limit) return name;
  }
  return null;
}

/**
 * What one of `of` children that begin together may spend: an equal share of what is left, by value. Null if nothing is left
 * of a budget.
 */
export function budgetsOfChild(budgets: Budgets, usage: Usage, elapsedMs: number, index = 0, of = 1): Budgets | null {
  const share = shareOfBudgets(budgets, usage, index, of);
  const left = (limit: number | null, used: number): number | null => (limit === null ? null : limit - used);
  const whole = (limit: number | null, used: number): number | null =>
    limit === null ? null : Math.floor(limit - used);
  const child: Budgets = {
    llmCalls: left(share.llmCalls, usage.llmCalls),
    tokens: whole(share.tokens, usage.promptTokens + usage.completionTokens),
    costUsd: left(share.costUsd, usage.costUsd),
    wallMs: whole(share.wallMs, elapsedMs),
    sqlExecutions: left(share.sqlExecutions, usage.sqlExecutions),
    sqlMs: whole(share.sqlMs, usage.sqlMs),
    sqlRows: left(share.sqlRows, usage.sqlRows),
  };
  return Object.values(child).some((limit) => limit !== null && limit <= 0) ? null : child;
}

/** Model calls still allowed; null when nothing limits them. */
export function callsLeft(usage: Usage, budgets: Budgets): number | null {
  return budgets.llmCalls === null ? null : Math.max(0, budgets.llmCalls - usage.llmCalls);
}

/**
 * The limits of one of `of` concurrent parts of a search: an equal share of what is left. Calls that do not divide evenly go to the
 * first ones by position. Shared counters would make the result depend on which step returns first (rule S11).
 */
export function shareOfBudgets(budgets: Budgets, usage: Usage, index: number, of: number): Budgets {
  const whole = (limit: number | null, used: number): number | null => {
    if (limit === null) return null;
    const left = Math.max(0, limit - used);
    return used + Math.floor(left / of) + (index < left % of ? 1 : 0);
  };
  const part = (limit: number | null, used: number): number | null =>
    limit === null ? null : used + Math.max(0, limit - used) / of;
  return {
    llmCalls: whole(budgets.llmCalls, usage.llmCalls),
    tokens: part(budgets.tokens, usage.promptTokens + usage.completionTokens),
    costUsd: part(budgets.costUsd, usage.costUsd),
    wallMs: budgets.wallMs,
    sqlExecutions: whole(budgets.sqlExecutions, usage.sqlExecutions),
    sqlMs: part(budgets.sqlMs, usage.sqlMs),
    sqlRows: whole(budgets.sqlRows, usage.sqlRows),
  };
}
