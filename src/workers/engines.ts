/**
 * The databases of one process, each opened on first use.
 *
 * 1. Here names become addresses and passwords (design D7).
 * 2. Every engine is behind the guard: the parser's fence and the access list hold for whatever SQL arrives.
 */
import { createGuardedEngine } from '../adapters/guard';
import type { Config } from '../config';
import { asItIs, namedDatabase, type ResolvedDatabase } from '../config/databases';
import { Secret } from '../config/secrets';
import type { Dialect } from '../domain';
import { SqlEngineError, type SqlEngine, type SqlInspector } from '../domain/ports';
import type { StepDeps } from '../roles/shared/context';
import { observedEngine } from './telemetry/observed';
import { withDescriptionCache } from './description-cache';

type Opened = ReturnType<StepDeps['engine']>;

export interface Engines {
  readonly adHoc: ReadonlyMap<string, ResolvedDatabase>;
  readonly engine: StepDeps['engine'];
  readonly close: () => Promise<void>;
}

export function openEngines(config: Config, databases: readonly ResolvedDatabase[] = []): Engines {
  const adHoc = new Map(databases.filter((one) => one.adHoc).map((one) => [one.name, one]));
  const resolved = new Map(adHoc);
  const engines = new Map<string, { readonly version: string; readonly open: Opened }>();
  const replaced = new Set<Opened>();
  const engineOf = (database: ResolvedDatabase): Opened => {
    const { name, version } = database;
    const before = engines.get(name);
    if (before?.version === version) return before.open;
    if (before !== undefined) {
      // Statements that run read the file that they began with; whoever comes next reads the one that is there now.
      replaced.add(before.open);
      setTimeout(() => replaced.delete(before.open) && void closeAll([before.open]), RETIRED_MS).unref();
    }
    const open = openEngine(database).then(({ engine, inspector }) => {
      // One that is not configured is named by its path or URL, which is nobody's business.
      const observed = observedEngine(engine, database.adHoc ? 'ad-hoc' : name);
      return { engine: withDescriptionCache(observed), inspector };
    });
    engines.set(name, { version, open });
    // A failed opening is tried again by the next step.
    open.catch(() => engines.get(name)?.open === open && engines.delete(name));
    return open;
  };
  return {
    adHoc,
    async engine(name, wanted) {
      const database = asItIs(resolved.get(name) ?? namedDatabase(config, name));
      resolved.set(name, database);
      // A search goes on with the database that it was asked of, or not at all.
      if (wanted !== undefined && database.identity !== wanted)
        throw new SqlEngineError(
          'not-configured',
          `'${name}' is another database here (${database.addressLabel}) than the one that was asked: check its address, or its "id" in the configuration`,
        );
      return engineOf(database);
    },
    /** The next use opens them again. */
    async close() {
      await closeAll([...replaced, ...[...engines.values()].map(({ open }) => open)]);
      replaced.clear();
      engines.clear();
    },
  };
}

/** Longer than any statement. */
const RETIRED_MS = 30 * 60_000;

async function closeAll(engines: readonly Opened[]): Promise<void> {
  const opened = await Promise.allSettled(engines);
  for (const one of opened) if (one.status === 'fulfilled') await one.value.engine.close();
}

/** `functions`: those that a Snowflake database may call besides. */
export async function inspectorOf(dialect: Dialect, functions: readonly string[] = []): Promise<SqlInspector> {
  switch (dialect) {
    case 'sqlite':
      return (await import('../adapters/sqlite')).createSqliteInspector();
    case 'postgresql':
      return (await import('../adapters/postgres')).createPostgresInspector();
    case 'snowflake':
      return (await import('../adapters/snowflake')).createSnowflakeInspector({ functions });
  }
}

async function openEngine(database: ResolvedDatabase): Opened {
  const { access, dialect, schemas, snowflake } = database;
  const inspector = await inspectorOf(dialect, snowflake.functions);
  const engine = await unguarded(database);
  return {
    engine: createGuardedEngine(engine, inspector, access, dialect === 'postgresql' ? schemas : undefined),
    inspector,
  };
}

async function unguarded(database: ResolvedDatabase): Promise<SqlEngine> {
  const { address, role, dialect, schemas, snowflake, maxConnections, maxPlanCost, maxScanBytes } = database;
  const poolSize = maxConnections ?? undefined;
  if (address.kind === 'path')
    return (await import('../adapters/sqlite')).createSqliteEngine({ path: address.path, poolSize });
  const url = address.url.reveal();
  if (dialect === 'snowflake') {
    const { accessUrl, allowPrivilegedRole } = snowflake;
    const login = snowflake.login instanceof Secret ? snowflake.login.reveal() : null;
    const options = {
      login,
      role,
      schemas,
      accessUrl,
      allowPrivilegedRole,
      poolSize,
      maxScanBytes: maxScanBytes ?? undefined,
    };
    return (await import('../adapters/snowflake')).createSnowflakeEngine({ url, options });
  }
  const options = { role: role ?? undefined, poolSize, maxPlanCost: maxPlanCost ?? undefined, schemas };
  return (await import('../adapters/postgres')).createPostgresEngine({ url, options });
}
