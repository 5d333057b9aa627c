/** After the servers were stopped. */
import { rmSync } from 'node:fs';
import { runFolder } from './run-folder';

export default function tearDown(): void {
  rmSync(runFolder(), { recursive: true, force: true });
}
