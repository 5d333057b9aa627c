/**
 * The real command `gate` as its own process, in folders of its own: compiled JavaScript, real environment, real signals.
 * Built by `npm test` (or `node scripts/ensure-built.cjs`); without a build the tests fail and say so.
 *
 * A process costs a second of computing before it does anything, an answered question three. Where the process is not what
 * is tested (signals, kills, what stays in the background, the streams), `here` runs the same command in this one.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Io } from '../../src/cli/io';
import type { AnswerRecord } from '../../src/domain';
import { packageFolder } from '../../src/workers/package-folder';
import { SIMULATED_MODEL } from '../../simulated-model';
import { testFolder, testTemporal } from './temporal';

/** Also where this is compiled, for benchmarks. */
const ROOT = packageFolder() ?? resolve(__dirname, '..', '..');
const GATE = join(ROOT, 'dist', 'program', 'gate.js');

export interface Ended {
  /** null when it was killed. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface GateProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with the text of stderr so far once it matches; rejects when the process ends before. */
  said(pattern: RegExp): Promise<string>;
}

export type OnSaid = (text: string, interrupt: () => void) => void;

export interface GateHome {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Starts `gate` with these arguments. */
  start(args: readonly string[], env?: NodeJS.ProcessEnv): GateProcess;
  run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>;
  /**
   * The same command in this process, with the folders and the environment of this user. `onSaid` is told each text for
   * stderr, and may interrupt the command as Ctrl-C would.
   */
  here(args: readonly string[], env?: NodeJS.ProcessEnv, onSaid?: OnSaid): Promise<Ended>;
  /** `gate-bench` in this process. */
  bench(args: readonly string[], env?: NodeJS.ProcessEnv, onSaid?: OnSaid): Promise<Ended>;
  /** `gate ask … --json` in this process; fails with what it said when it did not print a record. */
  ask(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<AnswerRecord & { readonly code: number | null }>;
}

/** A user of their own: home, store, configuration; Temporal is the one of the global set-up. */
export function gateHome(options: { readonly baseUrl: string; readonly env?: NodeJS.ProcessEnv }): GateHome {
  if (!existsSync(GATE)) throw new Error(`${GATE} is missing: run node scripts/ensure-built.cjs`);
  const folder = testFolder();
  const home = join(folder, 'home');
  mkdirSync(home);
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: home,
    NO_COLOR: '1',
    CI: '1',
    GATE_STORE: join(folder, 'store'),
    GATE_MODEL: SIMULATED_MODEL,
    OPENAI_BASE_URL: options.baseUrl,
    OPENAI_API_KEY: 'test-key',
    TEMPORAL_ADDRESS: process.env['GATE_TEST_TEMPORAL'],
    // What a test asks of it is turned on there: the layer costs a call for what a question proved.
    GATE_MEMORY: 'off',
    ...options.env,
  };
  const start: GateHome['start'] = (args, more = {}) => startProcess(args, folder, { ...env, ...more });
  const here: GateHome['here'] = (args, more = {}, onSaid) =>
    runHere('gate', args, folder, { ...env, ...more }, onSaid);
  const bench: GateHome['bench'] = (args, more = {}, onSaid) =>
    runHere('gate-bench', args, folder, { ...env, ...more }, onSaid);
  return {
    folder,
    env,
    start,
    run: (args, more) => start(args, more).ended,
    here,
    bench,
    async ask(args, more) {
      const { code, out, err } = await here(['ask', ...args, '--json'], more);
      if (!out.trimStart().startsWith('{')) throw new Error(`gate ask printed no record (exit ${code}): ${err}`);
      return { ...(JSON.parse(out) as AnswerRecord), code };
    },
  };
}

async function runHere(
  program: 'gate' | 'gate-bench',
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  onSaid: OnSaid = () => undefined,
): Promise<Ended> {
  const { GATE, run } = await import('../../src/cli/program');
  const of = program === 'gate' ? GATE : (await import('../../benchmarks/program')).GATE_BENCH;
  const printed = { out: '', err: '' };
  const listeners = new Set<() => void>();
  const interrupt = (): void => {
    for (const listener of listeners) listener();
  };
  const io: Io = {
    ...{ env, cwd, platform: process.platform, live: false, outIsTerminal: false, columns: 100 },
    out: (text) => void (printed.out += text),
    err: (text) => {
      printed.err += text;
      onSaid(text, interrupt);
    },
    now: () => Date.now(),
    readInput: () => Promise.resolve(''),
    bundle: testTemporal().bundle,
    onInterrupt: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return { code: await run(args, io, of), ...printed };
}

function startProcess(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): GateProcess {
  const child = spawn(process.execPath, [GATE, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  const listeners = new Set<() => void>();
  // A letter may come in two pieces.
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    for (const listener of listeners) listener();
  });
  const ended = new Promise<Ended>((resolveEnd) => child.once('close', (code) => resolveEnd({ code, out, err })));
  return {
    child,
    ended,
    said: (pattern) =>
      new Promise((resolveText, reject) => {
        const look = (): void => {
          if (!pattern.test(err)) return;
          listeners.delete(look);
          resolveText(err);
        };
        listeners.add(look);
        look();
        void ended.then(({ code }) => reject(new Error(`gate ended (${code}) before it said ${pattern}: ${err}`)));
      }),
  };
}
