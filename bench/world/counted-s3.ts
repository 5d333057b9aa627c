/** The S3 test server behind a proxy that counts what a store asks of it and, if wanted, lets every request wait. */
import { Agent, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startS3Server } from '../../tests/helpers/s3-server';

export interface CountedS3 {
  /** What a process needs to keep its store there. */
  readonly env: Readonly<Record<string, string>>;
  /** Of the server, without the proxy, which is a part of this process. */
  readonly pid: number;
  /** `requests`, `PUT`, `GET`, `LIST`, …, `KB` written, and the puts of each part of the store (`PUT runs`). */
  readonly counts: () => Readonly<Record<string, number>>;
  readonly stop: () => Promise<void>;
}

const BUCKET = 'bench';

export async function startCountedS3({ delayMs = 0 } = {}): Promise<CountedS3> {
  const s3 = await startS3Server();
  s3.createBucket(BUCKET);
  const counts: Record<string, number> = {};
  const count = (what: string, by = 1): void => void (counts[what] = (counts[what] ?? 0) + by);
  const agent = new Agent({ keepAlive: true });
  const proxy = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const [path = '', query = ''] = url.split('?');
    const kind = query.includes('list-type') ? 'LIST' : method;
    count('requests');
    count(kind);
    if (kind === 'PUT') {
      count(`PUT ${path.split('/')[3] ?? ''}`);
      count('KB', Number(headers['x-amz-decoded-content-length'] ?? headers['content-length'] ?? 0) / 1024);
    }
    const forward = (): void => {
      // The host stays as the client signed it.
      const onward = send({ agent, host: '127.0.0.1', port: s3.port, method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    };
    if (delayMs === 0) forward();
    else setTimeout(forward, delayMs);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    env: { ...s3.env(`s3://${BUCKET}/gate`), AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${String(port)}` },
    pid: s3.pid,
    counts: () => ({ ...counts }),
    async stop() {
      proxy.close();
      proxy.closeAllConnections();
      agent.destroy();
      await s3.stop();
    },
  };
}
