/**
 * The databases of one process, each opened on first use.
 *
 * 1. Here names become addresses and passwords (design D7).
 * 2. Every engine is behind the guard: the parser's fence and the access list hold for whatever SQL arrives.
 */
import { engineFor } from '../adapters/engines';
import { createGuardedEngine } from '../adapters/kit/guard';
import type { Opening } from '../adapters/kit/module';
import type { Config } from '../config';
import { asItIs, namedDatabase, type ResolvedDatabase } from '../config/databases';
import { Secret } from '../config/secrets';
import type { Dialect } from '../domain';
import { SqlEngineError, type SqlInspector } from '../domain/ports';
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
    const open = openEngine(database, cacheOf(config)).then(({ engine, inspector }) => {
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

export async function inspectorOf(dialect: Dialect): Promise<SqlInspector> {
  return (await engineFor(dialect)).inspector([]);
}

async function openEngine(database: ResolvedDatabase, cacheFolder: string | null): Opened {
  const kind = await engineFor(database.dialect);
  const inspector = await kind.inspector(functionsOf(database));
  const opening = openingOf(database, cacheFolder);
  return {
    engine: createGuardedEngine(kind.open(opening), inspector, database.access, kind.searchPath?.(opening)),
    inspector,
  };
}

/** Those of the database's own that statements may call. */
const functionsOf = ({ dialect, snowflake, bigquery }: ResolvedDatabase): readonly string[] =>
  (dialect === 'bigquery' ? bigquery : snowflake).functions;

/** Rows of files are not left in the clear beside an encrypted store. */
export const cacheOf = ({ encryption, folders }: Config): string | null => (encryption === null ? folders.cache : null);

/** With its secrets in the clear. */
export function openingOf(database: ResolvedDatabase, cacheFolder: string | null): Opening {
  const { address, role, schemas, snowflake, bigquery, maxConnections, maxPlanCost, maxScanBytes } = database;
  const login = snowflake.login instanceof Secret ? snowflake.login.reveal() : null;
  return {
    address: address.kind === 'path' ? address.path : address.url.reveal(),
    role,
    schemas,
    poolSize: maxConnections ?? undefined,
    maxPlanCost: maxPlanCost ?? undefined,
    maxScanBytes: maxScanBytes ?? undefined,
    cacheFolder,
    snowflake: { ...snowflake, login },
    bigquery: { ...bigquery, key: bigquery.key instanceof Secret ? bigquery.key.reveal() : null },
  };
}
