/**
 * The databases of one process, each opened on first use.
 *
 * 1. Here names become addresses and passwords (design D7).
 * 2. Every engine is behind the guard: the parser's fence and the access list hold for whatever SQL arrives.
 */
import { createGuardedEngine } from '../adapters/guard';
import type { Config } from '../config';
import { asItIs, namedDatabase, type ResolvedDatabase } from '../config/databases';
import type { SnowflakeLogin } from '../config/database';
import type { Dialect } from '../domain';
import { SqlEngineError, type SqlInspector } from '../domain/ports';
import type { StepDeps } from '../roles/shared/context';
import { observedEngine } from './telemetry/observed';
import { withDescriptionCache } from './description-cache';

export interface Engines {
  readonly adHoc: ReadonlyMap<string, ResolvedDatabase>;
  readonly engine: StepDeps['engine'];
  readonly close: () => Promise<void>;
}

export function openEngines(config: Config, databases: readonly ResolvedDatabase[] = []): Engines {
  const adHoc = new Map(databases.filter((one) => one.adHoc).map((one) => [one.name, one]));
  const resolved = new Map(adHoc);
  const engines = new Map<string, { readonly version: string; readonly open: ReturnType<StepDeps['engine']> }>();
  const replaced = new Set<ReturnType<StepDeps['engine']>>();
  /** Statements that run read the file that they began with; whoever comes next reads the one that is there now. */
  const retire = (open: ReturnType<StepDeps['engine']>): void => {
    replaced.add(open);
    setTimeout(() => {
      if (replaced.delete(open)) void closeAll([open]);
    }, RETIRED_MS).unref();
  };
  const engineOf = (database: ResolvedDatabase): ReturnType<StepDeps['engine']> => {
    const { name, version } = database;
    const before = engines.get(name);
    if (before?.version === version) return before.open;
    if (before !== undefined) retire(before.open);
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
    async engine(name, identity) {
      const database = asItIs(resolved.get(name) ?? namedDatabase(config, name));
      resolved.set(name, database);
      if (identity !== undefined) checkIdentity(database, identity);
      return engineOf(database);
    },
    async close() {
      await closeAll([...replaced, ...[...engines.values()].map(({ open }) => open)]);
      replaced.clear();
      // The next use opens them again.
      engines.clear();
    },
  };
}

/** Longer than any statement. */
const RETIRED_MS = 30 * 60_000;

async function closeAll(engines: readonly ReturnType<StepDeps['engine']>[]): Promise<void> {
  const opened = await Promise.allSettled(engines);
  for (const one of opened) if (one.status === 'fulfilled') await one.value.engine.close();
}

/** A search goes on with the database that it was asked of, or not at all. */
function checkIdentity(database: ResolvedDatabase, wanted: string): void {
  const { name, identity, addressLabel } = database;
  if (identity === wanted) return;
  throw new SqlEngineError(
    'not-configured',
    `'${name}' is another database here (${addressLabel}) than the one that was asked: check its address, or its "id" in the configuration`,
  );
}

export async function inspectorOf(dialect: Dialect): Promise<SqlInspector> {
  switch (dialect) {
    case 'sqlite':
      return (await import('../adapters/sqlite')).createSqliteInspector();
    case 'postgresql':
      return (await import('../adapters/postgres')).createPostgresInspector();
    case 'snowflake':
      return (await import('../adapters/snowflake')).createSnowflakeInspector({ functions: [] });
  }
}

async function openEngine(database: ResolvedDatabase): ReturnType<StepDeps['engine']> {
  const { access, address, role, dialect, limits, schemas, snowflake } = database;
  if (dialect === 'sqlite') {
    const { createSqliteEngine, createSqliteInspector } = await import('../adapters/sqlite');
    if (address.kind !== 'path') throw new TypeError('an SQLite database has a path');
    const inspector = createSqliteInspector();
    const poolSize = limits.maxConnections ?? undefined;
    const opened = createSqliteEngine({ path: address.path, poolSize });
    return { engine: createGuardedEngine(opened, inspector, access), inspector };
  }
  if (dialect === 'snowflake') {
    const { createSnowflakeEngine, createSnowflakeInspector } = await import('../adapters/snowflake');
    if (address.kind !== 'url') throw new TypeError('a Snowflake database has a URL');
    const { accessUrl, allowPrivilegedRole, functions, login } = snowflake;
    const inspector = createSnowflakeInspector({ functions });
    const opened = createSnowflakeEngine({
      url: address.url.reveal(),
      options: {
        login: revealedLogin(login),
        role,
        schemas,
        accessUrl,
        allowPrivilegedRole,
        poolSize: limits.maxConnections ?? undefined,
        maxScanBytes: limits.maxScanBytes ?? undefined,
      },
    });
    return { engine: createGuardedEngine(opened, inspector, access), inspector };
  }
  const { createPostgresEngine, createPostgresInspector } = await import('../adapters/postgres');
  if (address.kind !== 'url') throw new TypeError('a PostgreSQL database has a URL');
  const inspector = await createPostgresInspector();
  const { maxConnections, maxPlanCost } = limits;
  const opened = createPostgresEngine({
    url: address.url.reveal(),
    options: {
      role: role ?? undefined,
      poolSize: maxConnections ?? undefined,
      maxPlanCost: maxPlanCost ?? undefined,
      schemas,
    },
  });
  return { engine: createGuardedEngine(opened, inspector, access, schemas), inspector };
}

function revealedLogin(login: ResolvedDatabase['snowflake']['login']): SnowflakeLogin<string> | null {
  switch (login.kind) {
    case 'key':
      return { ...login, privateKey: login.privateKey.reveal(), passphrase: login.passphrase?.reveal() ?? null };
    case 'token':
      return { ...login, token: login.token.reveal() };
    case 'password':
      return { ...login, password: login.password.reveal() };
    case 'url':
    case 'unset':
      return null;
    default:
      return login satisfies never;
  }
}
