/** The ledger of one search and its limits (D6). Deltas are added in a fixed order, so parallel expansions cannot race. */
import type { BudgetName, Budgets, Usage } from '../domain';
import type { UsageDelta } from './steps';

export const NO_USAGE: Usage = {
  llmCalls: 0,
  possiblyBilledCalls: 0,
  promptTokens: 0,
  completionTokens: 0,
  costUsd: 0,
  sqlExecutions: 0,
  sqlMs: 0,
};

export function addUsage(a: Usage, delta: UsageDelta): Usage {
  return {
    llmCalls: a.llmCalls + (delta.llmCalls ?? 0),
    possiblyBilledCalls: a.possiblyBilledCalls + (delta.possiblyBilledCalls ?? 0),
    promptTokens: a.promptTokens + (delta.promptTokens ?? 0),
    completionTokens: a.completionTokens + (delta.completionTokens ?? 0),
    costUsd: a.costUsd + (delta.costUsd ?? 0),
    sqlExecutions: a.sqlExecutions + (delta.sqlExecutions ?? 0),
    sqlMs: a.sqlMs + (delta.sqlMs ?? 0),
  };
}

/** The first budget that is used up, or null. */
export function exhaustedBudget(usage: Usage, elapsedMs: number, budgets: Budgets): BudgetName | null {
  const spent: Record<BudgetName, number> = {
    llmCalls: usage.llmCalls,
    tokens: usage.promptTokens + usage.completionTokens,
    costUsd: usage.costUsd,
    wallMs: elapsedMs,
    sqlExecutions: usage.sqlExecutions,
    sqlMs: usage.sqlMs,
  };
  for (const name of Object.keys(spent) as BudgetName[]) {
    const limit = budgets[name];
    if (limit !== null && spent[name] >= limit) return name;
  }
  return null;
}

/** Model calls still allowed; null when nothing limits them. */
export function callsLeft(usage: Usage, budgets: Budgets): number | null {
  return budgets.llmCalls === null ? null : Math.max(0, budgets.llmCalls - usage.llmCalls);
}
