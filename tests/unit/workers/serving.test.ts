import { hostname } from 'node:os';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config';
import { resolveDatabase } from '../../../src/config/databases';
import { differenceText, modelFingerprint, servingOf, type Serving } from '../../../src/workers/serving';

const ENDPOINT = 'https://models.example/v1';
const KEY = 'sk-0123456789abcdef';
const URL_WITH_PASSWORD = 'postgresql://reader:hunter2@db.example/sales';

interface Changes {
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: object;
  readonly database?: object;
  readonly modelUrl?: string;
  readonly recording?: string;
}

function setup({ env, file, database }: Changes) {
  const cwd = mkdtempSync(join(tmpdir(), 'gate-serving-'));
  const sales = { urlEnv: 'SALES_URL', access: { deny: ['a', 'b'] }, ...database };
  writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify({ databases: { sales }, ...file }));
  const common = { HOME: cwd, GATE_STORE: '/srv/store', SALES_URL: URL_WITH_PASSWORD };
  return { cwd, env: { ...common, OPENAI_BASE_URL: ENDPOINT, OPENAI_API_KEY: KEY, ...env } };
}

function serving(changes: Changes = {}): Serving {
  const source = setup(changes);
  const config = loadConfig(source);
  const model = { modelUrl: changes.modelUrl ?? config.models.baseUrl ?? 'none', recording: changes.recording ?? null };
  return servingOf(config, model, [resolveDatabase(config, 'sales', source.cwd)]);
}

const same = serving();

test('the same configuration has the same fingerprint, in another folder and with its lists in another order', () => {
  expect(serving().fingerprint).toBe(same.fingerprint);
  expect(serving({ database: { access: { deny: ['b', 'a'] } } }).fingerprint).toBe(same.fingerprint);
  expect(same.fingerprint).toMatch(/^[0-9a-f]{12}$/);
});

test('what the workflow carries is no part of it', () => {
  const file = { models: { default: 'm', roles: { plan: 'p' } }, method: 'thorough', budgets: { costUsd: 5 } };
  expect(serving({ file }).fingerprint).toBe(same.fingerprint);
});

test.each<[string, Changes]>([
  ['the model endpoint', { env: { OPENAI_BASE_URL: 'https://other.example/v1' } }],
  ['a parameter of the model endpoint', { env: { OPENAI_BASE_URL: `${ENDPOINT}?tenant=2` } }],
  ['the key of the model endpoint: another bill', { env: { OPENAI_API_KEY: 'sk-another' } }],
  ['the time limit of a request', { file: { models: { requestTimeoutMs: 1_000 } } }],
  ['prices, by which a cost ceiling holds', { file: { prices: { m: { inputPerMillion: 1, outputPerMillion: 1 } } } }],
  ['which models have limits', { file: { models: { limits: { m: { concurrency: 1 } } } } }],
  ['the store', { env: { GATE_STORE: 's3://bucket/gate' } }],
  ['encryption', { env: { K: 'a'.repeat(64) }, file: { encryption: { keys: [{ id: 'k', env: 'K' }] } } }],
  ['the web provider', { file: { web: { provider: 'searxng', baseUrl: 'https://web.example' } } }],
  ['the address of the database', { env: { SALES_URL: 'postgresql://reader:hunter2@db2.example/sales' } }],
  ['the login of the database', { env: { SALES_URL: 'postgresql://admin:hunter2@db.example/sales' } }],
  ['the role', { database: { role: 'analyst' } }],
  ['the schemas', { database: { schemas: ['s'] } }],
  ['the limits of the database', { database: { maxPlanCost: 5 } }],
  ['the access lists', { database: { access: { deny: ['a'] } } }],
  ['a recording', { recording: '/r.jsonl' }],
])('another fingerprint: %s', (_what, changes) => {
  expect(serving(changes).fingerprint).not.toBe(same.fingerprint);
});

test('numbers of limits and the keys of the ring may change one process at a time', () => {
  const limits = (concurrency: number) => serving({ file: { models: { limits: { m: { concurrency } } } } }).fingerprint;
  expect(limits(1)).toBe(limits(2));
  const ring = (ids: readonly string[]) =>
    serving({ env: { K: 'a'.repeat(64) }, file: { encryption: { keys: ids.map((id) => ({ id, env: 'K' })) } } });
  expect(ring(['new', 'old']).fingerprint).toBe(ring(['old']).fingerprint);
});

test('an id of the configuration stands for addresses that differ from machine to machine', () => {
  const at = (host: string) =>
    serving({ database: { id: 'sales-prod' }, env: { SALES_URL: `postgresql://reader@${host}/sales` } }).fingerprint;
  expect(at('10.0.0.5')).toBe(at('localhost:6432'));
});

test('only an address of this machine names the machine', () => {
  expect(JSON.stringify(same.parts)).not.toContain(hostname());
  const local = serving({
    env: { OPENAI_BASE_URL: 'http://localhost:11434/v1', SALES_URL: 'postgresql://localhost/s' },
  });
  expect(local.parts['model endpoint']).toBe(`http://localhost:11434/v1 on ${hostname()}`);
  expect(local.parts['database']).toContain(`on ${hostname()}`);
});

test('it holds no secret', () => {
  const env = { OPENAI_BASE_URL: `${ENDPOINT}?api-key=hunter3` };
  const text = JSON.stringify(serving({ env, file: { web: { provider: 'tavily', apiKeyEnv: 'OPENAI_API_KEY' } } }));
  for (const secret of [KEY, 'hunter2', 'hunter3']) expect(text).not.toContain(secret);
});

test('a model’s own queue is served whatever the databases, and with no other endpoint, key or store', () => {
  const of = (changes: Changes): string => {
    const config = loadConfig(setup(changes));
    return modelFingerprint(config, { modelUrl: config.models.baseUrl ?? '', recording: null });
  };
  expect(of({ database: { role: 'analyst' } })).toBe(of({}));
  const others: NonNullable<Changes['env']>[] = [
    { OPENAI_BASE_URL: 'https://b.example' },
    { OPENAI_API_KEY: 'sk-b' },
    { GATE_STORE: '/b' },
  ];
  expect(new Set([of({}), ...others.map((env) => of({ env }))]).size).toBe(4);
});

describe('the line that names a difference', () => {
  const from = (changes: Changes): string => differenceText(same.parts, serving(changes).parts);

  test('tells what can be told, of both', () => {
    expect(from({ env: { OPENAI_BASE_URL: 'http://other.example/v1', GATE_STORE: '/other' } })).toBe(
      'with model endpoint https://models.example/v1, store /srv/store; this configuration names http://other.example/v1, /other',
    );
  });

  test('names what cannot be shown', () => {
    expect(from({ env: { OPENAI_API_KEY: 'sk-b' } })).toBe(
      'with other key of the model endpoint than this configuration',
    );
    expect(from({ database: { access: {} } })).toBe('with other access lists than this configuration');
  });

  test('says where a setting is missing', () => {
    expect(from({ database: { role: 'analyst' } })).toContain('role none');
  });
});
