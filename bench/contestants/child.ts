/** Starts and controls the process of a contestant. */
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { SearchInput } from '../../src/domain';
import { PEER_MODULES } from '../world/peer-packages';
import type { ContestantConfig } from './contestant';
import type { Order, Report } from './process';

export type Ran = Extract<Report, { kind: 'ran' }>;

export interface ContestantProcess {
  readonly config: ContestantConfig;
  run(
    inputs: readonly SearchInput[],
    options?: { readonly concurrency?: number; readonly fresh?: boolean },
  ): Promise<Ran>;
  /** Resolves when the process is gone. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function startContestant(config: ContestantConfig): Promise<ContestantProcess> {
  const child = fork(join(__dirname, 'process.js'), [], {
    // Compiled files lie in dist, the peers' packages in a folder of their own.
    env: { ...process.env, NODE_PATH: PEER_MODULES },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await ask(child, { kind: 'open', config });
  return {
    config,
    async run(inputs, { concurrency = 1, fresh = true } = {}) {
      const report = await ask(child, { kind: 'run', inputs, concurrency, fresh });
      if (report.kind !== 'ran') throw new Error(`${config.kind}: ${report.kind} instead of ran`);
      return report;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async close() {
      await ask(child, { kind: 'close' });
      await ended;
    },
  };
}

function ask(child: ChildProcess, order: Order): Promise<Report> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new ContestantKilled());
    child.once('exit', onExit);
    child.once('message', (report: Report) => {
      child.off('exit', onExit);
      if (report.kind === 'failed') reject(new Error(report.message));
      else resolve(report);
    });
    child.send(order);
  });
}

export class ContestantKilled extends Error {
  override readonly name = 'ContestantKilled';
}
