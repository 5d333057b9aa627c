/**
 * The CloudFormation template of the serverless worker: the function with a version of its own for each build, the role by
 * which Temporal invokes it, the bucket of the store, logs and alarms.
 *
 * 1. No secret is in it, only the names under which the function looks for them (`workers/serverless/secret-references.ts`).
 * 2. The versions of earlier builds are kept: searches are pinned to the build that they began on.
 * 3. Nobody but Temporal's principals with the external id may assume the invoking role, and it may do nothing else.
 */
import { sha256 } from '../sha256';

export type Architecture = 'x64' | 'arm64';
export type SecretStore = 'ssm' | 'secretsmanager';

export interface LambdaPlan {
  readonly architecture: Architecture;
  readonly deployment: string;
  readonly buildId: string;
  readonly temporal: { readonly address: string; readonly namespace: string };
  readonly bucket: { readonly name: string; readonly prefix: string };
  /** Variables that are filled from the store of secrets. */
  readonly secrets: readonly string[];
  readonly secretStore: SecretStore;
  /** Settings without secrets. */
  readonly environment: Readonly<Record<string, string>>;
}

export const TIMEOUT_SECONDS = 900;
/** One vCPU. */
const MEMORY_MEGABYTES = 1_769;
export const CODE_FILE = 'function.zip';
export const SECRET_PREFIX = '/gate/';

const ref = (name: string) => ({ Ref: name });
const sub = (text: string) => ({ 'Fn::Sub': text });
const attribute = (resource: string, name: string) => ({ 'Fn::GetAtt': [resource, name] });
const when = (condition: string, value: unknown) => ({ 'Fn::If': [condition, value, ref('AWS::NoValue')] });
const allow = (actions: readonly string[], resources: readonly unknown[]) => ({
  ...{ Effect: 'Allow', Action: actions, Resource: resources },
});
const policy = (name: string, ...statements: readonly unknown[]) => ({
  PolicyName: name,
  PolicyDocument: { Version: '2012-10-17', Statement: statements },
});

export function lambdaTemplate(plan: LambdaPlan) {
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: `GATE as serverless Temporal workers, build ${plan.deployment}.${plan.buildId}`,
    Parameters: parameters(plan),
    Conditions: {
      CreatesBucket: { 'Fn::Equals': [ref('CreateBucket'), 'true'] },
      InVpc: { 'Fn::Not': [{ 'Fn::Equals': [{ 'Fn::Join': ['', ref('SubnetIds')] }, ''] }] },
      HasAlarmTopic: { 'Fn::Not': [{ 'Fn::Equals': [ref('AlarmTopicArn'), ''] }] },
    },
    Resources: {
      Store: bucket(plan),
      Logs: { Type: 'AWS::Logs::LogGroup', Properties: { RetentionInDays: ref('LogRetentionDays') } },
      FunctionRole: functionRole(plan),
      Function: workerFunction(plan),
      ...version(plan),
      InvocationRole: invocationRole(),
      ...alarms(),
    },
    Outputs: {
      FunctionArn: { Description: 'This build, for gate deploy register --function', Value: ref(versionId(plan)) },
      RoleArn: { Description: 'For gate deploy register --role', Value: attribute('InvocationRole', 'Arn') },
    },
  };
}

function parameters({ temporal }: LambdaPlan) {
  const text = (Description: string, Default?: string, more: object = {}) => ({
    ...{ Type: 'String', Description, ...(Default === undefined ? {} : { Default }), ...more },
  });
  const count = (Description: string, Default: number, more: object = {}) => ({
    ...{ Type: 'Number', Description, Default, ...more },
  });
  return {
    TemporalAddress: text('host:port of the Temporal service', temporal.address),
    TemporalNamespace: text('Its namespace', temporal.namespace),
    TemporalPrincipals: {
      Type: 'CommaDelimitedList',
      Description: 'ARNs of the roles as which the Temporal service runs; for Temporal Cloud see docs.temporal.io',
    },
    ExternalId: text(
      'What Temporal gives when it assumes the invoking role; the same for gate deploy register',
      undefined,
      {
        ...{ MinLength: 5, MaxLength: 45, AllowedPattern: '[a-zA-Z0-9_+=,.@-]*' },
      },
    ),
    SecretPrefix: text('What the names of the secrets begin with', SECRET_PREFIX, {
      ...{ MinLength: 1, AllowedPattern: '[a-zA-Z0-9/_.-]+' },
    }),
    CreateBucket: text('false: the bucket of the store is there already', 'true', { AllowedValues: ['true', 'false'] }),
    MostFunctions: count('How many run at once: the ceiling of the cost', 10, { MinValue: 1 }),
    MemoryMegabytes: count('1769 is one vCPU', MEMORY_MEGABYTES, { MinValue: 512, MaxValue: 10_240 }),
    LogRetentionDays: count('How long logs are kept', 30, { AllowedValues: [1, 7, 14, 30, 60, 90, 180, 365] }),
    SubnetIds: { Type: 'CommaDelimitedList', Description: 'Subnets of databases that are not public', Default: '' },
    SecurityGroupIds: { Type: 'CommaDelimitedList', Description: 'With SubnetIds', Default: '' },
    AlarmTopicArn: text('An SNS topic that is told of alarms', ''),
  };
}

