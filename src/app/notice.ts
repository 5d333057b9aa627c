/** Says once per endpoint and database which endpoint will receive rows; remembered in the state folder. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Folders } from '../config/folders';

export interface Receivers {
  readonly endpoint: string;
  readonly database: string;
  /** Which database it is: another one under the same name is said again. */
  readonly identity: string;
  /** Models without a price: their cost shows as 0 and no cost ceiling can stop them. */
  readonly unpriced: readonly string[];
  readonly costCeilingUsd: number | null;
}

export function tellWhoReceivesRows(folders: Folders, receivers: Receivers, note: (line: string) => void): void {
  const { endpoint, database, identity, unpriced, costCeilingUsd } = receivers;
  tellOnce(folders, `${endpoint} ${database} ${identity}`, () => {
    const ceiling = costCeilingUsd === null ? 'no cost limit' : `at most $${costCeilingUsd} per question (--max-cost)`;
    note(
      `Rows and schema of '${database}' will be sent to ${endpoint}; access lists in the configuration restrict that; ${ceiling}.`,
    );
    if (unpriced.length === 0) return;
    note(
      `No price is known for ${unpriced.join(', ')}: cost shows as $0 and the cost limit cannot stop it; set "prices".`,
    );
  });
}

function tellOnce(folders: Folders, key: string, tell: () => void): void {
  const file = join(folders.state, 'told.json');
  const told = read(file);
  if (told.includes(key)) return;
  tell();
  mkdirSync(folders.state, { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify([...told, key]));
  renameSync(fresh, file);
}

function read(file: string): string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  } catch (error) {
    // A damaged memory only means that it is said again.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return [];
    throw error;
  }
}
