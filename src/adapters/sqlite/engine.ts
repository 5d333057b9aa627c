/** A SQLite file as a `SqlEngine`: queries run in child processes (`session.ts`), so that one can be ended by killing it. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SqlEngineError, type SqlEngine } from '../../domain/ports/sql-engine';
import { createEngine } from '../kit/engine';
import { describeSqlite, revisionOfSqlite } from './describe';
import { checkFile, toEngineError } from './errors';
import { SqliteSession } from './session';

export interface SqliteEngineSettings {
  readonly path: string;
  /** Child processes kept at most; default 2. */
  readonly poolSize?: number;
}

const DESCRIBE_TIMEOUT_MS = 30_000;

export function createSqliteEngine({ path: shown, poolSize = 2 }: SqliteEngineSettings): SqlEngine {
  const path = resolve(shown);
  const engine = createEngine<SqliteSession>({
    dialect: 'sqlite',
    poolSize,
    async open() {
      // A wrong path then gives one clear message.
      await checkFile(shown, path);
      return new SqliteSession(path, shown);
    },
    toError: (error) => toEngineError(error, shown),
  });
  return {
    ...engine,
    async describe({ signal }) {
      await checkFile(shown, path); // an open file outlives its name: check that it still exists
      const { size } = await stat(path);
      const asked = { signal, tag: 'describe', timeoutMs: DESCRIBE_TIMEOUT_MS, maxRows: 100_000, again: true };
      return describeSqlite(async (texts) => {
        const { results } = await engine.run(texts, asked);
        return results.map((result) => {
          if (result.kind === 'timeout') {
            const line = `reading the schema of ${shown} took more than ${DESCRIBE_TIMEOUT_MS / 1000} s`;
            throw new SqlEngineError('connection', line);
          }
          return result.kind === 'rows' ? result.rows : null;
        });
      }, size);
    },
    async revision() {
      await checkFile(shown, path);
      return revisionOfSqlite(path);
    },
  };
}