function bucket({ bucket: { name, prefix } }: LambdaPlan) {
  return {
    Type: 'AWS::S3::Bucket',
    Condition: 'CreatesBucket',
    DeletionPolicy: 'Retain',
    UpdateReplacePolicy: 'Retain',
    Properties: {
      BucketName: name,
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      PublicAccessBlockConfiguration: {
        ...{ BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true },
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      LifecycleConfiguration: {
        Rules: [
          { Id: 'parts', Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
          // What `gate gc` removed.
          { Id: 'swept', Status: 'Enabled', Prefix: inside(prefix, 'swept/'), ExpirationInDays: 30 },
        ],
      },
    },
  };
}

function inside(prefix: string, path: string): string {
  return prefix === '' ? path : `${prefix}/${path}`;
}

function functionRole({ bucket: { name, prefix }, secrets, secretStore }: LambdaPlan) {
  const [action, resource] =
    secretStore === 'ssm'
      ? ['ssm:GetParameters', 'arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${SecretPrefix}*']
      : [
          'secretsmanager:GetSecretValue',
          'arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${SecretPrefix}*',
        ];
  const inVpc = sub('arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole');
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
      },
      ManagedPolicyArns: [when('InVpc', inVpc)],
      Policies: [
        policy('logs', allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [attribute('Logs', 'Arn')])),
        policy(
          'store',
          allow(
            ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
            [sub(`arn:\${AWS::Partition}:s3:::${name}/${inside(prefix, '*')}`)],
          ),
          allow(['s3:ListBucket'], [sub(`arn:\${AWS::Partition}:s3:::${name}`)]),
        ),
        ...(secrets.length === 0 ? [] : [policy('secrets', allow([action], [sub(resource)]))]),
      ],
    },
  };
}

function workerFunction(plan: LambdaPlan) {
  const { architecture, deployment, buildId, environment, secrets, secretStore } = plan;
  const references = secrets.map((name) => [`GATE_SECRET_${name}`, sub(`${secretStore}:\${SecretPrefix}${name}`)]);
  return {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Description: `GATE build ${deployment}.${buildId}`,
      Runtime: 'nodejs22.x',
      Handler: 'index.handler',
      Code: CODE_FILE,
      Architectures: [architecture === 'x64' ? 'x86_64' : 'arm64'],
      Role: attribute('FunctionRole', 'Arn'),
      MemorySize: ref('MemoryMegabytes'),
      Timeout: TIMEOUT_SECONDS,
      ReservedConcurrentExecutions: ref('MostFunctions'),
      LoggingConfig: { LogGroup: ref('Logs') },
      VpcConfig: when('InVpc', { SubnetIds: ref('SubnetIds'), SecurityGroupIds: ref('SecurityGroupIds') }),
      Environment: {
        Variables: {
          ...environment,
          TEMPORAL_ADDRESS: ref('TemporalAddress'),
          TEMPORAL_NAMESPACE: ref('TemporalNamespace'),
          GATE_DEPLOYMENT: deployment,
          GATE_BUILD_ID: buildId,
          ...(Object.fromEntries(references) as Record<string, unknown>),
        },
      },
    },
  };
}

/** A published version never changes: its logical name stands for the build, so that the next build makes another one. */
function versionId({ buildId }: LambdaPlan): string {
  return `Build${sha256(buildId).slice(0, 16)}`;
}

function version(plan: LambdaPlan) {
  const id = versionId(plan);
  const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
  return {
    [id]: {
      ...{ Type: 'AWS::Lambda::Version', ...kept },
      Properties: { FunctionName: ref('Function'), Description: `${plan.deployment}.${plan.buildId}` },
    },
    // The server invokes again while work waits: a failed invocation is not repeated on its own.
    [`${id}Retries`]: {
      ...{ Type: 'AWS::Lambda::EventInvokeConfig', ...kept },
      Properties: {
        FunctionName: ref('Function'),
        Qualifier: attribute(id, 'Version'),
        MaximumRetryAttempts: 0,
        MaximumEventAgeInSeconds: 60,
      },
    },
  };
}

function invocationRole() {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      Description: 'Temporal invokes the serverless workers of GATE with it',
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: { AWS: ref('TemporalPrincipals') },
            Action: 'sts:AssumeRole',
            Condition: { StringEquals: { 'sts:ExternalId': ref('ExternalId') } },
          },
        ],
      },
      Policies: [
        policy(
          'invoke',
          allow(
            ['lambda:InvokeFunction', 'lambda:GetFunction'],
            [attribute('Function', 'Arn'), sub('${Function.Arn}:*')],
          ),
        ),
      ],
    },
  };
}

function alarms() {
  const alarm = (AlarmDescription: string, MetricName: string, Statistic: string, Threshold: number) => ({
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      ...{ AlarmDescription, Namespace: 'AWS/Lambda', MetricName, Statistic, Threshold },
      Dimensions: [{ Name: 'FunctionName', Value: ref('Function') }],
      ...{ Period: 300, EvaluationPeriods: 1, ComparisonOperator: 'GreaterThanThreshold' },
      TreatMissingData: 'notBreaching',
      AlarmActions: [when('HasAlarmTopic', ref('AlarmTopicArn'))],
    },
  });
  return {
    ErrorsAlarm: alarm('An invocation failed: its log says why', 'Errors', 'Sum', 0),
    ThrottlesAlarm: alarm('More work than MostFunctions allow', 'Throttles', 'Sum', 10),
    DurationAlarm: alarm('An invocation did not drain in time', 'Duration', 'Maximum', (TIMEOUT_SECONDS - 1) * 1_000),
  };
}
