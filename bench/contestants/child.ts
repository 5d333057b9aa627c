/** Starts and controls the process of a contestant. */
import { fork, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SearchInput } from '../../src/domain';
import { PEER_MODULES } from '../world/peer-packages';
import type { ContestantConfig } from './contestant';
import type { Order, Report } from './process';

export type Ran = Extract<Report, { kind: 'ran' }>;

export interface ContestantProcess {
  readonly config: ContestantConfig;
  readonly pid: number;
  run(
    inputs: readonly SearchInput[],
    options?: { readonly concurrency?: number; readonly fresh?: boolean },
  ): Promise<Ran>;
  /** Resolves when the process is gone. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function startContestant(config: ContestantConfig): Promise<ContestantProcess> {
  const child = fork(await processFile(), [], {
    // The peers' packages are in a folder of their own; one of them is warned of what `pg` deprecates.
    env: { ...process.env, NODE_PATH: PEER_MODULES, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const gone = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  await ask(child, { kind: 'open', config }).catch(async (error: unknown) => {
    await gone();
    throw error;
  });
  return {
    ...{ config, pid: child.pid ?? 0, kill: gone },
    async run(inputs, { concurrency = 1, fresh = true } = {}) {
      const report = await ask(child, { kind: 'run', inputs, concurrency, fresh });
      if (report.kind !== 'ran') throw new Error(`${config.kind}: ${report.kind} instead of ran`);
      return report;
    },
    async close() {
      await ask(child, { kind: 'close' });
      await ended;
    },
  };
}

const ENTRIES = {
  process: 'bench/contestants/process.ts',
  'in-process': 'bench/contestants/in-process.ts',
  gate: 'bench/contestants/gate.ts',
  langgraph: 'bench/peers/langgraph.ts',
  dbos: 'bench/peers/dbos.ts',
};

interface Build {
  readonly bundleBench: (name: string, entries: typeof ENTRIES, outside: readonly string[]) => Promise<string>;
}

let folder: Promise<string> | null = null;

/** The contestants are bundled as the product is: loading code is a part of every restart. */
async function processFile(): Promise<string> {
  const { bundleBench } = createRequire(__filename)('../../../scripts/build.cjs') as Build;
  folder ??= bundleBench('contestants', ENTRIES, ['@langchain/*', '@dbos-inc/*']);
  return join(await folder, 'process.js');
}

/** Whatever a contestant is told takes seconds; much later it hangs. */
const LATE_MS = 10 * 60_000;

function ask(child: ChildProcess, order: Order): Promise<Report> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      clearTimeout(late);
      child.off('exit', onExit).off('message', onReport);
      then();
    };
    const onExit = (): void => settle(() => reject(new ContestantKilled('its process is gone')));
    const onReport = (report: Report): void =>
      settle(() => (report.kind === 'failed' ? reject(new Error(report.message)) : resolve(report)));
    const late = setTimeout(() => settle(() => reject(new Error(`no answer in ${LATE_MS / 1000} s`))), LATE_MS);
    child.once('exit', onExit).once('message', onReport);
    child.send(order);
  });
}

export class ContestantKilled extends Error {
  override readonly name = 'ContestantKilled';
}
