/** A worker as a process of its own, to be killed: appends one line per step that ended to the log it is given. */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGateWorkers, installLogger } from '../../src/workers/run-worker';
import { noBatch, scriptedSteps } from './scripted-steps';

export interface WorkerProcessArguments {
  readonly address: string;
  readonly codePath: string;
  readonly database: string;
  readonly log: string;
  readonly stepMs: number;
  /** The step whose position ends so never ends. */
  readonly hangsAt?: string;
}

async function main(): Promise<void> {
  const { address, codePath, database, log, stepMs, hangsAt } = JSON.parse(
    process.argv[2] ?? '',
  ) as WorkerProcessArguments;
  installLogger('ERROR', () => undefined);
  const steps = scriptedSteps({
    operators: 4,
    onStep: async ({ searchId, position }) => {
      appendFileSync(log, `begin ${searchId} ${position}\n`);
      await (hangsAt !== undefined && position.endsWith(hangsAt) ? new Promise(() => undefined) : sleep(stepMs));
      appendFileSync(log, `end ${searchId} ${position}\n`);
    },
  });
  const workers = await createGateWorkers({
    ...{ address, namespace: 'default', steps, databases: [database], bundle: { codePath } },
    batch: noBatch,
  });
  await workers.run();
}

void main();
