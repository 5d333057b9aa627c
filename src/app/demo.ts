/** The sample question with its files and its database. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'libsql';
import { GateError } from './errors';

export const DEMO_QUESTION =
  'In how many sprint events did the winner beat the runner-up by more than five seconds (a dominant victory)?';

/** They are beside the compiled sources (`dist/src/app`) and beside the sources (`src/app`). */
export function demoFiles(): { readonly sql: string; readonly recording: string } {
  const folders = ['../../examples/sprint', '../../../examples/sprint'].map((path) => resolve(__dirname, path));
  const found = folders.find((folder) => existsSync(join(folder, 'recording.jsonl')));
  if (found === undefined) throw new GateError('the sample files (examples/sprint) are missing: install gate again');
  return { sql: join(found, 'sprint.sql'), recording: join(found, 'recording.jsonl') };
}

/** Builds the SQLite database from `sprint.sql`. A file that holds the same already stays as it is. */

export function buildSprintDatabase(sqlFile: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const fresh = `${target}.${process.pid}`;
  rmSync(fresh, { force: true });
  const database = new Database(fresh);
  database.exec(readFileSync(sqlFile, 'utf8'));
  database.close();
  if (existsSync(target) && readFileSync(fresh).equals(readFileSync(target))) rmSync(fresh);
  else renameSync(fresh, target);
}
