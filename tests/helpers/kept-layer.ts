/** A database of forty orders with a kept layer, as the tests of `gate layer` need it. */
import Database from 'libsql';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config';
import { resolveDatabase } from '../../src/config/databases';
import { openServices } from '../../src/app/services';
import type { LayerEntry, LayerEvent } from '../../src/domain';
import { appendToLayer } from '../../src/record/layer-store';
import { identityKey } from '../../src/record/search-id';
import { entryIdOf } from '../../src/roles/layer/entries';
import { testProcess } from '../unit/cli/test-io';

export const AT = '2026-01-01T00:00:00.000Z';

/** With the id of its check. */
export function entryOf(more: Partial<LayerEntry>): LayerEntry {
  const check = more.check ?? 'SELECT count(*), sum(total = 100 * paid), sum(total = paid) FROM orders';
  return {
    ...{ entryId: entryIdOf(check), statement: 'orders.total is in cents.' },
    ...{ rows: 'paid orders', scope: null, check, matching: 40, examined: 40 },
    rivals: [{ reading: 'whole units', matching: 0, examined: 40, refuted: true }],
    ...{ tables: ['orders'], columns: ['orders.total', 'orders.paid'], operator: null, restsOn: [] },
    ...{ from: { searchId: 'q-1', question: 'What was sold?' }, provedAt: AT, schemaFingerprint: 'f' },
    ...more,
  };
}

export async function keptShop(
  entries: readonly LayerEntry[],
  access: object = {},
  events: readonly LayerEvent[] = [],
) {
  const at = testProcess();
  const file = join(at.home, 'shop.sqlite');
  const write = (sql: string): void => {
    const open = new Database(file);
    open.exec(sql);
    open.close();
  };
  write('CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL, paid REAL)');
  const rows = Array.from({ length: 40 }, (_, index) => `(${index + 1}, ${100 * (index + 1)}, ${index + 1})`);
  write(`INSERT INTO orders VALUES ${rows.join(', ')}`);
  writeFileSync(join(at.home, 'gate.config.json'), JSON.stringify({ databases: { shop: { path: file, ...access } } }));
  const { store } = openServices(at.io);
  const database = identityKey(resolveDatabase(loadConfig(at.io), 'shop', at.home).identity);
  const proved = entries.map((entry): LayerEvent => ({ kind: 'proved', at: AT, entry }));
  await appendToLayer({ store, database }, [...proved, ...events]);
  return {
    ...{ ...at, file, write },
    json: async (...args: string[]) => JSON.parse((await at.gate('layer', ...args, '--json')).out) as unknown,
  };
}
