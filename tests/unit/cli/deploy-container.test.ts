import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { testProcess, type TestProcess } from './test-io';

const IMAGE = `registry.example/gate@sha256:${'a'.repeat(64)}`;
const SECRETS = { SALES_URL: 'postgresql://reader:hunter2@db.internal:6543/sales', OPENAI_API_KEY: 'sk-hunter2' };

function configured(config: object = {}, env: Record<string, string> = {}): TestProcess {
  const process = testProcess({ ...SECRETS, TEMPORAL_ADDRESS: 'temporal.internal:7233', ...env });
  const whole = {
    databases: { sales: { id: 'sales', urlEnv: 'SALES_URL' } },
    models: { default: 'gpt-5.4-mini', limits: { 'gpt-5.4-mini': { requestsPerMinute: 60 } } },
    store: { s3: { bucket: 'gate', prefix: 'store' } },
    ...config,
  };
  writeFileSync(join(process.home, 'gate.config.json'), JSON.stringify(whole));
  return process;
}

function filesBelow(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

async function written(platform: string): Promise<Record<string, string>> {
  const process = configured(
    {},
    {
      ...{ TEMPORAL_API_KEY: 'key-hunter2', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.internal:4318' },
    },
  );
  const { code, out, err } = await process.gate('deploy', platform, '--image', IMAGE, '--write', 'out');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const files = filesBelow(join(process.home, 'out'));
  expect(JSON.stringify(files) + out).not.toContain('hunter2');
  return files;
}

test('the values of the chart name the secrets, a group for each model with limits, and the ports', async () => {
  const files = await written('kubernetes');
  expect(parse(files['Chart.yaml'] ?? '')).toMatchObject({ apiVersion: 'v2', name: 'gate' });
  expect(parse(files['values.yaml'] ?? '')).toMatchObject({
    image: IMAGE,
    secrets: { keys: ['SALES_URL', 'OPENAI_API_KEY', 'TEMPORAL_API_KEY'] },
    environment: { GATE_STORE: 's3://gate/store', TEMPORAL_ADDRESS: 'temporal.internal:7233', TEMPORAL_TLS: 'true' },
    queueGroups: [{ serve: 'workflow' }, { name: 'model-1-gpt-5-4-mini', serve: 'model:gpt-5.4-mini' }],
    egress: { ports: [443, 4318, 6543, 7233] },
  });
  expect(JSON.parse(files['gate.config.json'] ?? '')).toHaveProperty('databases.sales');
});

test('a worker pool has no instance, its secrets by reference, and the configuration mounted', async () => {
  const pool = parse((await written('cloud-run'))['worker-pool-workflow.yaml'] ?? '') as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly object[] } } };
  };
  expect(pool).toMatchObject({
    kind: 'WorkerPool',
    metadata: { annotations: { 'run.googleapis.com/manualInstanceCount': '0' } },
  });
  expect(pool.spec.template.spec.containers).toMatchObject([
    {
      image: IMAGE,
      args: ['worker', '--serve', 'workflow', '--grace', '25', '--health-port', '8080', '--health-host', '0.0.0.0'],
      env: expect.arrayContaining([
        { name: 'SALES_URL', valueFrom: { secretKeyRef: { name: 'SALES_URL', key: 'latest' } } },
        { name: 'GATE_CONFIG', value: '/etc/gate/gate.config.json' },
      ]) as unknown,
    },
  ]);
});

test('what a container could not work with is refused, a line each, and nothing is written', async () => {
  const process = configured({ databases: { shop: { path: 'shop.sqlite' } }, store: { directory: 'store' } });
  mkdirSync(join(process.home, 'store'));
  const { code, err } = await process.gate('deploy', 'kubernetes', '--image', IMAGE, '--write', 'out');
  expect(code).toBe(2);
  expect(err).toContain('databases.shop: an SQLite file is not in the container');
  expect(err).toContain('the store is a folder, which containers do not share: set store.s3');
  expect(readdirSync(process.home)).not.toContain('out');
});
