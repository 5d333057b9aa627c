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
import { printFigures } from './figure';
import type { steps } from './step-workflow';

export interface StepFigure {
  /** Medians in milliseconds. */
  readonly tunedMs: number;
  readonly tunedOtherQueueMs: number;
  readonly defaultMs: number;
}

export async function measureStep(count = 60): Promise<StepFigure> {
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
      return await onServer(`127.0.0.1:${String(server.port)}`, bundle, count);
    } finally {
      await stopServerProcess(server.pid);
    }
  };
  try {
    const tuned = await measure('tuned', TUNED_FLAGS);
    const defaults = await measure('default', []);
    return { tunedMs: tuned.sameQueue, tunedOtherQueueMs: tuned.otherQueue, defaultMs: defaults.sameQueue };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onServer(address: string, workflowBundle: WorkflowBundle, count: number) {
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
      args: [{ count, taskQueue }],
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

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const value = sorted.length % 2 === 1 ? sorted[middle] : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
  return Math.round((value ?? 0) * 10) / 10;
}

if (require.main === module) {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  printFigures(
    measureStep().then(({ tunedMs, tunedOtherQueueMs, defaultMs }) => [
      {
        name: 'durable step',
        value: tunedMs,
        unit: 'ms',
        atMost: 15,
        how: 'empty activity, median, our server settings',
      },
      {
        name: 'durable step, other queue',
        value: tunedOtherQueueMs,
        unit: 'ms',
        atMost: null,
        how: 'the activity on another queue than the workflow',
      },
      {
        name: 'durable step, default server',
        value: defaultMs,
        unit: 'ms',
        atMost: null,
        how: "the server's settings as shipped",
      },
    ]),
  );
}
