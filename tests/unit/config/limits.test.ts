import { limitsOf, LimitsEntry, limitsTable, shareOf, versioningOf } from '../../../src/config/limits';
import { modelQueues, queuesByModel } from '../../../src/workers/model-queues';
import { Secret, type Config } from '../../../src/config';

const table = limitsTable({
  m: { requestsPerMinute: 90, tokensPerMinute: 1_000, workers: 4 },
  '*': { concurrency: 3 },
});

test('a model has its own limits, or those of * without them', () => {
  expect(limitsOf(table, 'm')?.requestsPerMinute).toBe(90);
  expect(limitsOf(table, 'other')).toEqual({
    ...{ requestsPerMinute: null, tokensPerMinute: null, concurrency: 3, workers: null },
  });
  expect(limitsOf(limitsTable({ m: { concurrency: 1 } }), 'other')).toBeNull();
  expect(limitsOf(limitsTable(), 'toString')).toBeNull();
});

test('a process takes its part and never less than one', () => {
  expect(shareOf(table['m']!)).toEqual({ requestsPerMinute: 22, tokensPerMinute: 250, concurrency: null });
  expect(shareOf({ ...table['m']!, requestsPerMinute: 2 }).requestsPerMinute).toBe(1);
});

test('an entry without a limit is refused', () => {
  expect(LimitsEntry.safeParse({ workers: 2 }).error?.issues[0]?.message).toContain('set at least one of');
  expect(LimitsEntry.safeParse({ concurrency: 0 }).success).toBe(false);
});

test('versioning is off until the file or the environment names it', () => {
  const problems: string[] = [];
  expect(versioningOf(undefined, {}, problems)).toBeNull();
  expect(versioningOf({}, {}, problems)).toEqual({ deployment: 'gate', buildId: null });
  expect(versioningOf(undefined, { GATE_BUILD_ID: '1.2' }, problems)).toEqual({ deployment: 'gate', buildId: '1.2' });
  expect(problems).toEqual([]);
  versioningOf(undefined, { GATE_DEPLOYMENT: 'a.b' }, problems);
  expect(problems).toEqual(["GATE_DEPLOYMENT: 'a.b' is not allowed; use letters, digits, _ and - (at most 63)"]);
});

test('a queue belongs to a model at an endpoint, with a key, over a store', () => {
  const config = (baseUrl: string, directory = '/s', apiKey = 'k'): Config =>
    ({
      ...{ prices: {}, encryption: null },
      models: {
        apiKey: new Secret(apiKey),
        default: 'x/m:1',
        roles: { plan: 'other' },
        baseUrl,
        limits: limitsTable({ 'x/m:1': { concurrency: 2 } }),
      },
      store: { kind: 'directory', directory },
    }) as unknown as Config;
  const queuesOf = (each: Config, models?: readonly string[]) =>
    modelQueues(each, { modelUrl: each.models.baseUrl ?? '', recording: null }, models);
  const names = [config('http://a'), config('http://b'), config('http://a', '/t'), config('http://a', '/s', 'l')].map(
    (each) => queuesOf(each)[0]?.taskQueue,
  );
  expect(new Set(names).size).toBe(4);
  expect(names[0]).toMatch(/^gate-model-x-m-1-[0-9a-f]{8}$/);
  expect(queuesByModel(queuesOf(config('http://a'), ['other']))).toBeUndefined();
  expect(Object.keys(queuesByModel(queuesOf(config('http://a'), ['x/m:1', 'other'])) ?? {})).toEqual(['x/m:1']);
});
