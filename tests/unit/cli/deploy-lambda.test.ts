import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
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

test('the template names every secret of the configuration, and none is in it', async () => {
  const { gate, home } = project(
    { ...CONFIG, encryption: { keys: [{ id: 'k1', env: 'STORE_KEY' }] } },
    {
      ...{ SALES_URL: 'postgresql://reader:hunter2@db/sales', OPENAI_API_KEY: 'sk-hidden-hidden' },
      STORE_KEY: 'ab'.repeat(32),
    },
  );
  const { code, out } = await gate('deploy', 'lambda', '--write', 'out', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ secrets: ['SALES_URL', 'STORE_KEY', 'OPENAI_API_KEY'], deployment: 'gate' });
  const text = readFileSync(join(home, 'out', 'template.yaml'), 'utf8');
  for (const secret of ['hunter2', 'sk-hidden', 'abab']) expect(text).not.toContain(secret);
  const template = parse(text) as { Resources: { Function: { Properties: { Environment: { Variables: object } } } } };
  expect(template.Resources.Function.Properties.Environment.Variables).toMatchObject({
    GATE_STORE: 's3://gate-store/prod',
    GATE_SECRET_STORE_KEY: { 'Fn::Sub': 'ssm:${SecretPrefix}STORE_KEY' },
  });
});

test('whatever a function could not work with is said at once, one line each', async () => {
  const { gate, home } = project({
    databases: { sales: { urlFile: 'url.txt' } },
    models: { default: 'gpt-5.4-mini' },
  });
  writeFileSync(join(home, 'url.txt'), 'postgresql://reader@db/sales');
  const { code, err } = await gate('deploy', 'lambda', '--dry-run');
  expect(code).toBe(2);
  expect(err.trimEnd().split('\n')).toEqual([
    expect.stringContaining('databases.sales.urlFile: a secret in a file cannot go into the package'),
    expect.stringContaining('no Temporal: set temporal.address'),
    expect.stringContaining('the store is a folder, which functions do not share: set store.s3'),
  ]);
});

test('without a folder nothing is written unless it is said', async () => {
  const { gate } = project(CONFIG);
  expect(await gate('deploy', 'lambda')).toMatchObject({ code: 2, err: 'gate: give --write FOLDER or --dry-run\n' });
});
