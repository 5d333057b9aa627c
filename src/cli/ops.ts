/** `gate ops`: what runs workers and prepares the servers around them. */
import { InvalidArgumentError, Option } from 'commander';
import type { Architecture, deployLambda } from '../app/deploy-lambda';
import type { Provider, Registration } from '../app/deploy-register';
import type { Cleaned } from '../app/gc';
import type { TemporalSetup } from '../app/temporal-setup';
import { counted } from '../counted';
import { codecServerCommand } from './codec-server';
import { interval, positiveNumber, commandOf, type CommandFactory } from './options';
import { workerCommand } from './worker';

const DEPLOY = 'gate ops deploy lambda ./lambda';

export const opsCommand: CommandFactory = (io, outcome) => {
  const says = 'run and deploy workers, prepare Temporal, clean the store';
  const command = commandOf('ops', says, 'gate ops worker', DEPLOY);
  for (const make of [workerCommand, deployCommand, temporalCommand, codecServerCommand, gcCommand])
    command.addCommand(make(io, outcome));
  return command;
};

const deployCommand: CommandFactory = (io, outcome) => {
  const command = commandOf('deploy', 'run workers on a platform (docs/deploying.md)', DEPLOY);
  for (const make of [lambda, register]) command.addCommand(make(io, outcome));
  return command;
};

const lambda: CommandFactory = (io) =>
  commandOf(
    'lambda',
    'package the workers that Temporal starts on AWS Lambda when work arrives',
    'gate ops deploy lambda ./lambda',
    'gate ops deploy lambda ./lambda --arch arm64',
  )
    .argument('<folder>', 'where function.zip and its CloudFormation template go')
    .addOption(new Option('--arch <architecture>', 'of the function').choices(['x64', 'arm64']).default('x64'))
    .option('--json', 'print JSON')
    .action(async (folder: string, { arch, json }: { readonly arch: Architecture; readonly json?: boolean }) => {
      const { deployLambda } = await import('../app/deploy-lambda');
      const made = await deployLambda(folder, arch, io);
      io.out(json ? `${JSON.stringify(made, null, 2)}\n` : lambdaText(folder, made));
    });

function lambdaText(folder: string, made: Awaited<ReturnType<typeof deployLambda>>): string {
  const { files, bytes, unzippedBytes } = made.package;
  const megabytes = (count: number): string => `${(count / 1e6).toFixed(1)} MB`;
  const parameters = Object.entries(made.parameters).map(([name, value]) => `${name}=${value}`);
  const secrets = made.secrets.map((name) => `/gate/${name}`).join(', ');
  return `written to ${folder}
  function.zip  ${megabytes(bytes)}, with ${counted(files, 'file')}, ${megabytes(unzippedBytes)} unzipped
  template.yaml
secrets in Systems Manager, as SecureString (or Secrets Manager, with SecretStore=secretsmanager): ${secrets || 'none'}
aws cloudformation package --template-file ${folder}/template.yaml --s3-bucket BUCKET_FOR_CODE --output-template-file packaged.yaml
aws cloudformation deploy --template-file packaged.yaml --stack-name gate --capabilities CAPABILITY_IAM --parameter-overrides \
${parameters.join(' ')} TemporalPrincipals=… ExternalId=…
GATE_BUILD_ID=${made.parameters['BuildId'] ?? ''} gate ops deploy register --provider aws-lambda --set arn=FunctionArn --set role=RoleArn --set role_external_id=…
`;
}

// Written out, because the table that has their settings would load Temporal's client for every `--help`.
const PROVIDERS = ['aws-lambda', 'aws-ecs', 'gcp-cloud-run', 'k8s', 'subprocess'] as const satisfies Provider[];

