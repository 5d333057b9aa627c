/**
 * The package as a user gets it: packed, installed by npm into an empty folder, and run there. Takes half a minute on an
 * idle machine, most of it npm; needs the registry that npm is set to.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackage, summary } from '../../scripts/package-size.cjs';
import { ROOT } from '../helpers/shared-data';
import { testFolder } from '../helpers/temporal';

jest.setTimeout(300_000);

const run = promisify(execFile);
const installed = (() => {
  let made: ReturnType<typeof installPackage> | null = null;
  return () => (made ??= installPackage(testFolder()));
})();

const NEEDED = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'dist/program/gate.js',
  'dist/program/gate-bench.js',
  'dist/program/index.js',
  'dist/program/index.d.ts',
  'dist/program/child.js',
  'dist/program/LICENSES.txt',
  'dist/workflow-bundle.js',
  'examples/sprint/sprint.sql',
  'examples/sprint/recording.jsonl',
  'docs/cli.md',
  'infra/temporal-server/main.go',
  'infra/temporal-server/go.sum',
];

test('the package holds what a user needs, and no bench, test, source or source map', () => {
  const { files } = installed();
  process.stdout.write(`${summary(installed())}\n`);
  expect(NEEDED.filter((file) => !files.includes(file))).toEqual([]);
  const allowed =
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/.*\.(md|json)|examples\/.*\.(md|sql|jsonl)|dist\/workflow-bundle\.js|dist\/program\/(?:index\.d\.ts|[^/]+\.(?:js|json|txt|wasm))|infra\/lambda\/template\.yaml|infra\/temporal-server\/(main\.go|go\.(mod|sum)))$/;
  expect(
    files.filter((file) => !allowed.test(file) || /simulated-model|(^|\/)(bench|tests|scripts)\//.test(file)),
  ).toEqual([]);
});

test('the workflow bundle carries no source map and no text of the sources', () => {
  const bundle = readFileSync(
    join(installed().folder, 'node_modules', 'gate-sql', 'dist', 'workflow-bundle.js'),
    'utf8',
  );
  const encoded = bundle.slice(bundle.lastIndexOf('base64,') + 'base64,'.length);
  // Temporal's worker wants one to be there: an empty one.
  expect(JSON.parse(Buffer.from(encoded, 'base64').toString())).toMatchObject({ sources: [], mappings: '' });
  expect(bundle.length).toBeLessThan(1_000_000);
});

test('installed into an empty folder, npx gate demo answers with its proof', async () => {
  const { folder } = installed();
  const env = {
    ...{ PATH: process.env['PATH'], HOME: join(folder, 'home'), NO_COLOR: '1', CI: '1' },
    TEMPORAL_ADDRESS: process.env['GATE_TEST_TEMPORAL'],
  };
  const { stdout, stderr } = await run('npx', ['--no-install', 'gate', 'demo'], { cwd: folder, env });
  expect(stdout).toMatch(/^Answer +In 4 of 18 sprint events/m);
  expect(stdout).toMatch(/op_answer +proved/);
  expect(stderr).not.toMatch(/bundl|building|error/i);
  for (const name of ['tsx', 'typescript', 'jest', 'snowflake-sdk'])
    expect([name, existsSync(join(folder, 'node_modules', name))]).toEqual([name, false]);
});

test('a strict TypeScript project compiles with its types, and asks with what npm installed', async () => {
  const { folder } = installed();
  const compilerOptions = { strict: true, skipLibCheck: false, types: [], target: 'es2022', module: 'nodenext' };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.mts'] }));
  writeFileSync(
    join(folder, 'use.mts'),
    `import { Gate, type AnswerRecord } from 'gate-sql';
const gate = await Gate.open({ config: {}, env: {} });
const ask = (text: string): Promise<AnswerRecord> => gate.ask(text).result();
await ask('How many?').catch(({ code }: { readonly code: string }) => { if (code !== 'usage') throw new Error(code); });
await gate.close();
`,
  );
  await run(process.execPath, [join(ROOT, 'node_modules', '.bin', 'tsc'), '-p', folder]);
  const { stdout, stderr } = await run(process.execPath, ['use.mjs'], { cwd: folder });
  expect([stdout, stderr]).toEqual(['', '']);
});

test('what the package tells npm is whole, and names no other place than itself', () => {
  const read = readFileSync(join(installed().folder, 'node_modules', 'gate-sql', 'package.json'), 'utf8');
  const about = JSON.parse(read) as Record<string, unknown>;
  expect(about).toMatchObject({
    name: 'gate-sql',
    license: 'Apache-2.0',
    bin: { gate: 'dist/program/gate.js', 'gate-bench': 'dist/program/gate-bench.js' },
    keywords: expect.arrayContaining(['text-to-sql', 'temporal']) as string[],
    exports: {
      '.': { types: './dist/program/index.d.ts', default: './dist/program/index.js' },
      './package.json': './package.json',
    },
  });
  expect(about).not.toHaveProperty('private');
  // Native code, and what loads files from beside itself; the program holds the rest (`scripts/build.cjs`).
  expect(Object.keys(about['dependencies'] as object)).toEqual(['@temporalio/core-bridge', 'libpg-query', 'libsql']);
  expect(about['engines']).toEqual({ node: '^20.19.0 || >=22.12.0' });
});
