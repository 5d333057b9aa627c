/** Builds the sample SQLite database from `sprint.sql`. */
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

export function buildSprintDatabase(sqlFile: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const fresh = `${target}.${process.pid}`;
  rmSync(fresh, { force: true });
  const database = new Database(fresh);
  database.exec(readFileSync(sqlFile, 'utf8'));
  database.close();
  renameSync(fresh, target);
}
