/** `gate ops worker` as a real process of its own: what a deployment runs, and what gets killed here. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../helpers/shared-data';
import { until } from './polling';

const GATE = join(ROOT, 'dist', 'program', 'gate.js');

export interface WorkerProcess {
  readonly pid: number;
  /** What it printed last, for a report of what went wrong. */
  said(): string;
  isRunning(): boolean;
  ready(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** SIGKILL; returns when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM: running steps may finish. */
  stop(): Promise<void>;
}

export function startWorker(cwd: string, env: NodeJS.ProcessEnv, enter: readonly string[]): WorkerProcess {
  const [command = process.execPath, ...args] = enter.concat(process.execPath, GATE, 'ops', 'worker');
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let tail = '';
  child.stderr.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString()).slice(-4_000)));
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    said: () => tail,
    isRunning,
    ready: () =>
      until('the worker is ready', () => {
        if (!isRunning()) throw new Error(`the worker ended at its start: ${tail}`);
        return tail.includes('serving ');
      }),
    signal: (signal) => void child.kill(signal),
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(late);
}
