import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, Secret, type Config } from '../../../src/config';
import { limitsOf, shareOf } from '../../../src/config/limits';
import { modelQueues, queuesByModel } from '../../../src/workers/task-queues';

const cwd = mkdtempSync(join(tmpdir(), 'gate-limits-'));
const load = (file: object, env: Record<string, string> = {}): Config => {
  writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify(file));
  return loadConfig({ cwd, env: { HOME: cwd, ...env } });
};
const limits = (entries: object) => load({ models: { limits: entries } }).models.limits;
const table = limits({ m: { requestsPerMinute: 90, tokensPerMinute: 1_000, workers: 4 }, '*': { concurrency: 3 } });

test('a model has its own limits, or those of * without them', () => {
  expect(limitsOf(table, 'm')?.requestsPerMinute).toBe(90);
  const none = { requestsPerMinute: null, tokensPerMinute: null, workers: null };
  expect(limitsOf(table, 'other')).toEqual({ ...none, concurrency: 3 });
  expect(limitsOf(limits({ m: { concurrency: 1 } }), 'other')).toBeNull();
  expect(limitsOf(limits({}), 'toString')).toBeNull();
});

test('a process takes its part and never less than one', () => {
  expect(shareOf(table['m']!)).toEqual({ requestsPerMinute: 22, tokensPerMinute: 250, concurrency: null });
  expect(shareOf({ ...table['m']!, requestsPerMinute: 2 }).requestsPerMinute).toBe(1);
});

test('an entry without a limit is refused', () => {
  expect(() => limits({ m: { workers: 2 } })).toThrow('models.limits.m: set at least one of requestsPerMinute');
  expect(() => limits({ m: { concurrency: 0 } })).toThrow('models.limits.m.concurrency');
});

test('versioning is off until the file or the environment names it', () => {
  const versioning = (file: object, env = {}) => load(file, env).temporal.versioning;
  expect(versioning({})).toBeNull();
  expect(versioning({ temporal: { versioning: {} } })).toEqual({ deployment: 'gate', buildId: null });
  expect(versioning({}, { GATE_BUILD_ID: '1.2' })).toEqual({ deployment: 'gate', buildId: '1.2' });
  expect(() => versioning({}, { GATE_DEPLOYMENT: 'a.b' })).toThrow(
    "GATE_DEPLOYMENT: 'a.b' is not allowed; use letters, digits, _ and - (at most 63)",
  );
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
        limits: limits({ 'x/m:1': { concurrency: 2 } }),
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
