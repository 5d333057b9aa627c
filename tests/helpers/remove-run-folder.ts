/** Ends what the files of a run shared, and removes its folder. Runs after the other servers were stopped. */
import { rm } from 'node:fs/promises';
import { endShared, runFolder } from './run-folder';

export default async function tearDown(): Promise<void> {
  await endShared();
  // A worker that a test left in the background may write meanwhile. Unlike this, rmSync looks at a folder only once.
  await rm(runFolder(), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
