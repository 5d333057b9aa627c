/**
 * What every run of the tests begins with. `TMPDIR` of these processes, and of those that they start, is one folder, removed
 * after the last test whatever a test leaves behind. The process that reads SQLite files is compiled once: tests start it
 * hundreds of times, and from its sources each start would cost twice the computing.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import { withFileLock } from '../../src/file-lock';
import { isAlive } from '../../src/workers/process-identity';

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
  const drivers = ['libsql', '@duckdb/node-api'];
  const alias = Object.fromEntries(drivers.map((name) => [name, require.resolve(name)]));
  const outfile = join(runFolder(), 'child.js');
  buildSync({
    ...{ entryPoints: [join(__dirname, '../../src/adapters/kit/child.ts')], outfile },
    ...{ bundle: true, platform: 'node', alias, external: Object.values(alias), logLevel: 'warning' },
  });
  process.env['GATE_TEST_CHILD'] = outfile;
}

/**
 * Makes what all files of a run share: the first that asks makes it, the others wait for it, and the next one tries where that
 * failed. The process `pid` is ended after the run. The value is JSON, since workers of Jest are processes.
 */
export async function onceInRun<T extends object>(name: string, make: () => Promise<T>): Promise<T> {
  const file = join(runFolder(), 'shared', `${name}.json`);
  return withFileLock(`${file}.lock`, async () => {
    if (!existsSync(file)) {
      writeFileSync(`${file}.new`, JSON.stringify(await make()));
      renameSync(`${file}.new`, file);
    }
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  });
}

/** Whether nobody in the run has made this mark, a folder, before. */
export function isFirst(mark: string): boolean {
  mkdirSync(dirname(mark), { recursive: true });
  try {
    mkdirSync(mark);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Ends the processes that `onceInRun` left for the whole run, and waits until they are gone. */
export async function endShared(): Promise<void> {
  const folder = join(runFolder(), 'shared');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.json'))) {
    const { pid, endedBy } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      readonly pid?: number;
      readonly endedBy?: NodeJS.Signals;
    };
    if (pid === undefined || !isAlive(pid)) continue;
    process.kill(pid, endedBy ?? 'SIGQUIT');
    while (isAlive(pid)) await sleep(20);
  }
}
