/** A Temporal server in memory that starts workers, with the environment of whoever it starts them for. */
import { join } from 'node:path';
import { userFolders } from '../../src/config/folders';
import { findTemporalBinary, SERVERLESS_SERVER } from '../../src/workers/temporal-binary';
import {
  SERVERLESS_FLAGS,
  startServerProcess,
  stopServerProcess,
  TUNED_FLAGS,
} from '../../src/workers/temporal-process';
import { testFolder } from '../helpers/temporal';

export function serverlessBinary(): Promise<string> {
  const cacheFolder = userFolders(process.env).cache;
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
  return findTemporalBinary({ env: process.env, cacheFolder, server: SERVERLESS_SERVER, onProgress });
}

export interface ServerlessServer {
  readonly address: string;
  stop(): Promise<void>;
}

export async function startServerlessServer(
  port: number,
  env: NodeJS.ProcessEnv,
  provider: 'subprocess' | 'aws-lambda' = 'subprocess',
): Promise<ServerlessServer> {
  const { pid } = await startServerProcess({
    ...{ binary: await serverlessBinary(), databaseFile: null, uiPort: null, detached: false, port, env },
    flags: [...TUNED_FLAGS, ...SERVERLESS_FLAGS.map((flag) => flag.replace('subprocess', provider))],
    logFile: join(testFolder(), 'temporal.log'),
  });
  return { address: `127.0.0.1:${String(port)}`, stop: () => stopServerProcess(pid) };
}
