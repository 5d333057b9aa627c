import { createEngine, type Session } from '../../../../src/adapters/kit/engine';
import { SqlEngineError } from '../../../../src/domain/ports/sql-engine';

function session() {
  return {
    isUp: jest.fn(() => true),
    begin: jest.fn((_options: unknown) => Promise.resolve()),
    execute: jest.fn((_sql: string, _options: unknown) =>
      Promise.resolve({ kind: 'rows', columns: [], rows: [], truncated: false } as const),
    ),
    end: jest.fn(() => Promise.resolve()),
    cut: jest.fn(),
    close: jest.fn(() => Promise.resolve()),
  } satisfies Session;
}

const engineOf = (opened: Session | Session[], wait: () => void = () => undefined) =>
  createEngine({
    dialect: 'postgresql',
    poolSize: 1,
    open: () => {
      wait();
      return Promise.resolve(Array.isArray(opened) ? opened.shift()! : opened);
    },
    toError: (error) => new SqlEngineError('connection', String(error)),
  });

test('nothing begins in a session that was opened after its caller had left', async () => {
  const [opened, left] = [session(), new AbortController()];
  const engine = engineOf(opened, () => left.abort(new Error('left')));
  const use = jest.fn(() => Promise.resolve());
  await expect(engine.inSession({ timeoutMs: 1_000, signal: left.signal, tag: 't' }, use)).rejects.toThrow('left');
  expect(opened.begin).not.toHaveBeenCalled();
  expect(use).not.toHaveBeenCalled();
  expect(opened.close).toHaveBeenCalledTimes(1);
});

test('rows are as of the time when their session began, and not when they began to wait for it', async () => {
  jest.useFakeTimers({ now: 0 });
  const engine = engineOf(session(), () => jest.setSystemTime(60_000));
  const options = { timeoutMs: 1_000, maxRows: 1, tag: 't', signal: new AbortController().signal };
  expect((await engine.run(['SELECT 1'], options)).takenAt).toBe(new Date(60_000).toISOString());
  jest.useRealTimers();
});

const options = { timeoutMs: 1_000, maxRows: 1, tag: 't', signal: new AbortController().signal };

test('a statement that nobody ends at its time limit is given up, tried once more, and then a timeout', async () => {
  jest.useFakeTimers();
  const opened = session();
  let fail: (error: Error) => void = () => undefined;
  opened.execute.mockImplementation(() => new Promise((_, reject) => (fail = reject)));
  opened.cut.mockImplementation(() => fail(new SqlEngineError('lost', 'the line was cut')));
  const running = engineOf(opened).run(['SELECT 1'], options);
  await jest.advanceTimersByTimeAsync(3_900);
  expect(opened.cut).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(8_000);
  expect((await running).results).toEqual([{ kind: 'timeout', afterMs: 1_000 }]);
  expect(opened.execute).toHaveBeenCalledTimes(2);
  jest.useRealTimers();
});

test.each(['lost', 'connection'] as const)(
  'once a statement is given up, its error (%s) is of no account',
  async (code) => {
    jest.useFakeTimers();
    const [stale, fresh] = [session(), session()];
    let fail: (error: Error) => void = () => undefined;
    stale.execute.mockImplementation(() => new Promise((_, reject) => (fail = reject)));
    stale.cut.mockImplementation(() => fail(new SqlEngineError(code, 'the line was cut')));
    const running = engineOf([stale, fresh]).run(['SELECT 1'], options);
    await jest.advanceTimersByTimeAsync(4_000);
    expect((await running).results).toMatchObject([{ kind: 'rows' }]);
    jest.useRealTimers();
  },
);

test('what a session prepares takes its own time', async () => {
  jest.useFakeTimers();
  const prepare = jest.fn(() => new Promise<void>((resolve) => setTimeout(resolve, 600_000)));
  const opened = { ...session(), prepare };
  const running = engineOf(opened).run(['SELECT 1'], options);
  await jest.advanceTimersByTimeAsync(600_000);
  expect((await running).results).toMatchObject([{ kind: 'rows' }]);
  expect([prepare.mock.calls.length, opened.cut.mock.calls.length]).toEqual([1, 0]);
  jest.useRealTimers();
});

test('a session that does not begin is given up for a fresh one, and then it is an error', async () => {
  jest.useFakeTimers();
  const silent = () => {
    const opened = session();
    let fail: (error: Error) => void = () => undefined;
    opened.begin.mockImplementation(() => new Promise((_, reject) => (fail = reject)));
    opened.cut.mockImplementation(() => fail(new Error('the line was cut')));
    return opened;
  };
  const once = engineOf([silent(), session()]).run(['SELECT 1'], options);
  const always = engineOf([silent(), silent(), session()]).run(['SELECT 1'], options);
  const told = expect(always).rejects.toThrow('no answer');
  await jest.advanceTimersByTimeAsync(8_000);
  expect((await once).results).toMatchObject([{ kind: 'rows' }]);
  await told;
  jest.useRealTimers();
});

test('a reading that nobody ends is given up after five minutes, and the next one has a fresh session', async () => {
  jest.useFakeTimers();
  const [stale, fresh] = [session(), session()];
  const { reading } = engineOf([stale, fresh]);
  let asked: AbortSignal | undefined;
  const endless = reading('describe', (_, { signal }) => {
    asked = signal;
    return new Promise<never>((_resolve, reject) => stale.cut.mockImplementation(() => reject(new Error('cut'))));
  });
  const told = expect(endless(options)).rejects.toMatchObject({
    code: 'connection',
    message: expect.stringContaining('its catalogue was not read within 5 minutes') as string,
  });
  await jest.advanceTimersByTimeAsync(299_000);
  expect(asked?.aborted).toBe(false);
  await jest.advanceTimersByTimeAsync(1_000);
  await told;
  expect(asked?.aborted).toBe(true);
  expect(stale.close).toHaveBeenCalledTimes(1);
  expect(await reading('revision', (used) => Promise.resolve(used === fresh))(options)).toBe(true);
  expect(jest.getTimerCount()).toBe(1); // of the idle session
  jest.useRealTimers();
});

test("the time that a reading waits for a session is its caller's", async () => {
  jest.useFakeTimers();
  const { reading } = engineOf(session());
  let done: (value: string) => void = () => undefined;
  const first = reading('describe', () => new Promise<string>((resolve) => (done = resolve)))(options);
  const second = reading('describe', () => Promise.resolve('second'))(options);
  await jest.advanceTimersByTimeAsync(200_000);
  done('first');
  expect(await first).toBe('first');
  expect(await second).toBe('second');
  jest.useRealTimers();
});

test('a digest is made and run in one session, within one snapshot', async () => {
  const opened = {
    ...session(),
    digestSql: jest.fn((sql: string, _options: unknown) => Promise.resolve(`count of ${sql}`)),
  };
  opened.execute.mockResolvedValue({ kind: 'rows', columns: [], rows: [[2, '3', '4']], truncated: false } as never);
  expect(await engineOf(opened).digest('SELECT 1', options)).toEqual({ count: 2, hash: '3.4' });
  expect(opened.begin).toHaveBeenCalledTimes(1);
  expect(opened.digestSql).toHaveBeenCalledWith('SELECT 1', expect.objectContaining({ isLast: false }));
  expect(opened.execute).toHaveBeenCalledWith('count of SELECT 1', expect.objectContaining({ isLast: true }));
});
