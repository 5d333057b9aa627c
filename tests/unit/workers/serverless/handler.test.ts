import { createHandler, timesOf, type Kept } from '../../../../src/workers/serverless/handler';

interface FakeKept extends Kept {
  /** What its workers say when they are asked. */
  idle: number;
}

/** Workers that run until they are stopped, with what happened in order. */
function fakeKept(happened: string[], more: Partial<Kept> = {}): FakeKept {
  const kept: FakeKept = {
    ...{ stepMs: 300_000, idleMs: 3_000, drainMs: null, idle: 0 },
    workers: async () => {
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      return {
        run: async () => {
          happened.push('run');
          await ended;
        },
        stop: () => {
          happened.push('stop');
          end();
        },
        idleMs: () => kept.idle,
      };
    },
    rest: async () => void happened.push('rest'),
    ...more,
  };
  return kept;
}

const context = (remainingMs: number) => ({ getRemainingTimeInMillis: () => remainingMs });

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('takes no new work when only the drain time is left, and rests before it returns', async () => {
  const [happened, lines]: [string[], string[]] = [[], []];
  const handler = createHandler(
    async () => fakeKept(happened),
    (line) => lines.push(line),
  );
  const invoked = handler({}, context(20_000)).then(() => happened.push('returned'));
  await jest.advanceTimersByTimeAsync(12_999);
  expect(happened).toEqual(['run']);
  await jest.advanceTimersByTimeAsync(2);
  await invoked;
  expect(happened).toEqual(['run', 'stop', 'rest', 'returned']);
  expect(lines).toEqual(['cold start; takes work for 13.0 s', 'ends: time is up']);
});

test('ends early when there is nothing to do', async () => {
  const happened: string[] = [];
  const kept = fakeKept(happened);
  const lines: string[] = [];
  const invoked = createHandler(
    async () => kept,
    (line) => lines.push(line),
  )({}, context(900_000));
  await jest.advanceTimersByTimeAsync(5_000);
  expect(happened).toEqual(['run']);
  kept.idle = 3_000;
  await jest.advanceTimersByTimeAsync(3_100);
  await invoked;
  expect(lines.at(-1)).toBe('ends: nothing to do');
});

test('the time that making workers takes is no idle time', async () => {
  const happened: string[] = [];
  const kept = fakeKept(happened);
  kept.idle = 10_000;
  const invoked = createHandler(
    async () => kept,
    () => undefined,
  )({}, context(900_000));
  await jest.advanceTimersByTimeAsync(2_900);
  expect(happened).toEqual(['run']);
  await jest.advanceTimersByTimeAsync(200);
  await invoked;
  expect(happened).toEqual(['run', 'stop', 'rest']);
});

test('what is opened is kept for the next invocation', async () => {
  let opened = 0;
  const kept = fakeKept([]);
  kept.idle = 10_000;
  const lines: string[] = [];
  const handler = createHandler(
    async () => {
      opened += 1;
      return kept;
    },
    (line) => lines.push(line),
  );
  for (let at = 0; at < 3; at += 1) {
    const invoked = handler({}, context(60_000));
    await jest.advanceTimersByTimeAsync(3_100);
    await invoked;
  }
  expect(opened).toBe(1);
  expect(lines.filter((line) => line.includes('start;'))).toEqual([
    expect.stringMatching(/^cold/),
    expect.stringMatching(/^warm/),
    expect.stringMatching(/^warm/),
  ]);
});

test('an error is one line without a password and a failed invocation, and the next one opens anew', async () => {
  let opened = 0;
  const lines: string[] = [];
  const kept = fakeKept([]);
  kept.idle = 10_000;
  const handler = createHandler(
    async () => {
      opened += 1;
      if (opened === 1) throw new Error('no Temporal at https://user:hunter2@temporal\nat line 2');
      return kept;
    },
    (line) => lines.push(line),
  );
  await expect(handler({}, context(60_000))).rejects.toThrow('no Temporal at https://***@temporal at line 2');
  expect(lines).toEqual(['gate: no Temporal at https://***@temporal at line 2']);
  const invoked = handler({}, context(60_000));
  await jest.advanceTimersByTimeAsync(3_100);
  await invoked;
  expect(opened).toBe(2);
});

test('a worker that fails makes the invocation fail, and nothing is kept', async () => {
  const happened: string[] = [];
  let opened = 0;
  const failing = { run: () => Promise.reject(new Error('poll failed')), stop: () => undefined, idleMs: () => 0 };
  const handler = createHandler(
    async () => {
      opened += 1;
      return fakeKept(happened, { workers: async () => failing });
    },
    () => undefined,
  );
  await expect(handler({}, context(60_000))).rejects.toThrow('poll failed');
  await expect(handler({}, context(60_000))).rejects.toThrow('poll failed');
  expect(happened).toEqual(['rest', 'rest']);
  expect(opened).toBe(2);
});

describe('times', () => {
  const kept = { stepMs: 300_000, drainMs: null };

  test('a step that begins has its own time limit before it is handed back', () => {
    const { workMs, graceMs, forceMs } = timesOf(900_000, kept);
    expect(graceMs).toBeGreaterThanOrEqual(kept.stepMs);
    expect(workMs + forceMs).toBeLessThan(900_000);
    expect(forceMs - graceMs).toBeGreaterThanOrEqual(1_000);
  });

  test('a short invocation keeps about a third for running steps', () => {
    expect(timesOf(20_000, kept)).toEqual({ workMs: 13_000, graceMs: 5_000, forceMs: 6_500 });
  });

  test('the drain time may be set, but handing back has its time in any case', () => {
    expect(timesOf(20_000, { ...kept, drainMs: 10_000 }).workMs).toBe(10_000);
    expect(timesOf(20_000, { ...kept, drainMs: 100 })).toMatchObject({ workMs: 17_500, graceMs: 500 });
  });

  test('a function whose time is too short says what to change', () => {
    expect(() => timesOf(3_000, kept)).toThrow(
      '3000 ms are left, 2500 ms of them for draining: give the function a longer Timeout',
    );
  });
});
