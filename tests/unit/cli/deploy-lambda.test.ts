import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsOf } from '../../../src/cli/deploy-lambda';
import { loadConfig } from '../../../src/config';
import { lambdaTemplate } from '../../../src/deploy/lambda-template';
import { testProcess } from './test-io';

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

const settings = ({ io }: ReturnType<typeof project>) =>
  settingsOf(loadConfig(io), { arch: 'x64', secrets: 'ssm' }, io);

test('every secret of the configuration is named, and none is in the package or the template', () => {
  const { plan, files } = settings(
    project(
      { ...CONFIG, encryption: { keys: [{ id: 'k1', env: 'STORE_KEY' }] } },
      {
        ...{ SALES_URL: 'postgresql://reader:hunter2@db/sales', OPENAI_API_KEY: 'sk-hidden-hidden' },
        ...{ STORE_KEY: 'ab'.repeat(32), TEMPORAL_API_KEY: 'temporal-hidden' },
      },
    ),
  );
  expect(plan.secrets).toEqual(['SALES_URL', 'STORE_KEY', 'OPENAI_API_KEY', 'TEMPORAL_API_KEY']);
  const template = JSON.stringify(lambdaTemplate({ ...plan, deployment: 'gate', buildId: '1' }));
  const all = [template, ...files.map(({ content }) => content().toString())].join('\n');
  for (const secret of ['hunter2', 'sk-hidden', 'abab', 'temporal-hidden']) expect(all).not.toContain(secret);
});

test('settings of this shell go with the function, and the bucket is the one in force', () => {
  const shell = {
    ...{ GATE_MODEL: 'gpt-5.4', OPENAI_BASE_URL: 'https://models.internal/v1', GATE_STORE: 's3://other/x' },
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.internal:4318',
  };
  const traceKey = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer hunter2' };
  const { plan } = settings(project({ ...CONFIG, models: {} }, { ...shell, ...traceKey }));
  expect(plan.environment).toEqual(shell);
  expect(plan.bucket).toEqual({ name: 'other', prefix: 'x' });
  // An endpoint of one's own may ask for no key.
  expect(plan.secrets).toEqual(['SALES_URL', 'OTEL_EXPORTER_OTLP_HEADERS']);
});

test('an SQLite file is in the package under the path that its configuration names', () => {
  const process = project({ ...CONFIG, databases: { shop: { path: './data/shop.db', id: 'shop' } } });
  mkdirSync(join(process.home, 'data'));
  writeFileSync(join(process.home, 'data', 'shop.db'), 'rows');
  const { files } = settings(process);
  const content = (path: string) =>
    files
      .find((file) => file.path === path)
      ?.content()
      .toString();
  expect(content('databases/shop.sqlite')).toBe('rows');
  expect(JSON.parse(content('gate.config.json') ?? '')).toMatchObject({
    databases: { shop: { path: 'databases/shop.sqlite', id: 'shop' } },
  });
});

test('whatever a function could not work with is said at once, one line each', async () => {
  const { gate, home } = project({
    databases: { sales: { urlFile: 'url.txt' }, shop: { path: 'shop.db' } },
    models: { default: 'gpt-5.4-mini' },
  });
  writeFileSync(join(home, 'url.txt'), 'postgresql://reader@db/sales');
  const { code, err } = await gate('deploy', 'lambda', '--dry-run');
  expect(code).toBe(2);
  expect(err.trimEnd().split('\n')).toEqual([
    expect.stringContaining('databases.sales.urlFile: a secret in a file cannot go into a function'),
    expect.stringContaining('no Temporal: set temporal.address'),
    expect.stringContaining('the store is a folder, which functions do not share: set store.s3'),
    expect.stringContaining('databases.shop: its file goes into the package, so that its path changes: give it an id'),
  ]);
});

test('without a folder nothing is written unless it is said', async () => {
  const { gate } = project(CONFIG);
  expect(await gate('deploy', 'lambda')).toMatchObject({ code: 2, err: 'gate: give --write FOLDER or --dry-run\n' });
});
