/** Somebody works on a search again: a worker in the background goes on where it was, and pays nothing twice. */
import { isConclusive } from '../domain/answer';
import type { App, Asked } from './app';
import { serve, withOpened } from './ask';
import { GateError } from './errors';
import { sameDatabase } from './question-input';
import { findSearch } from './searches';
import { inputOf, recordOf } from './services';

/** With what it was asked with; its database has to be configured here. */
export async function goOn(wanted: string, app: App): Promise<Asked> {
  const id = await findSearch(app.store, wanted);
  const [input, record] = await Promise.all([inputOf(app.store, id), recordOf(app.store, id)]);
  if (input === null) throw new GateError(`the store no longer has the question of ${id}`);
  if (record !== null && isConclusive(record)) throw new GateError(`${id} has its answer`, 'conflict');
  const database = sameDatabase(input, {}, app, 'going on');
  return withOpened(app, database, {}, (opened) => serve({ app, ...opened, database, input, files: {} }, 'background'));
}
