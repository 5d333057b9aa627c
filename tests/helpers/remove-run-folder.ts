/** Ends what the files of a run shared, and removes its folder. Runs after the other servers were stopped. */
import { rmSync } from 'node:fs';
import { endShared, runFolder } from './run-folder';

export default function tearDown(): void {
  endShared();
  // A server that ends may write its last files meanwhile.
  rmSync(runFolder(), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
