/** A SQLite file as a `SqlEngine` (`kit/file-engine.ts`). */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SqlEngine } from '../../domain/ports/sql-engine';
import type { DatabaseCheck } from '../kit/database-check';
import { checkDatabaseFile } from '../kit/file-check';
import { checkFileEngine, createFileEngine, type FileEngineSettings } from '../kit/file-engine';
import type { EngineModule } from '../kit/module';
import { describeSqlite } from './describe';
import { sqlite } from './errors';
import { createSqliteInspector } from './inspector';

export { createSqliteInspector };

export const engine: EngineModule = {
  open: ({ address: path, poolSize }) => createSqliteEngine({ path, poolSize }),
  check: ({ address }) => checkSqlite(address),
  inspector: createSqliteInspector,
};

export interface SqliteEngineSettings {
  readonly path: string;
  readonly poolSize?: number;
}

export function createSqliteEngine({ path, poolSize }: SqliteEngineSettings): SqlEngine {
  const settings = { ...fileAt(path), poolSize };
  return createFileEngine(sqlite, settings, async (read, file) => describeSqlite(read, (await stat(file)).size));
}

/** The attempts are made with `query_only`, and without it: then only the read-only opening of the file can refuse them. */
export function checkSqlite(path: string): Promise<DatabaseCheck> {
  return checkFileEngine(sqlite, fileAt(path));
}

function fileAt(shown: string): FileEngineSettings {
  const path = resolve(shown);
  const source = {
    path: () => checkDatabaseFile(sqlite, shown, path).then(() => path),
    pathAgain: () => Promise.resolve(path),
    close: () => Promise.resolve(),
  };
  return { shown, source };
}
