import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { checkWeb } from '../../../src/app/question-input';
import { codecEndpoint, ConfigError, loadConfig, Secret, type Config } from '../../../src/config';
import { userFolders } from '../../../src/config/folders';
import { limitsOf, shareOf } from '../../../src/config/limits';
import { embeddedPlace, storeLocation, type StoreConfig } from '../../../src/config/store';
import { modelQueues, queuesByModel } from '../../../src/workers/task-queues';

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

  const HOOK = { url: 'https://h/', secretEnv: 'HOOK' };
  const LOGIN = 'holds a user name or password; put the key into OPENAI_API_KEY';
  const BAD_KEY = 'holds a line break, a space or another character that no key has: copy the key again';
  const IN_FILE = 'holds a password; put the URL into an environment variable and name it in urlEnv';
  const COST = 'is not allowed; give US dollars above 0, or none';
  const BUDGETS = 'llmCalls, tokens, costUsd, wallMs, sqlExecutions, sqlMs, sqlRows, sqlBytes';
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
    [
      {
        webhooks: [
          HOOK,
          { ...HOOK, secretFile: 'key' },
          { ...HOOK, url: 'http://h/' },
          { ...HOOK, url: 'https://u:hunter2@h/' },
        ],
      },
      { HOOK: 'hunter2' },
      'FILE: webhooks.0: HOOK holds no secret that signs; make one with: echo whsec_$(openssl rand -base64 32)',
      'FILE: webhooks.1: set exactly one of secretEnv, secretFile',
      'FILE: webhooks.2.url: write https://, or set allowPrivate',
      'FILE: webhooks.3.url: holds a user name or password; the secret signs instead',
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

describe('store', () => {
  const cwd = folder();
  const storeFrom = (store: unknown, env: Record<string, string> = {}): StoreConfig =>
    load({ store }, { HOME: '/home/x', ...env }, cwd).store;
  const S3 = { kind: 's3', bucket: 'my-bucket', prefix: '', endpoint: null, region: null, credentials: null };

  test('without a setting the store is in the data folder of the user', () => {
    expect(storeFrom({})).toEqual({ kind: 'directory', directory: '/home/x/.local/share/gate/store' });
  });

  test('GATE_STORE is a folder or a bucket with a prefix', () => {
    expect(storeFrom({}, { GATE_STORE: 'here' })).toEqual({ kind: 'directory', directory: join(cwd, 'here') });
    expect(storeFrom({}, { GATE_STORE: 's3://my-bucket' })).toMatchObject(S3);
    expect(storeFrom({}, { GATE_STORE: 's3://my-bucket/team/gate/' })).toMatchObject({ ...S3, prefix: 'team/gate' });
  });

  test.each(['a-file', join('a-file', 'below', 'it')])('a store at %s, where a file is, is refused', (path) => {
    writeFileSync(join(cwd, 'a-file'), 'text');
    const says = `GATE_STORE: ${join(cwd, 'a-file')} is a file; a store is a folder`;
    expect(() => storeFrom({}, { GATE_STORE: path })).toThrow(says);
    expect(() => storeFrom({ directory: path }, {})).toThrow(
      /store\.directory: .*a-file is a file; a store is a folder/,
    );
  });

  test('GATE_STORE replaces bucket and prefix of the file and keeps its endpoint', () => {
    const file = { s3: { bucket: 'other', prefix: 'p', endpoint: 'http://127.0.0.1:7070', region: 'eu-west-1' } };
    expect(storeFrom(file)).toMatchObject({ bucket: 'other', prefix: 'p', region: 'eu-west-1' });
    expect(storeFrom(file, { GATE_STORE: 's3://my-bucket/q' })).toMatchObject({
      ...{ bucket: 'my-bucket', prefix: 'q' },
      endpoint: 'http://127.0.0.1:7070',
    });
  });

  test('endpoint, region, profile and key come from the variables of AWS tools', () => {
    const env = {
      GATE_STORE: 's3://my-bucket',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'hush',
    };
    const store = storeFrom({}, env);
    expect(store).toMatchObject({ endpoint: 'http://127.0.0.1:1', region: 'eu-central-1' });
    if (store.kind !== 's3') throw new Error('no bucket');
    expect(store.credentials?.reveal()).toEqual({ accessKeyId: 'id', secretAccessKey: 'hush' });
    expect(JSON.stringify(store)).not.toContain('hush');
    expect(storeLocation(store)).toBe('s3://my-bucket at http://127.0.0.1:1');
  });

  test('the file may name other variables for the key, and a profile before all variables', () => {
    const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', MINE_ID: 'c', MINE_KEY: 'd' };
    const own = storeFrom(
      { s3: { bucket: 'my-bucket', accessKeyIdEnv: 'MINE_ID', secretAccessKeyEnv: 'MINE_KEY' } },
      env,
    );
    expect(own.kind === 's3' && own.credentials?.reveal()).toEqual({ accessKeyId: 'c', secretAccessKey: 'd' });
    const profile = storeFrom({ s3: { bucket: 'my-bucket', profile: 'work' } }, env);
    expect(profile).toMatchObject({ profile: 'work', credentials: null });
  });

  test.each<[string, unknown, Record<string, string>, string]>([
    ['another scheme', {}, { GATE_STORE: 'gs://x/y' }, "GATE_STORE: 'gs://x/y' is not a store; give a folder or s3://"],
    [
      'no bucket',
      {},
      { GATE_STORE: 's3://' },
      "GATE_STORE: 's3://' is not a store; give a folder or s3://BUCKET/PREFIX",
    ],
    ['a bucket that cannot be', {}, { GATE_STORE: 's3://Big_One' }, 'use 3 to 63 lower-case letters'],
    ['both kinds', { directory: 'a', s3: { bucket: 'abc' } }, {}, 'store: set directory or s3, not both'],
    ['a key in the file', { s3: { bucket: 'abc', secretAccessKey: 'x' } }, {}, 'store.s3.secretAccessKey: unknown'],
    [
      'a variable that is not set',
      { s3: { bucket: 'abc', accessKeyIdEnv: 'NO_ID' } },
      {},
      'set the variables NO_ID and',
    ],
    ['a prefix that climbs', { s3: { bucket: 'abc', prefix: '../x' } }, {}, "store: '../x' is not a valid prefix"],
    ['an endpoint that is no URL', {}, { GATE_STORE: 's3://abc', AWS_ENDPOINT_URL_S3: 'nine' }, "'nine' is not a URL"],
    ['a negative retention', { retentionDays: -1 }, {}, 'store.retentionDays'],
    ['a password, not repeated,', {}, { GATE_STORE: 'http://me:hush@host/x' }, "'http://***@host/x' is not a store"],
  ])('%s is one line that says what is allowed', (_claim, store, env, line) => {
    expect(() => storeFrom(store, env)).toThrow(line);
  });

  test('the embedded server lies with its store, and that of a bucket in the state folder', () => {
    const homeOf = (env: Record<string, string>) => embeddedPlace(load({}, { HOME: '/home/x', ...env }, cwd)).home;
    expect(homeOf({ XDG_STATE_HOME: '/other' })).toBe('/home/x/.local/share/gate/store/.temporal');
    expect(homeOf({ XDG_DATA_HOME: '/data' })).toBe('/data/gate/store/.temporal');
    expect(homeOf({ GATE_STORE: 'here' })).toBe(join(cwd, 'here', '.temporal'));
    expect(homeOf({ GATE_STORE: 's3://my-bucket' })).toMatch(/^\/home\/x\/\.local\/state\/gate\/temporal\/\w{12}$/);
    expect(homeOf({ GATE_STORE: 's3://my-bucket/2' })).not.toBe(homeOf({ GATE_STORE: 's3://my-bucket' }));
  });
});

describe('web', () => {
  const cwd = folder();
  const webFrom = (web: unknown, env: Record<string, string> = {}): Config => load({ web }, env, cwd);

  test("a key comes from the provider's variable, another one, or a file, and does not print", () => {
    const tavily = webFrom({ provider: 'tavily' }, { TAVILY_API_KEY: 'k1' }).web;
    expect(tavily).toMatchObject({ provider: 'tavily', baseUrl: null, fix: null });
    expect(tavily?.apiKey?.reveal()).toBe('k1');
    expect(JSON.stringify(tavily)).not.toContain('k1');
    expect(webFrom({ provider: 'brave', apiKeyEnv: 'MINE' }, { MINE: 'k2' }).web?.apiKey?.reveal()).toBe('k2');
    writeFileSync(join(cwd, 'key.txt'), 'k3\n');
    expect(webFrom({ provider: 'brave', apiKeyFile: 'key.txt' }).web?.apiKey?.reveal()).toBe('k3');
  });

  test('a key that is missing is an error only when the web is asked for', () => {
    const config = webFrom({ provider: 'tavily' });
    expect(config.web?.fix).toBe('set TAVILY_API_KEY, or web.apiKeyFile in the configuration');
    expect(() => checkWeb(config, {})).not.toThrow();
    expect(() => checkWeb(config, { web: true })).toThrow('--web: tavily needs a key; set TAVILY_API_KEY');
  });

  test('how many lookups a search may make stands in the configuration, or is left to the default', () => {
    expect(webFrom({ provider: 'searxng', baseUrl: 'http://127.0.0.1:8080', lookups: 3 }).web?.lookups).toBe(3);
    expect(webFrom({ provider: 'searxng', baseUrl: 'http://127.0.0.1:8080' }).web?.lookups).toBeNull();
    expect(() => webFrom({ provider: 'tavily', lookups: 0 })).toThrow('web.lookups');
  });

  test('SearXNG needs no key, and everybody else no address', () => {
    const config = webFrom({ provider: 'searxng', baseUrl: 'http://127.0.0.1:8080' });
    expect(config.web).toMatchObject({ apiKey: null, fix: null, baseUrl: 'http://127.0.0.1:8080' });
    expect(() => checkWeb(config, { web: true })).not.toThrow();
  });

  test.each([
    [{ provider: 'searxng' }, 'web.baseUrl: SearXNG has no address of its own'],
    [{ provider: 'google' }, 'web.provider'],
    [{ provider: 'tavily', apiKey: 'inline' }, 'web.apiKey: unknown setting'],
    [{ provider: 'brave', apiKeyFile: 'nowhere.txt' }, 'web.apiKeyFile: cannot read'],
    [{ provider: 'searxng', baseUrl: 'http://u:p@127.0.0.1/' }, 'web.baseUrl: holds a password'],
    [{ provider: 'searxng', baseUrl: 'ftp://127.0.0.1/' }, 'web.baseUrl'],
  ])('%j is a mistake that is named', (web, message) => {
    expect(() => webFrom(web)).toThrow(message);
  });
});

describe('encryption', () => {
  const cwd = folder();
  const HEX = 'ab'.repeat(32);
  const BASE64 = Buffer.alloc(32, 7).toString('base64');

  const keysFrom = (encryption: unknown, env: Record<string, string> = {}): Config => load({ encryption }, env, cwd);

  test('keys come from variables and files, as base64 or hexadecimal, in the order given', () => {
    writeFileSync(join(cwd, 'old.key'), `${HEX}\n`);
    const { encryption } = keysFrom(
      {
        keys: [
          { id: 'k2', env: 'NEW_KEY' },
          { id: 'k1', file: 'old.key' },
        ],
      },
      { NEW_KEY: BASE64 },
    );
    expect(encryption?.keys.map(({ id, key }) => [id, key.reveal().toString('hex')])).toEqual([
      ['k2', '07'.repeat(32)],
      ['k1', HEX],
    ]);
    expect(JSON.stringify(encryption) + inspect(encryption, { depth: 9 })).not.toMatch(/abab|BwcH|0707/);
  });

  test('the address of the codec server is taken as it is, without the slash at its end; else it is on this machine', () => {
    const keys = [{ id: 'k1', env: 'GOOD' }];
    const of = (codecServer?: string) => keysFrom({ keys, codecServer }, { GOOD: BASE64 }).encryption!;
    expect(codecEndpoint(of('https://codec.internal/gate/'))).toBe('https://codec.internal/gate');
    expect(of()).toMatchObject({ codecServer: null });
    expect(codecEndpoint(of())).toBe('http://127.0.0.1:8834');
    expect(() => of('codec.internal:8834')).toThrow(/encryption.codecServer: give a URL, for example http:\/\/127/);
  });

  test.each([
    [{ keys: [] }, /encryption.keys: give at least one key, or leave "encryption" out/],
    [{ keys: [{ id: 'k1' }] }, /keys.0 \('k1'\): set exactly one of env, file/],
    [{ keys: [{ id: 'k1', env: 'A', file: 'b' }] }, /set exactly one of env, file/],
    [{ keys: [{ id: 'k1', key: BASE64 }] }, /encryption.keys.0.key: unknown setting/],
    [{ keys: [{ id: 'k 1', env: 'A' }] }, /encryption.keys.0.id: use letters, digits/],
    [{ keys: [{ id: 'k1', env: 'UNSET' }] }, /set the variable UNSET; make one with: openssl rand -base64 32/],
    [{ keys: [{ id: 'k1', env: 'SHORT' }] }, /SHORT is not a key of 32 bytes in base64 or hexadecimal; make one with/],
    [{ keys: [{ id: 'k1', file: 'none.key' }] }, /cannot read .*none.key \(ENOENT\)/],
    [{ keys: Array(2).fill({ id: 'k1', env: 'GOOD' }) }, /keys.1 \('k1'\): this id is given twice/],
  ])('%j is one line', (encryption, line) => {
    const [found, ...more] = problems({ encryption }, { SHORT: 'c2VjcmV0', GOOD: BASE64 });
    expect(found).toMatch(line);
    expect(found).not.toContain('c2VjcmV0');
    expect(more).toEqual([]);
  });
});

describe('limits and versions', () => {
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
});
