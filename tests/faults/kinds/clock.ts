/** The clocks of worker and model server jump (libfaketime; never the machine's). Their monotonic clocks go on as in life. */
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_STAGE, mixedQuestions, seededMoment, type FaultKind } from '../kind';

const LIBRARY = 'libfaketimeMT.so.1';
/** The library looks at its file this often. */
const NOTICED_AFTER_MS = 1_100;
const HOUR = 3_600;
const JUMPS = [-30 * 24 * HOUR, -24 * HOUR, -HOUR, -90, 0, 90, HOUR, 24 * HOUR, 30 * 24 * HOUR] as const;

const folder = (): string => (opened ??= mkdtempSync(join(tmpdir(), 'gate-clock-')));
let opened: string | undefined;

export const clockJumps: FaultKind = {
  name: 'clock-jumps',
  title: 'the clocks of worker and model server jump forward and back',
  stage: () => {
    const library = findLibrary();
    const environment = (name: string): NodeJS.ProcessEnv => {
      writeFileSync(join(folder(), name), '+0');
      return {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: join(folder(), name),
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      };
    };
    return { ...DEFAULT_STAGE, clock: { worker: environment('worker'), model: environment('model') } };
  },
  questions: mixedQuestions,
  async strike(scene) {
    const { draw, index } = scene;
    const moment = await seededMoment(scene);
    const jump = (name: string): number => JUMPS[Math.floor(draw('jump', name) * JUMPS.length)] ?? 0;
    // Whatever the seed draws, forward and backward jumps of the worker alternate.
    const worker = (index % 2 === 0 ? 1 : -1) * (Math.abs(jump('worker')) || HOUR);
    const model = jump('model');
    writeFileSync(join(folder(), 'worker'), signed(worker));
    writeFileSync(join(folder(), 'model'), signed(model));
    await sleep(NOTICED_AFTER_MS);
    return {
      moment: `${moment}, worker ${signed(worker)} s, model ${signed(model)} s`,
      overAtMs: Date.now(),
      mayPayAgain: 0,
    };
  },
};

function signed(seconds: number): string {
  return seconds < 0 ? String(seconds) : `+${String(seconds)}`;
}

/** Installed by apt where we may; else the kind cannot run, and says so. */
function findLibrary(): string {
  const found = look();
  if (found !== null) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    // Where the package lists are old or missing, the first try fails.
    for (const steps of [[], [['update', '-q']]]) {
      try {
        for (const step of [...steps, ['install', '-y', '-q', 'libfaketime']])
          execFileSync('apt-get', step, { stdio: 'ignore' });
        break;
      } catch {
        // Said below.
      }
    }
  }
  const installed = look();
  if (installed !== null) return installed;
  throw new Error('the clock cannot be made to jump without libfaketime: install the package libfaketime');
}

function look(): string | null {
  const roots = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/opt/homebrew/lib'].filter((root) => existsSync(root));
  for (const root of roots) {
    const folders = [root, ...readdirSync(root).map((name) => join(root, name))];
    for (const each of folders) {
      const library = join(each, 'faketime', LIBRARY);
      if (existsSync(library)) return library;
    }
  }
  return null;
}
