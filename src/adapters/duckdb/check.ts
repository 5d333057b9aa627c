/** The attempts are on the very connection that statements get. Of data files, the file is checked that was made of them. */
import { checkByChild } from '../kit/child-check';
import type { DatabaseCheck } from '../kit/database-check';
import { VERSION } from './describe';
import { duckdb, toEngineError } from './errors';
import { openSource } from './files/source';

export async function checkDuckdb(shown: string, cacheFolder: string | null = null): Promise<DatabaseCheck> {
  const source = openSource(shown, cacheFolder);
  try {
    const path = await source.path(AbortSignal.timeout(600_000));
    const refusal = /^(Permission|Invalid Input|Catalog|IO)$/;
    return await checkByChild(duckdb, path, { shown, version: VERSION, refusal });
  } catch (error) {
    throw toEngineError(error, shown);
  } finally {
    await source.close();
  }
}
