/** The Temporal server and workflow bundle that `global-setup.ts` made, and workers on queues of a test's own. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { connectClient, type GateClient } from '../../src/workers/client';
import { createGateWorkers, installLogger, type WorkersOptions } from '../../src/workers/run-worker';

export interface TestTemporal {
  readonly address: string;
  readonly namespace: string;
  readonly bundle: { readonly codePath: string };
}

export function testTemporal(): TestTemporal {
  return {
    address: needed('GATE_TEST_TEMPORAL'),
    namespace: 'default',
    bundle: { codePath: needed('GATE_TEST_BUNDLE') },
  };
}

/** A name that no other test uses: for databases (and so queues), searches and batches. */
export function unique(prefix: string): string {
  return `${prefix}-${randomUUID().slice(0, 8)}`;
}

/** A folder of this test, removed after the run. */
export function testFolder(): string {
  return mkdtempSync(join(needed('GATE_TEST_FOLDER'), 'test-'));
}

/** The SDK prints a warning for each failure that a test provokes. */
export function quietLogger(): void {
  installLogger('ERROR', () => undefined);
}

export async function withClient<T>(work: (gate: GateClient) => Promise<T>): Promise<T> {
  const gate = await connectClient(testTemporal());
  try {
    return await work(gate);
  } finally {
    await gate.close();
  }
}

/** A history with its payloads as text: in its JSON they are base64. */
export async function historyText({ client }: GateClient, workflowId: string): Promise<string> {
  const json = JSON.stringify(await client.workflow.getHandle(workflowId).fetchHistory());
  return json.replace(/"data":"([A-Za-z0-9+/=]+)"/g, (_, data: string) => Buffer.from(data, 'base64').toString('utf8'));
}

/** Workers in this process while `work` runs. */
export async function withWorkers<T>(
  options: Omit<WorkersOptions, 'address' | 'namespace'>,
  work: (gate: GateClient) => Promise<T>,
): Promise<T> {
  quietLogger();
  const workers = await createGateWorkers({ ...testTemporal(), graceMs: 200, ...options });
  const running = workers.run();
  try {
    return await withClient(work);
  } finally {
    workers.stop();
    await running;
  }
}

function needed(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: this test belongs to a jest project with the global set-up`);
  return value;
}
