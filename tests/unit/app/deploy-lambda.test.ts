import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { programFiles, settingsOf, zipped } from '../../../src/app/deploy-lambda';
import { loadConfig } from '../../../src/config';
import { testProcess } from '../cli/test-io';

const CONFIG = {
  databases: { sales: { urlEnv: 'SALES_URL' } },
  models: { default: 'gpt-5.4-mini' },
  store: { s3: { bucket: 'gate-store', prefix: 'prod' } },
  temporal: { address: 'temporal.internal:7233' },
};

function project(config: object, env: Record<string, string> = {}) {
  const process = testProcess(env);
  writeFileSync(join(process.home, 'gate.config.json'), JSON.stringify(config));
  return process;
}

const settings = ({ io }: ReturnType<typeof project>) => settingsOf(loadConfig(io), io);

test('every secret of the configuration is named, and none is in the package or the parameters', () => {
  const { secrets, files, ...rest } = settings(
    project(
      { ...CONFIG, encryption: { keys: [{ id: 'k1', env: 'STORE_KEY' }] } },
      {
        ...{ SALES_URL: 'postgresql://reader:hunter2@db/sales', OPENAI_API_KEY: 'sk-hidden-hidden' },
        ...{ STORE_KEY: 'ab'.repeat(32), TEMPORAL_API_KEY: 'temporal-hidden' },
      },
    ),
  );
  expect(secrets).toEqual(['SALES_URL', 'STORE_KEY', 'OPENAI_API_KEY', 'TEMPORAL_API_KEY']);
  const all = [JSON.stringify(rest), ...[...files.values()].map(String)].join('\n');
  for (const secret of ['hunter2', 'sk-hidden', 'abab', 'temporal-hidden']) expect(all).not.toContain(secret);
});

test('settings of this shell go with the function, and the bucket is the one in force', () => {
  const shell = {
    ...{ GATE_MODEL: 'gpt-5.4', OPENAI_BASE_URL: 'https://models.internal/v1', GATE_STORE: 's3://other/x' },
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.internal:4318',
  };
  const traceKey = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer hunter2' };
  const { files, parameters, secrets } = settings(project({ ...CONFIG, models: {} }, { ...shell, ...traceKey }));
  expect(JSON.parse(String(files.get('settings.json')))).toEqual({ environment: shell, secrets });
  expect(parameters).toMatchObject({ BucketName: 'other', BucketPrefix: 'x/' });
  // An endpoint of one's own may ask for no key.
  expect(secrets).toEqual(['SALES_URL', 'OTEL_EXPORTER_OTLP_HEADERS']);
});

test('an SQLite file is in the package under the path that its configuration names', () => {
  const process = project({ ...CONFIG, databases: { shop: { path: './data/shop.db', id: 'shop' } } });
  mkdirSync(join(process.home, 'data'));
  writeFileSync(join(process.home, 'data', 'shop.db'), 'rows');
  const { files } = settings(process);
  expect(String(files.get('databases/shop.sqlite'))).toBe('rows');
  expect(JSON.parse(String(files.get('gate.config.json')))).toMatchObject({
    databases: { shop: { path: 'databases/shop.sqlite', id: 'shop' } },
  });
});

test('whatever a function could not work with is said at once, one line each', async () => {
  const { gate, home } = project({
    databases: { sales: { urlFile: 'url.txt' }, shop: { path: 'shop.db' } },
    models: { default: 'gpt-5.4-mini' },
  });
  writeFileSync(join(home, 'url.txt'), 'postgresql://reader@db/sales');
  const { code, err } = await gate('ops', 'deploy', 'lambda', 'out');
  expect(code).toBe(2);
  expect(err.trimEnd().split('\n')).toEqual([
    expect.stringContaining('databases.sales.urlFile: a secret in a file cannot go into a function'),
    expect.stringContaining('no Temporal: set temporal.address'),
    expect.stringContaining('the store is a folder, which functions do not share: set store.s3'),
    expect.stringContaining('databases.shop: its file goes into the package, so that its path changes: give it an id'),
  ]);
});

