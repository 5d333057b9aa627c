/**
 * The simulated model for one stage: in this process, or as a process of its own where its clock is to jump. Both give the
 * same ledger.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../helpers/shared-data';
import {
  startSimulatedModel,
  type LedgerReport,
  type SimulatedModelOptions,
  type WireFault,
} from '../../simulated-model';

export interface ModelServer {
  readonly baseUrl: string;
  ledger(): Promise<LedgerReport>;
  reset(): Promise<void>;
  failNext(faults: readonly WireFault[]): Promise<void>;
  close(): Promise<void>;
}

export interface ModelServerOptions {
  readonly questions: readonly string[];
  readonly databases: readonly string[];
  readonly latencyMs: number;
  readonly retryAfterSeconds: number;
  /** Environment of a process of its own; null: in this one. */
  readonly process: NodeJS.ProcessEnv | null;
}

/** Doubtful questions, often misread, with some broken replies: searches of many calls and retries. */
const RATES = { doubt: 1, wrong: 0.6, inconclusive: 0.4, immaterial: 0.1 };
const BROKEN_JSON = 0.1;

export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  return options.process === null ? here(options) : apart(options, options.process);
}

function simulated({ questions, databases, latencyMs, retryAfterSeconds }: ModelServerOptions): SimulatedModelOptions {
  const faults = { 'broken-json': BROKEN_JSON };
  return { questions, databases, latencyMs, retryAfterSeconds, rates: RATES, faults };
}

async function here(options: ModelServerOptions): Promise<ModelServer> {
  const model = await startSimulatedModel(simulated(options));
  return {
    baseUrl: model.baseUrl,
    ledger: () => Promise.resolve(model.ledger()),
    reset: () => {
      model.reset();
      return Promise.resolve();
    },
    failNext: (faults) => {
      model.failNext(...faults);
      return Promise.resolve();
    },
    close: () => model.close(),
  };
}

const PROGRAM = join(ROOT, 'dist', 'simulated-model', 'main.js');

async function apart(options: ModelServerOptions, env: NodeJS.ProcessEnv): Promise<ModelServer> {
  const args = [PROGRAM, JSON.stringify(simulated(options))];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the simulated model ended at its start (exit ${String(code)})`)));
    createInterface({ input: child.stdout }).once('line', resolve);
  });
  const { baseUrl } = JSON.parse(line) as { baseUrl: string };
  const origin = new URL(baseUrl).origin;
  const post = async (path: string, body: object): Promise<void> => {
    const response = await ask(`${origin}${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  };
  return {
    baseUrl,
    ledger: async () => (await (await ask(`${origin}/ledger`)).json()) as LedgerReport,
    reset: () => post('/reset', {}),
    failNext: (faults) => post('/faults', { next: faults }),
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

/** A kept connection that the server has just closed fails once. */
function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, init).catch(() => fetch(url, init));
}
