import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ConfigError, loadConfig } from '../../../src/config';
import { userFolders } from '../../../src/config/folders';

const folder = (): string => mkdtempSync(join(tmpdir(), 'gate-config-'));
const load = (file: unknown, env: Record<string, string> = {}, cwd = folder()) => {
  if (file !== undefined)
    writeFileSync(join(cwd, 'gate.config.json'), typeof file === 'string' ? file : JSON.stringify(file));
  return loadConfig({ cwd, env: { HOME: cwd, ...env }, platform: 'linux' });
};
const problems = (file: unknown, env: Record<string, string> = {}): string[] => {
  try {
    load(file, env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return [...(error as ConfigError).problems].map((line) => line.replace(/^.*gate\.config\.json/, 'FILE'));
  }
  throw new Error('no error');
};

describe('loadConfig', () => {
  test('without a file and variables the defaults hold, with a cost ceiling of 1 USD', () => {
    const config = load(undefined);
    expect(config).toMatchObject({
      file: null,
      method: { spec: 'fast' },
      memory: 'on',
      databases: {},
      encryption: null,
      web: null,
    });
    expect(config.temporal).toEqual({ address: null, namespace: 'default', versioning: null });
    expect(config.models).toMatchObject({ default: null, apiKey: null, baseUrl: null, limits: {} });
    const { costUsd, ...limits } = config.budgets;
    expect([costUsd, new Set(Object.values(limits))]).toEqual([1, new Set([null])]);
  });

  test('the environment wins over the file', () => {
    const config = load(
      { models: { default: 'a', roles: { plan: 'b', ground: 'c' } }, method: 'paper', budgets: { costUsd: 5 } },
      { GATE_MODEL: 'x', GATE_MODEL_PLAN: 'y', GATE_METHOD: 'thorough', GATE_MAX_COST_USD: 'none' },
    );
    expect(config.models).toMatchObject({ default: 'x', roles: { plan: 'y', ground: 'c' } });
    expect(config.method.spec).toBe('thorough');
    expect(config.budgets.costUsd).toBeNull();
  });

  test('the working directory comes before the user folder, and GATE_CONFIG before both', () => {
    const home = folder();
    mkdirSync(join(home, '.config/gate'), { recursive: true });
    writeFileSync(join(home, '.config/gate/gate.config.json'), '{"method":"thorough"}');
    const other = join(home, 'other.json');
    writeFileSync(other, '{"method":"paper"}');
    const cwd = folder();
    expect(loadConfig({ cwd, env: { HOME: home }, platform: 'linux' }).method.spec).toBe('thorough');
    writeFileSync(join(cwd, 'gate.config.json'), '{"method":"fast"}');
    expect(loadConfig({ cwd, env: { HOME: home }, platform: 'linux' }).method.spec).toBe('fast');
    expect(loadConfig({ cwd, env: { HOME: home, GATE_CONFIG: other }, platform: 'linux' }).method.spec).toBe('paper');
    expect(() => loadConfig({ cwd, env: { GATE_CONFIG: '/nowhere.json' } })).toThrow(
      'GATE_CONFIG: no file /nowhere.json',
    );
  });

  test('paths in the file are relative to the file', () => {
    const cwd = folder();
    const config = load({ databases: { a: { path: 'data/a.sqlite' } }, store: { directory: 's' } }, {}, cwd);
    expect(config.databases['a']?.address).toEqual({ kind: 'path', path: join(cwd, 'data/a.sqlite') });
    expect(config.store).toEqual({ kind: 'directory', directory: join(cwd, 's') });
  });

  const LOGIN = 'holds a user name or password; put the key into OPENAI_API_KEY';
  const BAD_KEY = 'holds a line break, a space or another character that no key has: copy the key again';
  const IN_FILE = 'holds a password; put the URL into an environment variable and name it in urlEnv';
  const COST = 'is not allowed; give US dollars above 0, or none';
  const BUDGETS = 'llmCalls, tokens, costUsd, wallMs, sqlExecutions, sqlMs, sqlRows';
  test.each<[unknown, Record<string, string>, ...string[]]>([
    [
      { database: {} },
      {},
      expect.stringMatching(/^FILE: database: unknown setting; allowed: databases, models, .*budgets$/),
    ],
    [{ budgets: { cost: 1 } }, {}, `FILE: budgets.cost: unknown setting; allowed: ${BUDGETS}`],
    [
      { method: 'react:queries=9' },
      {},
      'FILE: method: method react: queries=9 gives no value of queries in its range; write queries=2…8',
    ],
    [
      {},
      { GATE_METHOD: 'redel:depth=9' },
      'GATE_METHOD: method redel: depth=9 gives no value of depth in its range; write depth=0…8',
    ],
    [
      { method: 'x', store: { dir: 'y' } },
      {},
      'FILE: method: there is no method x: give one of fast, thorough, paper, react, redel, reforce',
      'FILE: store.dir: unknown setting; allowed: directory, s3, retentionDays',
    ],
    [
      { models: { roles: { plann: 'x' } } },
      {},
      expect.stringMatching(/roles\.plann: unknown setting; allowed: look, evaluate, plan/),
    ],
    [{ models: { temperature: 'hot' } }, {}, 'FILE: models.temperature: expected number, received string'],
    [{ models: { baseUrl: null } }, {}, expect.stringContaining('FILE: models.baseUrl: ')],
    [
      { models: { requestTimeoutMs: 3e9 } },
      {},
      'FILE: models.requestTimeoutMs: is too large; allowed: at most 86400000',
    ],
    [
      { databases: { a: { url: 'postgres://h/d', path: 'x' } } },
      {},
      'FILE: databases.a: set exactly one of url, urlEnv, urlFile, path (set: url, path)',
    ],
    [{ databases: { a: {} } }, {}, 'FILE: databases.a: set exactly one of url, urlEnv, urlFile, path (set: none)'],
    [{ databases: { a: { url: 'postgres://u:hunter2@h/d' } } }, {}, `FILE: databases.a.url: ${IN_FILE}`],
    [{ databases: { a: { url: 'postgres://u@h/d?sslpassword=hunter2' } } }, {}, `FILE: databases.a.url: ${IN_FILE}`],
    [
      undefined,
      { GATE_MODEL_PLANNER: 'x' },
      expect.stringContaining('GATE_MODEL_PLANNER: no such role; allowed: GATE_MODEL_LOOK'),
    ],
    [
      undefined,
      { OPENAI_BASE_URL: 'localhost:11434' },
      expect.stringContaining("'localhost:11434' is not an http(s) URL"),
    ],
    [
      undefined,
      { OPENAI_BASE_URL: 'u:hunter2@h' },
      expect.stringContaining('OPENAI_BASE_URL: the value is not an http(s) URL'),
    ],
    [{ models: { baseUrl: 'http://u:hunter2@h/v1' } }, {}, `FILE: models.baseUrl: ${LOGIN}`],
    [undefined, { OPENAI_BASE_URL: 'https://u:hunter2@h/v1' }, `OPENAI_BASE_URL: ${LOGIN}`],
    [
      undefined,
      { GATE_STORE: 's3://bucket', AWS_ENDPOINT_URL_S3: 'http://u:hunter2@h' },
      expect.stringContaining('the endpoint of the store holds a user name or password'),
    ],
    [
      { web: { provider: 'brave' } },
      { OPENAI_API_KEY: 'hunter2\nx', BRAVE_API_KEY: 'hunter2 x' },
      `OPENAI_API_KEY: ${BAD_KEY}`,
      `BRAVE_API_KEY: ${BAD_KEY}`,
    ],
    [undefined, { GATE_MAX_COST_USD: '1e999' }, `GATE_MAX_COST_USD: '1e999' ${COST}`],
    [undefined, { GATE_MAX_COST_USD: 'free' }, `GATE_MAX_COST_USD: 'free' ${COST}`],
    [undefined, { GATE_MEMORY: 'all' }, expect.stringMatching(/^GATE_MEMORY: 'all' is not allowed; give one of /)],
    ['{"a":', {}, expect.stringMatching(/^FILE: not JSON: [^\n]+$/)],
  ] as [unknown, Record<string, string>, ...string[]][])('%j %j', (file, env, ...lines) => {
    const found = problems(file, env);
    expect(found.sort()).toEqual([...lines].sort());
    expect(found.join()).not.toContain('hunter2');
  });

  test('a setting that is given twice is a mistake: the second would undo the first in silence', () => {
    const twice = `{"databases": {"a": {"path": "x", "access": {"deny": ["t.\\"c"]}, "access": {}}, "b": {"path": "y"},
      "b": {"path": "z"}}, "prices": {}, "pri\\u0063es": {}}`;
    expect(problems(twice)).toEqual([
      'FILE: databases.a.access: is given twice; leave one out',
      'FILE: databases.b: is given twice; leave one out',
      'FILE: prices: is given twice; leave one out',
    ]);
  });

  test('a byte order mark before the file is skipped, and a folder in its place is one line', () => {
    expect(load(`\ufeff{"method": "paper"}`).method.spec).toBe('paper');
    const cwd = folder();
    mkdirSync(join(cwd, 'gate.config.json'));
    expect(() => load(undefined, {}, cwd)).toThrow('cannot be read (EISDIR): it is a folder; a file is expected there');
  });

  test('a key is taken without the space around it', () => {
    expect(load({}, { OPENAI_API_KEY: ' sk-1\r\n' }).models.apiKey?.reveal()).toBe('sk-1');
  });

  test('no secret prints', () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'key'), 'sk-from-file\n');
    const config = load(
      { databases: { a: { urlEnv: 'A_URL' } }, models: { apiKeyFile: 'key' } },
      { A_URL: 'postgres://u:hunter2@h/d' },
      cwd,
    );
    expect(config.models.apiKey?.reveal()).toBe('sk-from-file');
    const printed = `${JSON.stringify(config)} ${inspect(config, { depth: 9 })} ${String(config.models.apiKey)}`;
    expect(printed).not.toMatch(/hunter2|sk-from-file/);
  });
});

test('an empty HOME or XDG variable is none: nothing is written into the working directory', () => {
  const unset = userFolders({}, 'linux');
  expect(userFolders({ HOME: '', XDG_CACHE_HOME: '' }, 'linux')).toEqual(unset);
  expect(unset.cache).toBe(join(userInfo().homedir, '.cache', 'gate'));
});
