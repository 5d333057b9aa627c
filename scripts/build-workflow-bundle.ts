/** Bundles the compiled workflows into `dist/workflow-bundle.js`; runs compiled itself, after `tsc` (`npm run build`). */
import { resolve } from 'node:path';
import { writeWorkflowBundle } from '../src/workers/workflow-bundle';

writeWorkflowBundle(resolve(__dirname, '..', 'workflow-bundle.js'))
  .then(({ bytes }) => console.log(`dist/workflow-bundle.js: ${Math.round(bytes / 1024)} KB`))
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
