/** The sample question with its files and its database. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'libsql';
import { packageFolder } from '../workers/package-folder';
import { GateError } from './errors';

export const DEMO_QUESTION =
  'In how many sprint events did the winner beat the runner-up by more than five seconds (a dominant victory)?';

export function demoFiles(): { readonly sql: string; readonly recording: string } {
  const folder = join(packageFolder() ?? '.', 'examples', 'sprint');
  const files = { sql: join(folder, 'sprint.sql'), recording: join(folder, 'recording.jsonl') };
  if (!existsSync(files.recording))
    throw new GateError('the sample files (examples/sprint) are missing: install gate again');
  return files;
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
