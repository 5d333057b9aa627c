/**
 * A DuckDB file, or data files (CSV, Parquet, JSON; one, or a folder of them), as a `SqlEngine` (`kit/file-engine.ts`). Data files
 * are imported into a DuckDB file first (`files/`), again when they have changed.
 */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import type { DatabaseCheck } from '../kit/database-check';
import { checkFileEngine, createFileEngine } from '../kit/file-engine';
import type { EngineModule } from '../kit/module';
import { describeDuckdb } from './describe';
import { duckdb } from './errors';
import { openSource } from './files/source';
import { createDuckdbInspector } from './inspector';

export { createDuckdbInspector };

export const engine: EngineModule = {
  open: ({ address: path, poolSize, cacheFolder }) => createDuckdbEngine({ path, poolSize, cacheFolder }),
  check: ({ address, cacheFolder }) => checkDuckdb(address, cacheFolder),
  inspector: createDuckdbInspector,
};

export interface DuckdbEngineSettings {
  readonly path: string;
  readonly poolSize?: number;
  /** Where what was made of data files is kept; null: in a temporary folder. */
  readonly cacheFolder?: string | null;
}

export function createDuckdbEngine({ path: shown, poolSize, cacheFolder = null }: DuckdbEngineSettings): SqlEngine {
  const source = openSource(shown, cacheFolder);
  return createFileEngine(duckdb, { shown, source, poolSize }, async (read, _, signal) => {
    const files = await source.files(signal);
    const description = await describeDuckdb(read);
    return files === null ? description : { ...description, files };
  });
}

/** Of data files, the file is checked that was made of them. */
export function checkDuckdb(shown: string, cacheFolder: string | null = null): Promise<DatabaseCheck> {
  return checkFileEngine(duckdb, { shown, source: openSource(shown, cacheFolder) });
}