const register: CommandFactory = (io) =>
  commandOf(
    'register',
    'tell a Temporal server (Cloud, or your own from 1.31) how to start workers of this build, and use it',
    'gate ops deploy register --provider aws-lambda --set arn=ARN --set role=ARN --set role_external_id=ID',
    'GATE_BUILD_ID=v2 gate ops deploy register --provider k8s --set namespace=N --set deployment=D',
  )
    .addOption(new Option('--provider <name>', 'what runs the workers').choices(PROVIDERS).makeOptionMandatory())
    .option('--set <key=value>', 'a setting of the provider, under its name in Temporal (repeatable)', collectSetting)
    .option('--wait <seconds>', 'for how long its first worker may take', positiveNumber, 120)
    .action(async ({ provider, set = {}, wait }: RegisterFlags) => {
      const { deployRegister } = await import('../app/deploy-register');
      const { deploymentName, buildId, queues } = await deployRegister({ provider, set, waitMs: wait * 1000 }, io);
      io.out(`${deploymentName}.${buildId} is current, by ${provider}: it serves ${queues.join(', ')}\n`);
    });

type RegisterFlags = Pick<Registration, 'provider'> & Partial<Pick<Registration, 'set'>> & { readonly wait: number };

function collectSetting(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, key, value] = /^([a-z_]+)=(.+)$/.exec(text) ?? [];
  if (key === undefined || value === undefined)
    throw new InvalidArgumentError('give KEY=VALUE, such as region=eu-west-1');
  return { ...before, [key]: value };
}

const temporalCommand: CommandFactory = (io) =>
  commandOf('temporal', 'prepare a Temporal server of your own', 'gate ops temporal setup').addCommand(
    commandOf(
      'setup',
      'register the search attributes by which the Temporal UI lists searches; safe to repeat',
      'TEMPORAL_ADDRESS=temporal.internal:7233 gate ops temporal setup',
      'gate ops temporal setup --json',
    )
      .option('--json', 'print JSON')
      .action(async ({ json }: { readonly json?: boolean }) => {
        const { setUpTemporal } = await import('../app/temporal-setup');
        const done = await setUpTemporal(io);
        io.out(json ? `${JSON.stringify(done)}\n` : setupText(done));
      }),
  );

function setupText({ address, namespace, added, present }: TemporalSetup): string {
  if (address === null)
    return 'no Temporal is configured; the embedded one registers its search attributes by itself\n';
  return [
    ...(added.length === 0 ? [] : [`registered in namespace ${namespace} at ${address}: ${added.join(', ')}\n`]),
    ...(present.length === 0 ? [] : [`registered before: ${present.join(', ')}\n`]),
    'Searches that start from now on show them; docs/temporal-ui.md says which columns to add.\n',
  ].join('');
}

const gcCommand: CommandFactory = (io) =>
  commandOf(
    'gc',
    'remove old searches from the store, and old imports of data files; what is in use is kept',
    'gate ops gc --older-than 30d --dry-run',
  )
    .option(
      '--older-than <age>',
      'remove what was last used this long ago: 12h, 30d, 8w (default: store.retentionDays)',
      interval,
    )
    .option('--dry-run', 'remove nothing; only say what would be removed')
    .option('--json', 'print JSON')
    .action(async (flags: { readonly olderThan?: number; readonly dryRun?: boolean; readonly json?: boolean }) => {
      const { cleanStore } = await import('../app/gc');
      const cleaned = await cleanStore(io, { olderThanMs: flags.olderThan, dryRun: flags.dryRun ?? false });
      io.out(flags.json ? `${JSON.stringify(cleaned, null, 2)}\n` : cleanedText(cleaned));
    });

function cleanedText({ dryRun, searches, batches, objects, judgements, bytes, imports, ...more }: Cleaned): string {
  const counts = [
    counted(searches.length, 'search', 'searches'),
    counted(batches.length, 'batch', 'batches'),
    counted(objects, 'shared object'),
    counted(judgements, 'file of a judge', 'files of a judge'),
    counted(imports.files, 'import of data files', 'imports of data files'),
  ];
  const lines = [
    `${dryRun ? 'would remove' : 'removed'} ${counts.join(', ')}: ${((bytes + imports.bytes) / 1_000_000).toFixed(2)} MB`,
    ...more.kept.map(({ id, why }) => `kept ${id}: ${why}`),
    ...more.problems.map((problem) => `note: ${problem}`),
  ];
  return `${lines.join('\n')}\n`;
}
