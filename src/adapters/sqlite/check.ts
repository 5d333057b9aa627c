/** The attempts are made with `query_only`, and without it: then only the read-only opening of the file can refuse them. */
import { checkByChild } from '../kit/child-check';
import type { DatabaseCheck } from '../kit/database-check';
import { checkFile, sqlite, toEngineError } from './errors';

export async function checkSqlite(path: string): Promise<DatabaseCheck> {
  await checkFile(path, path);
  const how = { shown: path, version: 'sqlite_version()', refusal: /^SQLITE_(READONLY|AUTH|CANTOPEN)/ };
  return checkByChild(sqlite, path, how).catch((error: unknown) => {
    throw toEngineError(error, path);
  });
}
