/**
 * One folder for all that a run of the tests writes to the system's temporary folder, these processes and those that they
 * start: `TMPDIR` names it, and it is removed after the last test, whatever a test leaves behind.
 */
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The one of this run; made by whichever global set-up comes first. */
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
  runFolder();
}
