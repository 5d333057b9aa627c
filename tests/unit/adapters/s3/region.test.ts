/** A bucket in another region than AWS_REGION: one line that names the right one, as S3's answers do in their two ways. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createS3Store } from '../../../../src/adapters/s3/store';

async function refusal(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${String(port)}`;
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const store = createS3Store({ bucket: 'sales', endpoint, region: 'us-east-1', credentials });
  try {
    return await store.get('runs/x').then(
      () => 'no error',
      (error: unknown) => (error as Error).message,
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const body = (code: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>m</Message>${more}</Error>`;

test('a redirect to the region of the bucket', async () => {
  const line = await refusal((response) => {
    response.writeHead(301, { 'content-type': 'application/xml', 'x-amz-bucket-region': 'eu-west-1' });
    response.end(body('PermanentRedirect', '<Bucket>sales</Bucket>'));
  });
  expect(line).toMatch(/^the bucket "sales" is in the region eu-west-1 \(.*\): set AWS_REGION to eu-west-1$/);
});

test('a signature for the wrong region', async () => {
  const line = await refusal((response) => {
    response.writeHead(400, { 'content-type': 'application/xml' });
    response.end(body('AuthorizationHeaderMalformed', '<Region>eu-central-1</Region>'));
  });
  expect(line).toMatch(/^the bucket "sales" is in the region eu-central-1 \(.*\): set AWS_REGION to eu-central-1$/);
});
