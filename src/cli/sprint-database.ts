/**
 * Builds the sample SQLite database from `sprint.sql`. A file that is there already and holds the same stays: a new one
 * would be another database (`config/database-identity.ts`).
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

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
