/** A worker with real steps as a process of its own, to be killed. */
import { createGateWorkers, installLogger } from '../../src/workers/run-worker';
import { createSteps } from '../../src/methods/steps';
import { depsOf, type World } from './method-world';
import { noBatch } from './scripted-steps';

export interface MethodWorkerArguments extends World {
  readonly address: string;
  readonly codePath: string;
  readonly database: string;
}

async function main(): Promise<void> {
  const { address, codePath, database, ...world } = JSON.parse(process.argv[2] ?? '') as MethodWorkerArguments;
  installLogger('ERROR', () => undefined);
  const workers = await createGateWorkers({
    ...{ address, namespace: 'default', databases: [database], bundle: { codePath }, batch: noBatch },
    steps: createSteps(depsOf(world)),
  });
  await workers.run();
}

void main();
