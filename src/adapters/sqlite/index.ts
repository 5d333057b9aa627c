/** A SQLite file as a `SqlEngine`: queries run in child processes (`kit/child-session.ts`), so that one can be ended by killing it. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { checkByChild } from '../kit/child-check';
import { ChildSession } from '../kit/child-session';
import type { DatabaseCheck } from '../kit/database-check';
import { createEngine } from '../kit/engine';
import { revisionOfFile } from '../kit/file-check';
import { describedBy } from '../kit/file-schema';
import { describeSqlite } from './describe';
import { checkFile, sqlite, toEngineError } from './errors';
import type { EngineModule } from '../kit/module';
import { createSqliteInspector } from './inspector';

export { createSqliteInspector };

export const engine: EngineModule = {
  open: ({ address: path, poolSize }) => createSqliteEngine({ path, poolSize }),
  check: ({ address }) => checkSqlite(address),
  inspector: createSqliteInspector,
};

export interface SqliteEngineSettings {
  readonly path: string;
  /** Child processes kept at most; default 2. */
  readonly poolSize?: number;
}

export function createSqliteEngine({ path: shown, poolSize = 2 }: SqliteEngineSettings): SqlEngine {
  const path = resolve(shown);
  const engine = createEngine<ChildSession>({
    dialect: 'sqlite',
    poolSize,
    async open() {
      // A wrong path then gives one clear message.
      await checkFile(shown, path);
      return new ChildSession(sqlite, () => Promise.resolve(path), shown);
    },
    toError: (error) => toEngineError(error, shown),
  });
  return {
    ...engine,
    async describe({ signal }) {
      await checkFile(shown, path); // an open file outlives its name: check that it still exists
      const { size } = await stat(path);
      return describedBy(engine.run, { shown, signal }, (read) => describeSqlite(read, size));
    },
    async revision() {
      await checkFile(shown, path);
      return revisionOfFile(path, '-wal');
    },
  };
}

/** The attempts are made with `query_only`, and without it: then only the read-only opening of the file can refuse them. */
export async function checkSqlite(path: string): Promise<DatabaseCheck> {
  await checkFile(path, path);
  const how = { shown: path, version: 'sqlite_version()', refusal: /^SQLITE_(READONLY|AUTH|CANTOPEN)/ };
  return checkByChild(sqlite, path, how).catch((error: unknown) => {
    throw toEngineError(error, path);
  });
}
