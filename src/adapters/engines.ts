/** The engines by their dialects, each loaded when the first database of its kind is used. */
import type { Dialect } from '../domain';
import { SqlEngineError } from '../domain/ports/sql-engine';
import type { EngineModule } from './kit/module';

const ENGINES: Readonly<Record<Dialect, () => Promise<{ readonly engine: EngineModule }>>> = {
  postgresql: () => import('./postgres'),
  sqlite: () => import('./sqlite'),
  snowflake: () => import('./snowflake'),
  duckdb: () => notYet('DuckDB'),
  mysql: () => notYet('MySQL'),
  bigquery: () => notYet('BigQuery'),
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

const notYet = (name: string) =>
  Promise.reject(new SqlEngineError('not-configured', `${name} databases cannot be opened yet`));

export async function engineFor(dialect: Dialect): Promise<EngineModule> {
  return (await ENGINES[dialect]()).engine;
}
