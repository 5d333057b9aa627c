/** `models.limits` and `temporal.versioning`: how much of a model may be used, and which build a worker says it is. */
import { z } from 'zod';

const amount = z.number().int().positive().optional();

export const LimitsEntry = z
  .strictObject({
    requestsPerMinute: amount,
    tokensPerMinute: amount,
    /** Calls at the same time. */
    concurrency: amount,
    /** Processes that share these limits: each keeps to its part of them. */
    workers: amount,
  })
  .refine(
    (entry) => [entry.requestsPerMinute, entry.tokensPerMinute, entry.concurrency].some((limit) => limit !== undefined),
    'set at least one of requestsPerMinute, tokensPerMinute, concurrency',
  );

/** By model name; `*` stands for every model without an entry of its own, each for itself. */
export const LimitsEntries = z.record(z.string().min(1), LimitsEntry);

/** null: no limit. */
export interface ModelLimits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
  /** null: not said. */
  readonly workers: number | null;
}

export type ModelLimitsTable = Readonly<Record<string, ModelLimits>>;

export function limitsTable(entries: z.infer<typeof LimitsEntries> = {}): ModelLimitsTable {
  const limits = Object.entries(entries).map(([model, entry]) => [
    model,
    {
      requestsPerMinute: entry.requestsPerMinute ?? null,
      tokensPerMinute: entry.tokensPerMinute ?? null,
      concurrency: entry.concurrency ?? null,
      workers: entry.workers ?? null,
    },
  ]);
  return Object.fromEntries(limits) as ModelLimitsTable;
}

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

/** Names as Temporal takes them: `deployment.build` is one word there. */
const versionPart = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,62}$/, 'use letters, digits, _ and - (at most 63)');
/** A build may be a version number. */
const buildPart = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,62}$/, 'use letters, digits, _, - and . (at most 63)');

export const VersioningEntry = z.strictObject({ deployment: versionPart.optional(), buildId: buildPart.optional() });

export interface VersioningConfig {
  readonly deployment: string;
  /** null: the package's version and a hash of the workflow code. */
  readonly buildId: string | null;
}

const DEFAULT_DEPLOYMENT = 'gate';

/** The deployment whose versions are looked at also where no worker says which version it is. */
export function deploymentOf(versioning: VersioningConfig | null): string {
  return versioning?.deployment ?? DEFAULT_DEPLOYMENT;
}

/** The environment names what the file leaves open; either one switches versioning on. null: off. */
export function versioningOf(
  entry: z.infer<typeof VersioningEntry> | undefined,
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): VersioningConfig | null {
  const deployment = env['GATE_DEPLOYMENT'] || undefined;
  const buildId = env['GATE_BUILD_ID'] || undefined;
  if (deployment !== undefined && !versionPart.safeParse(deployment).success)
    problems.push(`GATE_DEPLOYMENT: '${deployment}' is not allowed; use letters, digits, _ and - (at most 63)`);
  if (buildId !== undefined && !buildPart.safeParse(buildId).success)
    problems.push(`GATE_BUILD_ID: '${buildId}' is not allowed; use letters, digits, _, - and . (at most 63)`);
  if (entry === undefined && deployment === undefined && buildId === undefined) return null;
  return {
    deployment: deployment ?? entry?.deployment ?? DEFAULT_DEPLOYMENT,
    buildId: buildId ?? entry?.buildId ?? null,
  };
}
