/** Stops what `global-setup.ts` started. */
import { stopServerProcess } from '../../src/workers/temporal-process';

export default async function globalTeardown(): Promise<void> {
  const { GATE_TEST_TEMPORAL_PID: pid } = process.env;
  if (pid) await stopServerProcess(Number(pid), 2_000);
}
