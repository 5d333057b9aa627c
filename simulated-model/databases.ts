/** The databases that the gold queries run on, by name or by a template with {database}; opened on first use. */
import type { Dialect } from '../src/domain';
import { GoldError, type OpenDatabase } from './gold';

/** `NAME=address`, or an address with `{database}` in it that serves every name. */
export type DatabaseSpecs = readonly string[];

export function openDatabases(specs: DatabaseSpecs) {
  const opened = new Map<string, Promise<OpenDatabase>>();
  return {
    open(name: string, dialect: Dialect): Promise<OpenDatabase> {
      const address = addressOf(specs, name, dialect);
      const database = opened.get(address) ?? openAt(address, dialect);
      opened.set(address, database);
      database.catch(() => opened.delete(address));
      return database;
    },
    async close(): Promise<void> {
      for (const one of await Promise.allSettled(opened.values()))
        if (one.status === 'fulfilled') await one.value.engine.close();
    },
  };
}

const POSTGRES = /^postgres(ql)?:\/\//i;
const SNOWFLAKE = /^snowflake:\/\//i;

function dialectOf(address: string): Dialect {
  if (POSTGRES.test(address)) return 'postgresql';
  return SNOWFLAKE.test(address) ? 'snowflake' : 'sqlite';
}

function addressOf(specs: DatabaseSpecs, name: string, dialect: Dialect): string {
  const addresses = specs.flatMap((spec) => {
    const named = /^([A-Za-z0-9_-]+)=(.+)$/.exec(spec);
    if (named !== null) return named[1] === name ? [named[2] ?? ''] : [];
    return spec.includes('{database}') ? [spec.replaceAll('{database}', name)] : [];
  });
  const address = addresses.find((each) => dialectOf(each) === dialect);
  if (address === undefined) throw new GoldError(`no ${dialect} database ${name}: add --db '${name}=…'`);
  return address;
}

async function openAt(address: string, dialect: Dialect): Promise<OpenDatabase> {
  if (dialect === 'sqlite') {
    const { createSqliteEngine, createSqliteInspector } = await import('../src/adapters/sqlite');
    return { engine: createSqliteEngine({ path: address }), inspector: createSqliteInspector() };
  }
  if (dialect === 'snowflake') {
    const { createSnowflakeEngine, createSnowflakeInspector } = await import('../src/adapters/snowflake');
    const engine = createSnowflakeEngine({ url: address, options: { allowPrivilegedRole: true } });
    return { engine, inspector: createSnowflakeInspector() };
  }
  const { createPostgresEngine, createPostgresInspector } = await import('../src/adapters/postgres');
  return { engine: createPostgresEngine({ url: address }), inspector: await createPostgresInspector() };
}
