/** `gate deploy lambda`: from the configuration to the function's package and its CloudFormation template. */
import { stringify } from 'yaml';
import { ConfigError, ConfigFile, loadConfig, type Config } from '../config';
import { readConfigFile } from '../config/file';
import {
  lambdaTemplate,
  SECRET_PREFIX,
  type Architecture,
  type LambdaPlan,
  type SecretStore,
} from '../deploy/lambda-template';
import { secretSettings } from '../deploy/secret-settings';
import { workerVersion } from '../workers/worker-version';
import { giveFiles, targetFolder, type WriteFlags } from './deploy-files';
import type { Io } from './io';
import { configuredTemporal } from './temporal-session';

export interface LambdaFlags extends WriteFlags {
  readonly arch: Architecture;
  readonly secrets: SecretStore;
}

export function deployLambda(flags: LambdaFlags, io: Io): void {
  const folder = targetFolder(flags, io);
  const config = loadConfig(io);
  const plan = planOf(config, flags, io);
  const template = stringify(lambdaTemplate(plan), { lineWidth: 0, aliasDuplicateObjects: false });
  const files = [{ path: 'template.yaml', content: template }];
  const { deployment, buildId, secrets } = plan;
  giveFiles(
    files,
    folder,
    { json: flags.json ?? false, about: { deployment, buildId, secrets }, next: nextSteps(plan) },
    io,
  );
}

/** Throws `ConfigError` with everything that a function could not work with. */
function planOf(config: Config, { arch, secrets: secretStore }: LambdaFlags, io: Io): LambdaPlan {
  const { file, store } = config;
  if (file === null)
    throw new ConfigError(['no gate.config.json here: write one that names the databases and the store']);
  const settings = ConfigFile.parse(readConfigFile(file).json);
  const named = secretSettings(settings);
  const temporal = configuredTemporal(config, io.env);
  const problems = named.files.map(
    (place) => `${file}: ${place}: a secret in a file cannot go into the package; name a variable instead (…Env)`,
  );
  if (temporal === null)
    problems.push('no Temporal: set temporal.address or TEMPORAL_ADDRESS to one that functions reach');
  if (store.kind === 'directory') problems.push('the store is a folder, which functions do not share: set store.s3');
  else if (store.profile !== null)
    problems.push('store.s3.profile: a function has no profiles, only its role; leave it out (and AWS_PROFILE)');
  if (temporal === null || store.kind === 'directory' || problems.length > 0) throw new ConfigError(problems);
  const { address, namespace, connectionOptions } = temporal;
  const connection = connectionSettings(connectionOptions);
  return {
    ...{ architecture: arch, ...workerVersionOf(config), temporal: { address, namespace }, secretStore },
    bucket: { name: store.bucket, prefix: store.prefix },
    secrets: [...new Set([...named.variables, ...modelKey(settings, config), ...connection.secrets])],
    environment: {
      ...settingsOf(io.env),
      ...connection.environment,
      GATE_STORE: `s3://${store.bucket}/${store.prefix}`,
    },
  };
}

function workerVersionOf({ temporal: { versioning } }: Config) {
  const { deploymentName: deployment, buildId } = workerVersion(versioning ?? { deployment: 'gate', buildId: null });
  return { deployment, buildId };
}

/** The variable of the key where the configuration leaves its name open; an endpoint of one's own may have none. */
function modelKey({ models }: ConfigFile, config: Config): readonly string[] {
  if (models?.apiKeyEnv !== undefined || (config.models.baseUrl !== null && config.models.apiKey === null)) return [];
  return ['OPENAI_API_KEY'];
}

/** Settings of this shell that a worker reads; the configuration file is in the package. */
function settingsOf(env: Io['env']): Record<string, string> {
  const given = Object.entries(env).filter(([name]) => name === 'OPENAI_BASE_URL' || /^GATE_MODEL(_|$)/.test(name));
  return Object.fromEntries(given.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

/** What a `temporal.toml` profile says, as variables: its file stays here. */
function connectionSettings({ apiKey, tls }: NonNullable<ReturnType<typeof configuredTemporal>>['connectionOptions']) {
  const { clientCertPair, serverNameOverride, serverRootCACertificate } =
    typeof tls === 'object' && tls !== null ? tls : {};
  return {
    environment: {
      ...(tls ? { TEMPORAL_TLS: 'true' } : {}),
      ...(serverNameOverride ? { TEMPORAL_TLS_SERVER_NAME: serverNameOverride } : {}),
    },
    secrets: [
      ...(apiKey ? ['TEMPORAL_API_KEY'] : []),
      ...(clientCertPair ? ['TEMPORAL_TLS_CLIENT_CERT_DATA', 'TEMPORAL_TLS_CLIENT_KEY_DATA'] : []),
      ...(serverRootCACertificate ? ['TEMPORAL_TLS_SERVER_CA_CERT_DATA'] : []),
    ],
  };
}

function nextSteps({ secrets, secretStore }: LambdaPlan): string {
  const where = secretStore === 'ssm' ? 'Systems Manager, as SecureString' : 'Secrets Manager';
  const names = secrets.map((name) => SECRET_PREFIX + name).join(', ');
  return [
    ...(secrets.length === 0 ? [] : [`secrets in ${where}: ${names}`]),
    `aws cloudformation package --template-file template.yaml --s3-bucket BUCKET_FOR_CODE --output-template-file packaged.yaml`,
    `aws cloudformation deploy --template-file packaged.yaml --stack-name gate --capabilities CAPABILITY_IAM --parameter-overrides TemporalPrincipals=… ExternalId=…`,
    '',
  ].join('\n');
}
