/** The engines by their dialects, each loaded when the first database of its kind is used. */
import type { Dialect } from '../domain';
import type { EngineModule } from './kit/module';

const ENGINES: Readonly<Record<Dialect, () => Promise<{ readonly engine: EngineModule }>>> = {
  postgresql: () => import('./postgres'),
  sqlite: () => import('./sqlite'),
  snowflake: () => import('./snowflake'),
  duckdb: () => import('./duckdb'),
  mysql: () => import('./mysql'),
  bigquery: () => import('./bigquery'),
};

/** Packages that are installed by whoever needs them; the other drivers come with this one. */
export const DRIVERS: Readonly<Partial<Record<Dialect, string>>> = {
  duckdb: '@duckdb/node-api',
  mysql: 'mysql2',
  snowflake: 'snowflake-sdk',
  bigquery: '@google-cloud/bigquery',
};

export function hasDriver(dialect: Dialect): boolean {
  const driver = DRIVERS[dialect];
  if (driver === undefined) return true;
  try {
    require.resolve(driver);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return false;
    throw error;
  }
}

export async function engineFor(dialect: Dialect): Promise<EngineModule> {
  return (await ENGINES[dialect]()).engine;
}
