/**
 * Starts what the server-backed test projects share: one real Temporal server in memory, with the flags of the embedded
 * one, and the workflow bundle in a file. `TEMPORAL_CLI_PATH` names a server binary; else it is found, or built, as in
 * production. What the tests need to know is in the environment (`temporal.ts` reads it).
 */
import { join } from 'node:path';
import { userFolders } from '../../src/config/folders';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { startServerProcess } from '../../src/workers/temporal-process';
import { writeWorkflowBundle } from '../../scripts/workflow-bundle';
import { fakesnowPython } from './fakesnow';
import { runFolder } from './run-folder';
import { findVersitygw } from './s3-server';

export default async function globalSetup(): Promise<void> {
  const folder = runFolder();
  const binary = await findTemporalBinary({
    env: process.env,
    cacheFolder: userFolders(process.env).cache,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  // On a fresh machine they take longer than a test may. A test that needs one of them says why there is none.
  await Promise.allSettled([findVersitygw(), fakesnowPython()]);
  const codePath = join(folder, 'workflow-bundle.js');
  const [server] = await Promise.all([
    startServerProcess({
      ...{ binary, databaseFile: null, uiPort: null, detached: false },
      logFile: join(folder, 'temporal.log'),
    }),
    writeWorkflowBundle(codePath),
  ]);
  process.env.GATE_TEST_TEMPORAL = `127.0.0.1:${String(server.port)}`;
  process.env.GATE_TEST_TEMPORAL_PID = String(server.pid);
  process.env.GATE_TEST_BUNDLE = codePath;
}
