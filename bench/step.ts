/**
 * What one durable step costs: an empty activity after another on the embedded Temporal, with our flags, with the same
 * flags but the activity on another task queue than the workflow (no eager dispatch), and with the server's defaults.
 * A step lasts from the scheduling of one activity to the scheduling of the next, by the server's own timestamps.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import {
  bundleWorkflowCode,
  NativeConnection,
  Runtime,
  DefaultLogger,
  Worker,
  type WorkflowBundle,
} from '@temporalio/worker';
import { userFolders } from '../src/config/folders';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess, TUNED_FLAGS } from '../src/workers/temporal-process';
import { bench, median, SHORT, type Figure } from './figure';
import type { steps } from './step-workflow';

const COUNT = SHORT ? 20 : 60;

async function measureStep(): Promise<readonly Figure[]> {
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const bundle = await bundleWorkflowCode({
    workflowsPath: require.resolve('./step-workflow'),
    logger: new DefaultLogger('ERROR'),
  });
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-step-'));
  const measure = async (name: string, flags: readonly string[]) => {
    const server = await startServerProcess({
      ...{ binary, flags, uiPort: null },
      databaseFile: join(folder, `${name}.sqlite`),
      logFile: join(folder, `${name}.log`),
    });
    try {
      return await onServer(`127.0.0.1:${String(server.port)}`, bundle);
    } finally {
      await stopServerProcess(server.pid);
    }
  };
  try {
    const tuned = await measure('tuned', TUNED_FLAGS);
    const defaults = await measure('default', []);
    const how = `empty activity, median of ${String(COUNT)}`;
    return [
      { name: 'durable step', value: tuned.sameQueue, unit: 'ms', atMost: 15, how: `${how}, our server settings` },
      { name: 'durable step, other queue', value: tuned.otherQueue, unit: 'ms', how: 'on another than the workflow' },
      { name: 'durable step, default server', value: defaults.sameQueue, unit: 'ms', how: 'settings as shipped' },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onServer(address: string, workflowBundle: WorkflowBundle) {
  const native = await NativeConnection.connect({ address });
  const connection = await Connection.connect({ address });
  const activities = { emptyStep: (): Promise<void> => Promise.resolve() };
  const common = { connection: native, shutdownGraceTime: 0 };
  const worker = await Worker.create({ ...common, taskQueue: 'step', workflowBundle, activities });
  const other = await Worker.create({ ...common, taskQueue: 'step-other', activities });
  const client = new Client({ connection });
  const run = async (workflowId: string, taskQueue: string | null): Promise<number> => {
    const handle = await client.workflow.start<typeof steps>('steps', {
      ...{ workflowId, taskQueue: 'step' },
      args: [{ count: COUNT, taskQueue }],
    });
    await handle.result();
    const { events } = await handle.fetchHistory();
    const scheduled = (events ?? []).flatMap((event) =>
      event.activityTaskScheduledEventAttributes
        ? [Number(event.eventTime?.seconds) * 1000 + (event.eventTime?.nanos ?? 0) / 1e6]
        : [],
    );
    return median(scheduled.slice(1).map((time, index) => time - (scheduled[index] ?? time)));
  };
  try {
    return await worker.runUntil(
      other.runUntil(async () => {
        await run('warm-up', null);
        return { sameQueue: await run('same-queue', null), otherQueue: await run('other-queue', 'step-other') };
      }),
    );
  } finally {
    await connection.close();
    await native.close();
  }
}

Runtime.install({ logger: new DefaultLogger('ERROR') });
bench(measureStep);
