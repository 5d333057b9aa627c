/**
 * A DuckDB file, or data files (CSV, Parquet, JSON; one, or a folder of them), as a `SqlEngine`. Data files are imported into a
 * DuckDB file first (`files/`), again when they have changed. Queries run in child processes (`kit/child-session.ts`).
 */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { ChildSession } from '../kit/child-session';
import { createEngine } from '../kit/engine';
import { revisionOfFile } from '../kit/file-check';
import { describedBy } from '../kit/file-schema';
import { describeDuckdb } from './describe';
import { duckdb, toEngineError } from './errors';
import { openSource } from './files/source';

export interface DuckdbEngineSettings {
  readonly path: string;
  /** Child processes kept at most; default 2. */
  readonly poolSize?: number;
  /** Where what was made of data files is kept; null: in a temporary folder. */
  readonly cacheFolder?: string | null;
}

/** For an import in front of a statement. */
const IMPORT_TIMEOUT_MS = 600_000;

export function createDuckdbEngine(settings: DuckdbEngineSettings): SqlEngine {
  const { path: shown, poolSize = 2, cacheFolder = null } = settings;
  const source = openSource(shown, cacheFolder);
  const engine = createEngine<ChildSession>({
    dialect: 'duckdb',
    poolSize,
    async open(signal) {
      await source.path(signal);
      return new ChildSession(duckdb, () => source.pathAgain(AbortSignal.timeout(IMPORT_TIMEOUT_MS)), shown);
    },
    toError: (error) => toEngineError(error, shown),
  });
  return {
    ...engine,
    async describe({ signal }) {
      const files = await source.files(signal);
      const description = await describedBy(engine.run, { shown, signal }, describeDuckdb);
      return files === null ? description : { ...description, files };
    },
    revision: async ({ signal }) => revisionOfFile(await source.path(signal), '.wal'),
    async close() {
      await engine.close();
      await source.close();
    },
  };
}
