import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { digestOf, programFiles, text, zipped } from '../../../../src/workers/serverless/function-package';

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
  },
  [`${root}dist/src/workers/serverless/lambda.js`]: 'exports.handler = 1;',
  [`${root}dist/src/workers/serverless/lambda.js.map`]: '{}',
  [`${root}dist/workflow-bundle.js`]: 'bundle',
  [`${root}dist/workflow-bundle.js.stamp`]: 'stamp',
  [`${root}.env`]: 'OPENAI_API_KEY=sk-hidden',
});
const SETTINGS = { environment: { GATE_MODEL: 'small', GATE_STORE: 's3://b/' }, secrets: ['OPENAI_API_KEY'] };
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
};

test('holds the program and what it needs on one platform, and nothing else', () => {
  const files = programFiles(tree({ ...program(''), ...MODULES }), 'x64', SETTINGS, []);
  expect(files.map(({ path }) => path).sort()).toEqual([
    'dist/src/workers/serverless/lambda.js',
    'dist/workflow-bundle.js',
    'dist/workflow-bundle.js.stamp',
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

test('an installed package is found beside its dependencies, and the entry leads to it with its settings', () => {
  const root = tree({ ...program('node_modules/gate-sql/'), ...MODULES });
  const files = programFiles(join(root, 'node_modules/gate-sql'), 'x64', SETTINGS, []);
  const entry = files
    .find(({ path }) => path === 'index.js')
    ?.content()
    .toString();
  expect(entry).toContain('require("./node_modules/gate-sql/dist/src/workers/serverless/lambda.js").handler');
  const env = { GATE_STORE: 's3://given/', GATE_SECRETS_FROM: 'ssm:/gate/' };
  runInNewContext(entry ?? '', { process: { env }, exports: {}, require: () => ({}) });
  expect(env).toMatchObject({
    GATE_MODEL: 'small',
    GATE_STORE: 's3://given/',
    GATE_SECRET_OPENAI_API_KEY: 'ssm:/gate/OPENAI_API_KEY',
  });
  expect(files.map(({ path }) => path)).toContain('node_modules/libsql/package.json');
});

test('what is not installed for the platform, or not at all, is said with the command that installs it', () => {
  const root = tree({ ...program(''), ...MODULES });
  expect(() => programFiles(root, 'arm64', SETTINGS, [])).toThrow(
    '@libsql/linux-arm64-gnu is not installed: npm install --no-save --force --cpu=arm64 --os=linux --libc=glibc @libsql/linux-arm64-gnu',
  );
  expect(() => programFiles(root, 'x64', SETTINGS, ['snowflake-sdk'])).toThrow('snowflake-sdk is not installed');
});

test('the same contents are the same bytes in any order, and other contents another build', async () => {
  const [a, b] = [text('a.js', '1'), text('b/c.js', '2')];
  const [first, second] = await Promise.all([zipped([a, b]), zipped([b, a])]);
  expect(first.zip.equals(second.zip)).toBe(true);
  expect(first).toMatchObject({ files: 2, unzippedBytes: 2 });
  expect(digestOf([a, b])).toBe(digestOf([b, a]));
  expect(digestOf([a, text('b/c.js', '3')])).not.toBe(digestOf([a, b]));
});

test('a package over the limit is one line that says what to change', async () => {
  const large = text('databases/shop.sqlite', 'x'.repeat(3 * 1024 * 1024));
  await expect(zipped([large], 2 * 1024 * 1024)).rejects.toThrow(
    'the package has 3.0 MB unzipped, and AWS Lambda takes 2.0 MB: leave SQLite files out, or run a container',
  );
});
