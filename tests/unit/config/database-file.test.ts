/** What kind of database a path is, told without harm to the process that asks. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseFile } from '../../../src/config/database-file';

test('few files stay open, however many databases were asked for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-databases-'));
  const before = readdirSync('/dev/fd').length;
  for (let n = 0; n < 500; n += 1) {
    const path = join(folder, `${n}.sqlite`);
    writeFileSync(path, 'SQLite format 3\0'.padEnd(100, '\0'));
    expect(databaseFile(path).dialect).toBe('sqlite');
    expect(databaseFile(path).dialect).toBe('sqlite');
  }
  expect(readdirSync('/dev/fd').length - before).toBeLessThan(150);
  rmSync(folder, { recursive: true });
});
