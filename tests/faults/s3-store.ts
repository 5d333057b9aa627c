/** A store in a bucket of a real S3 server, which can be killed and started again. Its objects are files in a folder. */
import { join } from 'node:path';
import { createS3Store } from '../../src/adapters/s3/store';
import { ofThisFormat } from '../../src/workers/open-store';
import { startS3Server } from '../helpers/s3-server';
import type { StoreServer } from './stage';

const BUCKET = 'gate-faults';

export async function startS3Store(): Promise<StoreServer> {
  const server = await startS3Server();
  server.createBucket(BUCKET);
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  return {
    env: server.env(`s3://${BUCKET}`),
    enter: [],
    store: ofThisFormat(
      createS3Store({ bucket: BUCKET, endpoint, region, credentials: { accessKeyId, secretAccessKey } }),
      `s3://${BUCKET}`,
    ),
    folder: join(server.folder, 'data', BUCKET),
    down: () => server.kill(),
    up: () => server.restart(),
    close: () => server.stop(),
  };
}
