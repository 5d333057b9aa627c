/** Says once per endpoint and database which endpoint will receive rows; remembered in the state folder. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Folders } from '../config/folders';
import { sha256 } from '../sha256';

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
  const told = join(folders.state, 'told');
  const mark = join(told, sha256(JSON.stringify([endpoint, database, identity])));
  if (existsSync(mark)) return;
  const ceiling = costCeilingUsd === null ? 'no cost limit' : `at most $${costCeilingUsd} per question (--max-cost)`;
  note(
    `Rows and schema of '${database}' will be sent to ${endpoint}; access lists in the configuration restrict that; ${ceiling}.`,
  );
  if (unpriced.length > 0)
    note(
      `No price is known for ${unpriced.join(', ')}: cost shows as $0 and the cost limit cannot stop it; set "prices".`,
    );
  mkdirSync(told, { recursive: true, mode: 0o700 });
  writeFileSync(mark, '');
}
