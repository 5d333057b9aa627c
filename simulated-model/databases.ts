/** The databases that the gold queries run on, by name or by a template with {database}; opened on first use. */
import { engineFor } from '../src/adapters/engines';
import { dialectOfName } from '../src/config/database-file';
import { serverOfUrl } from '../src/config/places';
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

function dialectOf(address: string): Dialect {
  return serverOfUrl(address) ?? dialectOfName(address);
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
  const { open, inspector } = await engineFor(dialect);
  const snowflake = { login: null, accessUrl: null, allowPrivilegedRole: true, functions: [] };
  const bigquery = { key: null, allowPrivilegedRole: true, functions: [], usdPerTiB: 0 };
  return {
    engine: open({ address, role: null, schemas: [], cacheFolder: null, snowflake, bigquery }),
    inspector: await inspector([]),
  };
}
