import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { isFirst } from './run-folder';

/** Below those that systems give to outgoing connections, one of which could otherwise have it before the server is up. */
const [LOWEST, HIGHEST] = [10_240, 32_767];

/** Given once in a run of the tests: another worker of Jest could otherwise have it before the server is up. */
export async function freePort(): Promise<number> {
  const { GATE_TEST_FOLDER: run } = process.env;
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    const isOurs = run === undefined || isFirst(join(run, 'ports', String(port)));
    if (isOurs && (await isFree(port))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', ({ code, message }: NodeJS.ErrnoException) =>
      code === 'EADDRINUSE' || code === 'EACCES' ? resolve(false) : reject(new Error(message)),
    );
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
