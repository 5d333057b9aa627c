/**
 * What every run of the tests begins with. `TMPDIR` of these processes, and of those that they start, is one folder, removed
 * after the last test whatever a test leaves behind. The process that reads SQLite files is compiled once: tests start it
 * hundreds of times, and from its sources each start would cost twice the computing.
 */
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** Made by whichever global set-up comes first. */
export function runFolder(): string {
  const made = process.env['GATE_TEST_FOLDER'];
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), 'gate-tests-'));
  // PostgreSQL, which does not run as root, has its folders in it.
  chmodSync(folder, 0o755);
  process.env['GATE_TEST_FOLDER'] = folder;
  process.env['TMPDIR'] = folder;
  return folder;
}

export default function setUp(): void {
  const library = require.resolve('libsql');
  const outfile = join(runFolder(), 'sqlite-child.js');
  buildSync({
    ...{ entryPoints: [join(__dirname, '../../src/adapters/sqlite/child.ts')], outfile },
    ...{ bundle: true, platform: 'node', alias: { libsql: library }, external: [library], logLevel: 'warning' },
  });
  process.env['GATE_TEST_SQLITE_CHILD'] = outfile;
}
