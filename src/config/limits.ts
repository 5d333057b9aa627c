/** `models.limits`: how much of a model may be used, by this process and in all. */
import type { ModelLimits } from './schema';

export type { ModelLimits } from './schema';
export type ModelLimitsTable = Readonly<Record<string, ModelLimits>>;

/** null: none are configured for this model. */
export function limitsOf(table: ModelLimitsTable, model: string): ModelLimits | null {
  return (Object.hasOwn(table, model) ? table[model] : table['*']) ?? null;
}

/** Names that the configuration knows and that have limits. */
export function limitedModels(models: {
  readonly default: string | null;
  readonly roles: Readonly<Record<string, string>>;
  readonly limits: ModelLimitsTable;
}): string[] {
  const named = [...(models.default === null ? [] : [models.default]), ...Object.values(models.roles)];
  const all = new Set([...named, ...Object.keys(models.limits).filter((name) => name !== '*')]);
  return [...all].filter((model) => limitsOf(models.limits, model) !== null);
}

/** The share of a model's limits that one process may use; never less than one. */
export function shareOf(limits: ModelLimits): Omit<ModelLimits, 'workers'> {
  const part = (limit: number | null): number | null =>
    limit === null ? null : Math.max(1, Math.floor(limit / (limits.workers ?? 1)));
  return {
    requestsPerMinute: part(limits.requestsPerMinute),
    tokensPerMinute: part(limits.tokensPerMinute),
    concurrency: part(limits.concurrency),
  };
}
