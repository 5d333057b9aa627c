/** Bundles the compiled workflows into `dist/workflow-bundle.js`; run after `tsc` (`npm run build`). */
import { resolve } from 'node:path';
import type * as Bundle from '../src/workers/workflow-bundle';

async function main(): Promise<void> {
  const dist = resolve(__dirname, '..', 'dist');
  const { writeWorkflowBundle } = (await import(resolve(dist, 'src/workers/workflow-bundle.js'))) as typeof Bundle;
  const { bytes } = await writeWorkflowBundle(resolve(dist, 'workflow-bundle.js'));
  console.log(`dist/workflow-bundle.js: ${String(Math.round(bytes / 1024))} KB`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
