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
  const child = fork(join(__dirname, 'process.js'), [], {
    // Compiled files lie in dist, the peers' packages in a folder of their own; one of them is warned of what `pg` deprecates.
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
