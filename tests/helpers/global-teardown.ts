/** Stops what `global-setup.ts` started. */
import { rmSync } from 'node:fs';
import { stopServerProcess } from '../../src/workers/temporal-process';

export default async function globalTeardown(): Promise<void> {
  const { GATE_TEST_TEMPORAL_PID: pid, GATE_TEST_FOLDER: folder } = process.env;
  if (pid) await stopServerProcess(Number(pid), 2_000);
  if (folder) rmSync(folder, { recursive: true, force: true });
}
