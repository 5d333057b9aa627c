/** Counts one claim of a stored answer again, as its check stands, without a model. The answer stays as it is. */
import type { Claim } from '../domain';
import { countedClaim, readCounts } from '../sql/claims';
import { CHECK_MS, withEngines } from './check-database';
import type { App } from './app';
import { GateError } from './errors';
import { sameDatabase } from './question-input';
import { rowsOf } from './rows';
import { inputOf, recordOf } from './services';

/** `number`: its place in the answer, from 1. */
export async function checkAgain(id: string, number: number, app: App, signal: AbortSignal): Promise<Claim> {
  const [input, record] = await Promise.all([inputOf(app.store, id), recordOf(app.store, id)]);
  const claim = record?.claims?.[number - 1];
  if (input === null || claim === undefined) throw new GateError(`${id} has no claim ${number}`);
  const database = sameDatabase(input, {}, app, 'its check');
  const result = await withEngines(app.config, database, async (engines) => {
    const { engine } = await engines.engine(database.name);
    const options = { timeoutMs: CHECK_MS, maxRows: 2, signal, tag: 'gate check again' };
    return rowsOf((await engine.run([claim.check], options)).results[0], `no result within ${CHECK_MS / 1000} s`);
  });
  const { operator, statement, rows, check, rivals, entry } = claim;
  const seen = rivals.map(({ reading, verdict }) => ({
    reading,
    // What the whole SQL gives under it is not run again here.
    sameAnswer: verdict === 'same-answer' || (entry !== undefined && verdict === 'open'),
  }));
  const now = countedClaim({ operator, statement, rows, check }, readCounts(result, 2), seen);
  // One that made no difference before is judged by its counts alone here.
  return { ...claim, ...now, ...(claim.state === 'immaterial' && { state: claim.state }) };
}
