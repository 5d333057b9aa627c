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

const notYet = (name: string) =>
  Promise.reject(new SqlEngineError('not-configured', `${name} databases cannot be opened yet`));

export async function engineFor(dialect: Dialect): Promise<EngineModule> {
  return (await ENGINES[dialect]()).engine;
}
