import { getEventListeners } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createEngine } from '../../src/adapters/kit/engine';
import { createPages } from '../../src/adapters/web/pages';
import { anySignal } from '../../src/any-signal';
import { SqlEngineError } from '../../src/domain/ports/sql-engine';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;
const { signal: never } = new AbortController();

/** What is told of `work` while garbage is collected; what never ends is given up. */
async function told(work: (leave: AbortSignal) => Promise<unknown>): Promise<unknown> {
  const left = new AbortController();
  const collecting = setInterval(collect, 50);
  const late = setTimeout(() => left.abort(new Error('it waits for ever')), 30_000);
  try {
    return await work(left.signal).catch((error: unknown) => error);
  } finally {
    clearInterval(collecting);
    clearTimeout(late);
  }
}

test('a time limit that nobody else holds comes, also through another one', async () => {
  const limited = anySignal([anySignal([never, AbortSignal.timeout(500)]), never]);
  const reason = await told((leave) => new Promise((_, reject) => {
    for (const one of [limited, leave]) one.addEventListener('abort', () => reject(one.reason as Error));
  })); // prettier-ignore
  expect(reason).toMatchObject({ name: 'TimeoutError' });
});

test('a signal that is given often is listened to once', () => {
  const { signal } = new AbortController();
  for (let n = 0; n < 100; n += 1) anySignal([signal, AbortSignal.timeout(1_000)]);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
});

test('a page that never comes ends at its time limit', async () => {
  const open: Socket[] = [];
  const silent = createServer((socket) => void open.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const near = {
    resolve: () => Promise.resolve(['127.0.0.1']),
    networks: () => [],
    loopback: { ports: new Set([port]) },
  };
  const page = createPages({ ...near, limits: { timeoutMs: 500 } });
  const error = await told((signal) => page(`http://club.com:${port}/`, { signal }));
  for (const socket of open) socket.destroy();
  silent.close();
  expect(error).toMatchObject({ code: 'timeout' });
});

test('a reading heeds the time limit of its caller', async () => {
  const opened = { isUp: () => true, execute: () => Promise.reject(new Error()), close: () => Promise.resolve() };
  const { reading } = createEngine({
    dialect: 'postgresql',
    open: () => {
      let cut: (error: Error) => void = () => undefined;
      const lost = new Promise<never>((_, reject) => (cut = reject));
      return Promise.resolve({ ...opened, lost, cut: () => cut(new Error('cut')) });
    },
    toError: (error) => new SqlEngineError('connection', String(error)),
  });
  const describe = reading('describe', ({ lost }) => lost);
  const within = () => ({ signal: AbortSignal.timeout(500) });
  const error = await told((leave) => Promise.race([describe(within()), new Promise((_, reject) => {
    leave.addEventListener('abort', () => reject(leave.reason as Error));
  })])); // prettier-ignore
  expect(error).toMatchObject({ name: 'TimeoutError' });
});
