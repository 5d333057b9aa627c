/** The static templates under `infra/` keep to what docs/deploying.md promises of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createProgram, withSubcommands } from '../../../src/cli/program';
import { testProcess } from '../cli/test-io';
import { parseTemplate } from '../../helpers/cloudformation';

const infra = (path: string): string => readFileSync(join(__dirname, '../../../infra', path), 'utf8');
const text = infra('lambda/template.yaml');
const template = parseTemplate(text);
const properties = (name: string): Readonly<Record<string, unknown>> => template.Resources[name]?.Properties ?? {};

test('a secret is no variable of the function, which is told where to read them', () => {
  expect(properties('Function')['Environment']).toEqual({
    Variables: {
      TEMPORAL_ADDRESS: 'Ref TemporalAddress',
      TEMPORAL_NAMESPACE: 'Ref TemporalNamespace',
      GATE_DEPLOYMENT: 'Ref DeploymentName',
      GATE_BUILD_ID: 'Ref BuildId',
      GATE_SECRETS_FROM: '${SecretStore}:${SecretPrefix}',
    },
  });
});

test('the function may read its own secrets and store, and nothing else of the account', () => {
  const policies = JSON.stringify(properties('FunctionRole')['Policies']);
  expect(policies).toContain('["InSystemsManager","ssm:GetParameters","secretsmanager:GetSecretValue"]');
  expect(policies).toContain(':parameter${SecretPrefix}*"');
  expect(policies).toContain(':secret:${SecretPrefix}*"');
  expect(policies).toContain('"arn:${AWS::Partition}:s3:::${BucketName}/${BucketPrefix}*"');
  expect(policies).not.toContain('"Resource":["*"]');
});

test('only Temporal, with the external id, assumes the invoking role, which may only invoke', () => {
  expect(properties('InvocationRole')).toMatchObject({
    AssumeRolePolicyDocument: {
      Statement: [
        {
          Effect: 'Allow',
          Principal: { AWS: 'Ref TemporalPrincipals' },
          Action: 'sts:AssumeRole',
          Condition: { StringEquals: { 'sts:ExternalId': 'Ref ExternalId' } },
        },
      ],
    },
    Policies: [{ PolicyDocument: { Statement: [{ Action: ['lambda:InvokeFunction', 'lambda:GetFunction'] }] } }],
  });
});

test('the store is private, encrypted and kept', () => {
  expect(template.Resources['Store']?.DeletionPolicy).toBe('Retain');
  const { PublicAccessBlockConfiguration } = properties('Store');
  expect(Object.values(PublicAccessBlockConfiguration as object)).toEqual([true, true, true, true]);
});

test('another build is another version, because a description cannot be updated; earlier ones are kept', () => {
  const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
  expect(template.Resources['Build']).toMatchObject({
    ...kept,
    Properties: { Description: '${DeploymentName}.${BuildId}' },
  });
  expect(template.Resources['BuildRetries']).toMatchObject({ ...kept, Properties: { MaximumRetryAttempts: 0 } });
});

test('every reference is to a parameter, a resource or a condition of the template', () => {
  const known = [template.Parameters, template.Resources].flatMap((part) => Object.keys(part));
  const named = [...text.matchAll(/!Ref ([\w:]+)|!GetAtt (\w+)|\$\{(\w+)[.}]/g)].map(([, ...names]) => names.join(''));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !name.startsWith('AWS') && !known.includes(name))).toEqual([]);
  const conditions = [...text.matchAll(/!If(?: \[|\s+- )(\w+)/g)].map(([, name]) => name);
  expect(conditions.length).toBeGreaterThan(3);
  expect(Object.keys(template.Conditions)).toEqual(expect.arrayContaining(conditions));
});

const pool = parse(infra('cloud-run/worker-pool.yaml')) as {
  readonly metadata: { readonly annotations: Record<string, string> };
  readonly spec: { readonly template: { readonly spec: { readonly containers: [{ readonly args: string[] }] } } };
};

test('a pool of Cloud Run begins with no instance', () => {
  expect(pool.metadata.annotations['run.googleapis.com/manualInstanceCount']).toBe('0');
});

const chart = infra('helm/templates/deployment.yaml');

test('a pod runs as nobody, with a read-only root, no capabilities and no token of the cluster', () => {
  for (const line of [
    'automountServiceAccountToken: false',
    'runAsNonRoot: true',
    'readOnlyRootFilesystem: true',
    'allowPrivilegeEscalation: false',
    'drop: [ALL]',
  ])
    expect(chart).toContain(line);
});

test('the chart has every value that its templates read', () => {
  const values = parse(infra('helm/values.yaml')) as Record<string, Record<string, unknown>>;
  const templates = ['deployment', 'config', 'network-policy', 'scaler'].map((name) =>
    infra(`helm/templates/${name}.yaml`),
  );
  const read = templates.flatMap((each) => [...each.matchAll(/\.Values\.(\w+)(?:\.(\w+))?/g)]);
  expect(read.length).toBeGreaterThan(10);
  for (const [, name = '', inner] of read) {
    expect(Object.keys(values)).toContain(name);
    if (inner !== undefined) expect(Object.keys(values[name] ?? {})).toContain(inner);
  }
});

test('containers run the worker with options that it has', () => {
  const { io } = testProcess();
  const worker = withSubcommands(createProgram(io, { code: 0 })).find((command) => command.name() === 'worker');
  const options = worker?.options.map(({ long }) => long);
  const { args } = pool.spec.template.spec.containers[0];
  const [, inChart = ''] = /args:\n([^]*?)\n {10}env:/.exec(chart) ?? [];
  expect(args.slice(0, 2)).toEqual(['ops', 'worker']);
  for (const flags of [args, inChart.split(/\s+/)]) {
    const named = flags.filter((one) => one.startsWith('--'));
    expect(named.length).toBeGreaterThan(2);
    expect(options).toEqual(expect.arrayContaining(named));
  }
});
