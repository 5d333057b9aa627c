import { lambdaTemplate, type LambdaPlan } from '../../../src/deploy/lambda-template';

const PLAN: LambdaPlan = {
  ...{ architecture: 'arm64', deployment: 'gate', buildId: '0.1.0-4f1c2a9be012', secretStore: 'ssm' },
  temporal: { address: 'temporal.internal:7233', namespace: 'gate' },
  bucket: { name: 'gate-store', prefix: 'prod' },
  secrets: ['OPENAI_API_KEY', 'SALES_URL'],
  environment: { GATE_MODEL: 'gpt-5.4-mini' },
};

const of = (plan: Partial<LambdaPlan> = {}) => lambdaTemplate({ ...PLAN, ...plan });
const json = (part: unknown) => JSON.stringify(part);

test('a secret is an environment variable only by its name', () => {
  const { Variables } = of().Resources.Function.Properties.Environment;
  expect(Variables).toMatchObject({
    GATE_MODEL: 'gpt-5.4-mini',
    GATE_SECRET_OPENAI_API_KEY: { 'Fn::Sub': 'ssm:${SecretPrefix}OPENAI_API_KEY' },
    GATE_SECRET_SALES_URL: { 'Fn::Sub': 'ssm:${SecretPrefix}SALES_URL' },
    GATE_BUILD_ID: '0.1.0-4f1c2a9be012',
  });
  expect(Object.keys(Variables)).not.toContain('OPENAI_API_KEY');
});

test.each(['ssm', 'secretsmanager'] as const)(
  'the function may read its secrets in %s and nothing else of it',
  (secretStore) => {
    const { Policies } = of({ secretStore }).Resources.FunctionRole.Properties;
    const action = { ssm: 'ssm:GetParameters', secretsmanager: 'secretsmanager:GetSecretValue' }[secretStore];
    expect(json(Policies)).toContain(`{"Effect":"Allow","Action":["${action}"],"Resource":[{"Fn::Sub":"arn:`);
    expect(json(Policies)).not.toContain('"Resource":["*"]');
    expect(json(of({ secrets: [] }).Resources.FunctionRole.Properties.Policies)).not.toContain(action);
  },
);

test('only Temporal, with the external id, assumes the invoking role, which may only invoke', () => {
  const { AssumeRolePolicyDocument, Policies } = of().Resources.InvocationRole.Properties;
  expect(AssumeRolePolicyDocument.Statement).toEqual([
    {
      Effect: 'Allow',
      Principal: { AWS: { Ref: 'TemporalPrincipals' } },
      Action: 'sts:AssumeRole',
      Condition: { StringEquals: { 'sts:ExternalId': { Ref: 'ExternalId' } } },
    },
  ]);
  expect(json(Policies)).toContain('["lambda:InvokeFunction","lambda:GetFunction"]');
});

test('the store is private, encrypted and kept', () => {
  const { Store } = of().Resources;
  expect(Store.DeletionPolicy).toBe('Retain');
  expect(Object.values(Store.Properties.PublicAccessBlockConfiguration)).toEqual([true, true, true, true]);
  expect(json(Store.Properties.LifecycleConfiguration)).toContain('"Prefix":"prod/swept/"');
});

test('each build has a version of its own, which is kept and is not repeated', () => {
  const versions = (plan: Partial<LambdaPlan>) =>
    Object.entries(of(plan).Resources).flatMap(([name, { Type, ...rest }]) =>
      Type === 'AWS::Lambda::Version' ? [{ name, ...rest }] : [],
    );
  const [first] = versions({});
  const [second] = versions({ buildId: '0.1.0-4f1c2a9be013' });
  expect(first?.name).not.toBe(second?.name);
  expect(first?.name).toMatch(/^[A-Za-z0-9]+$/);
  expect(json(first)).toContain('"DeletionPolicy":"Retain"');
  expect(json(of().Resources)).toContain('"MaximumRetryAttempts":0');
});

test('every reference is to a parameter, a resource or a condition of the template', () => {
  const template = of();
  const text = json(template);
  const known = new Set([...Object.keys(template.Parameters), ...Object.keys(template.Resources)]);
  const named = [...text.matchAll(/"Ref":"([^"]+)"|"Fn::GetAtt":\["([^"]+)"|\$\{([A-Za-z]+)[.}]/g)];
  for (const [, ref, resource, inText] of named) {
    const name = ref ?? resource ?? inText ?? '';
    if (!name.startsWith('AWS')) expect(known).toContain(name);
  }
  expect(named.length).toBeGreaterThan(20);
  for (const [, condition] of text.matchAll(/"Fn::If":\["([^"]+)"/g))
    expect(Object.keys(template.Conditions)).toContain(condition);
});
