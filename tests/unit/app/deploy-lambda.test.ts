import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsOf } from '../../../src/app/deploy-lambda';
import { providerProblem } from '../../../src/app/deploy-register';
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
  const all = [JSON.stringify(rest), ...files.map(({ content }) => content().toString())].join('\n');
  for (const secret of ['hunter2', 'sk-hidden', 'abab', 'temporal-hidden']) expect(all).not.toContain(secret);
});

test('settings of this shell go with the function, and the bucket is the one in force', () => {
  const shell = {
    ...{ GATE_MODEL: 'gpt-5.4', OPENAI_BASE_URL: 'https://models.internal/v1', GATE_STORE: 's3://other/x' },
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.internal:4318',
  };
  const traceKey = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer hunter2' };
  const { environment, parameters, secrets } = settings(project({ ...CONFIG, models: {} }, { ...shell, ...traceKey }));
  expect(environment).toEqual(shell);
  expect(parameters).toMatchObject({ BucketName: 'other', BucketPrefix: 'x/' });
  // An endpoint of one's own may ask for no key.
  expect(secrets).toEqual(['SALES_URL', 'OTEL_EXPORTER_OTLP_HEADERS']);
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
  const { code, err } = await gate('ops', 'deploy', 'lambda', 'out');
  expect(code).toBe(2);
  expect(err.trimEnd().split('\n')).toEqual([
    expect.stringContaining('databases.sales.urlFile: a secret in a file cannot go into a function'),
    expect.stringContaining('no Temporal: set temporal.address'),
    expect.stringContaining('the store is a folder, which functions do not share: set store.s3'),
    expect.stringContaining('databases.shop: its file goes into the package, so that its path changes: give it an id'),
  ]);
});

const USER = 'arn:aws:sts::1:assumed-role/temporal/session';

// As Temporal 1.32 and the AWS SDK for Go write them.
test.each([
  [
    "all: Could not instantiate compute provider with type 'k8s'",
    'the server allows no provider k8s: in its dynamic configuration, set workercontroller.enabled and add k8s to workercontroller.compute_providers.enabled and build it with -tags computeprovider_k8s',
  ],
  [
    `all: cannot connect to the compute provider: failed to assume role arn:aws:iam::1:role/invoke: operation error STS: AssumeRole, https response error StatusCode: 403, RequestID: r, api error AccessDenied: User: ${USER} is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::1:role/invoke`,
    `${USER} may not assume arn:aws:iam::1:role/invoke: allow it in the role's trust policy, with the external id that was given`,
  ],
  [
    `all: cannot access the compute resource: operation error Lambda: GetFunction, https response error StatusCode: 403, RequestID: r, AccessDeniedException: User: ${USER} is not authorized to perform: lambda:GetFunction on resource: arn:aws:lambda:eu-west-1:1:function:gate:1 because no identity-based policy allows the lambda:GetFunction action`,
    `${USER} may not lambda:GetFunction on arn:aws:lambda:eu-west-1:1:function:gate:1: allow it in the role's policy`,
  ],
  [
    'all: AWS Lambda compute provider requires "role_external_id" to be configured',
    'the server requires role_external_id: give --set role_external_id=…',
  ],
  ['all: project not found in config', 'the server refuses these settings: project not found in config'],
])('what a server says of %s is one line with what to change', (text, line) => {
  expect(providerProblem(text)).toBe(line);
});