/** A folder with these files; a value that is no text is a package.json. */
function tree(files: Readonly<Record<string, string | object>>): string {
  const root = mkdtempSync(join(tmpdir(), 'gate-lambda-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return root;
}

const program = (root: string) => ({
  [`${root}package.json`]: {
    name: 'gate-sql',
    dependencies: { libsql: '1', core: '1' },
    devDependencies: { jest: '1' },
    peerDependencies: { mysql2: '1', deep: '1' },
  },
  [`${root}dist/program/lambda.js`]: 'exports.handler = 1;',
  [`${root}dist/program/lambda.js.map`]: '{}',
  [`${root}dist/workflow-bundle.js`]: 'bundle',
  [`${root}.env`]: 'OPENAI_API_KEY=sk-hidden',
});
const MODULES = {
  'node_modules/libsql/package.json': {
    ...{
      name: 'libsql',
      optionalDependencies: { '@libsql/linux-x64-gnu': '1', '@libsql/linux-x64-musl': '1', win: '1' },
    },
  },
  'node_modules/@libsql/linux-x64-gnu/package.json': { name: '@libsql/linux-x64-gnu', os: ['linux'], cpu: ['x64'] },
  'node_modules/@libsql/linux-x64-gnu/index.node': 'native',
  'node_modules/@libsql/linux-x64-musl/package.json': { name: '@libsql/linux-x64-musl', os: ['linux'], cpu: ['x64'] },
  'node_modules/win/package.json': { name: 'win', os: ['win32'] },
  'node_modules/core/package.json': { name: 'core', dependencies: { '@temporalio/core-bridge': '1', deep: '2' } },
  'node_modules/core/node_modules/deep/package.json': { name: 'deep', version: '2.0.0' },
  'node_modules/core/node_modules/deep/index.d.ts': 'types',
  'node_modules/deep/package.json': { name: 'deep', version: '1.0.0' },
  'node_modules/@temporalio/core-bridge/package.json': { name: '@temporalio/core-bridge' },
  'node_modules/@temporalio/core-bridge/releases/x86_64-unknown-linux-gnu/index.node': 'x64',
  'node_modules/@temporalio/core-bridge/releases/aarch64-unknown-linux-gnu/index.node': 'arm64',
  'node_modules/jest/package.json': { name: 'jest' },
  'node_modules/mysql2/package.json': { name: 'mysql2' },
};

test('holds the program and what it needs on one platform, and nothing else', () => {
  const files = programFiles(tree({ ...program(''), ...MODULES }), 'x64', []);
  expect([...files.keys()].sort()).toEqual([
    'dist/program/lambda.js',
    'dist/workflow-bundle.js',
    'index.js',
    'node_modules/@libsql/linux-x64-gnu/index.node',
    'node_modules/@libsql/linux-x64-gnu/package.json',
    'node_modules/@temporalio/core-bridge/package.json',
    'node_modules/@temporalio/core-bridge/releases/x86_64-unknown-linux-gnu/index.node',
    'node_modules/core/node_modules/deep/package.json',
    'node_modules/core/package.json',
    'node_modules/libsql/package.json',
    'package.json',
  ]);
});

test('holds the driver of a database that is configured', () => {
  const files = programFiles(tree({ ...program(''), ...MODULES }), 'x64', ['mysql2']);
  expect([...files.keys()]).toContain('node_modules/mysql2/package.json');
});

test('an installed package is found beside its dependencies, and the entry leads to it with its settings', () => {
  const root = tree({ ...program('node_modules/gate-sql/'), ...MODULES });
  const files = programFiles(join(root, 'node_modules/gate-sql'), 'x64', []);
  const entry = String(files.get('index.js'));
  expect(entry).toContain('require("./node_modules/gate-sql/dist/program/lambda.js").handler');
  const env = { GATE_STORE: 's3://given/', GATE_SECRETS_FROM: 'ssm:/gate/' };
  const settingsJson = { environment: { GATE_MODEL: 'small', GATE_STORE: 's3://b/' }, secrets: ['OPENAI_API_KEY'] };
  runInNewContext(entry, { process: { env }, exports: {}, require: () => settingsJson });
  expect(env).toMatchObject({
    GATE_MODEL: 'small',
    GATE_STORE: 's3://given/',
    GATE_SECRET_OPENAI_API_KEY: 'ssm:/gate/OPENAI_API_KEY',
  });
  expect([...files.keys()]).toContain('node_modules/libsql/package.json');
});

test('what is not installed for the platform, or not at all, is said with the command that installs it', () => {
  const root = tree({ ...program(''), ...MODULES });
  expect(() => programFiles(root, 'arm64', [])).toThrow(
    '@libsql/linux-arm64-gnu is not installed: npm install --no-save --force --cpu=arm64 --os=linux --libc=glibc @libsql/linux-arm64-gnu',
  );
  expect(() => programFiles(root, 'x64', ['snowflake-sdk'])).toThrow('snowflake-sdk is not installed');
});

test('the same contents are the same bytes in any order; a package over the limit is one line that says what to change', async () => {
  const [a, b] = [
    ['a.js', Buffer.from('1')],
    ['b/c.js', Buffer.from('2')],
  ] as const;
  const [first, second] = await Promise.all([zipped(new Map([a, b])), zipped(new Map([b, a]))]);
  expect(first.equals(second)).toBe(true);
  const large = new Map([['databases/shop.sqlite', Buffer.alloc(3 * 1024 * 1024)]]);
  await expect(zipped(large, 2 * 1024 * 1024)).rejects.toThrow(
    'the package has 3.0 MB unzipped, and AWS Lambda takes 2.0 MB: leave SQLite files out, or run a container',
  );
});
