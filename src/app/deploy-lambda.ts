/**
 * `gate ops deploy lambda`: the package of the function, beside its CloudFormation template (`infra/lambda/template.yaml`).
 *
 * No secret is in the package: it names the variables that hold one, and the function reads them at a cold start
 * (`workers/serverless/secret-references.ts`).
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError, loadConfig, type Config, type WrittenConfig } from '../config';
import { engineOfUrl } from '../config/databases';
import { readConfigFile } from '../config/file';
import { counted } from '../report/printable';
import { configuredTemporal } from '../workers/configured-temporal';
import { packageFolder } from '../workers/package-folder';
import {
  digestOf,
  MOST_BYTES,
  programFiles,
  text,
  zipped,
  type Architecture,
  type EntrySettings,
  type PackedFile,
} from '../workers/serverless/function-package';
import { workerVersion } from '../workers/workflow-bundle';
import { GateError } from './errors';
import type { Io } from '../cli/io';

export interface LambdaFlags {
  readonly arch: Architecture;
  readonly json?: boolean;
}

export async function deployLambda(folder: string, { arch, json }: LambdaFlags, io: Io): Promise<void> {
  const config = loadConfig(io);
  const root = packageFolder();
  if (root === null) throw new GateError('the folder of this program has no package.json: install it with npm');
  const settings = settingsOf(config, io);
  const program = [...programFiles(root, arch, settings, extraPackages(config)), ...settings.files];
  const { zip, files, unzippedBytes } = await zipped(program);
  const parameters = { ...settings.parameters, Architecture: ARCHITECTURES[arch], ...buildOf(config, program) };
  const target = resolve(io.cwd, folder);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'function.zip'), zip);
  copyFileSync(join(root, 'infra', 'lambda', 'template.yaml'), join(target, 'template.yaml'));
  const { secrets } = settings;
  io.out(
    json
      ? `${JSON.stringify({ folder: target, parameters, secrets, package: { files, bytes: zip.length, unzippedBytes } }, null, 2)}\n`
      : `written to ${folder}
  function.zip  ${megabytes(zip.length)}, with ${counted(files, 'file')}, ${megabytes(unzippedBytes)} unzipped (at most ${megabytes(MOST_BYTES)})
  template.yaml
${nextSteps(folder, parameters, secrets)}`,
  );
}

const ARCHITECTURES = { x64: 'x86_64', arm64: 'arm64' } as const;

function extraPackages({ databases }: Config): readonly string[] {
  const isSnowflake = Object.values(databases).some(
    ({ address }) => address.kind === 'url' && engineOfUrl(address.url.reveal()) === 'snowflake',
  );
  return isSnowflake ? ['snowflake-sdk'] : [];
}

/** A build of its own for each package: a published version of a function never changes. */
function buildOf({ temporal: { versioning } }: Config, program: readonly PackedFile[]) {
  const { deploymentName, buildId } = workerVersion(versioning);
  return { DeploymentName: deploymentName, BuildId: versioning?.buildId ?? `${buildId}-${digestOf(program)}` };
}

function nextSteps(folder: string, parameters: Readonly<Record<string, string>>, secrets: readonly string[]): string {
  const overrides = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const names = secrets.map((name) => `/gate/${name}`).join(', ');
  return `${names && `secrets in Systems Manager, as SecureString (or Secrets Manager, with SecretStore=secretsmanager): ${names}\n`}\
aws cloudformation package --template-file ${folder}/template.yaml --s3-bucket BUCKET_FOR_CODE --output-template-file packaged.yaml
aws cloudformation deploy --template-file packaged.yaml --stack-name gate --capabilities CAPABILITY_IAM --parameter-overrides \
${overrides.join(' ')} TemporalPrincipals=… ExternalId=…
GATE_BUILD_ID=${parameters['BuildId'] ?? ''} gate ops deploy register --provider aws-lambda --set arn=FunctionArn --set role=RoleArn --set role_external_id=…
`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export interface FunctionSettings extends EntrySettings {
  /** Parameters of the template that the configuration gives. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The configuration, and the SQLite files that it names. */
  readonly files: readonly PackedFile[];
}

/** Throws `ConfigError` with everything that a function could not work with. */
export function settingsOf(config: Config, io: Pick<Io, 'env'>): FunctionSettings {
  const { file, store } = config;
  if (file === null)
    throw new ConfigError(['no gate.config.json here: write one that names the databases and the store']);
  const settings = readConfigFile(file).json as WrittenConfig;
  const named = secretSettings(settings);
  const temporal = configuredTemporal(config, io.env);
  const sqlite = Object.entries(config.databases).flatMap(([name, { address, id }]) =>
    address.kind === 'path' ? [{ name, id, path: address.path }] : [],
  );
  const problems = named.files.map(
    (place) => `${file}: ${place}: a secret in a file cannot go into a function; name a variable instead (…Env)`,
  );
  if (temporal === null)
    problems.push('no Temporal: set temporal.address or TEMPORAL_ADDRESS to one that functions reach');
  if (store.kind === 'directory') problems.push('the store is a folder, which functions do not share: set store.s3');
  else if (store.profile !== null)
    problems.push('store.s3.profile: a function has no profiles; leave it out (and AWS_PROFILE)');
  for (const { name } of sqlite.filter(({ id }) => id === null))
    problems.push(
      `${file}: databases.${name}: its file goes into the package, so that its path changes: give it an id`,
    );
  if (temporal === null || store.kind === 'directory' || problems.length > 0) throw new ConfigError(problems);
  const connection = connectionSettings(temporal.connectionOptions);
  const secrets = [...named.variables, ...modelKey(settings, config), ...connection.secrets, ...TRACE_KEYS];
  const shell = Object.entries(io.env).filter(([name, value]) => value && SHELL_SETTINGS.test(name));
  return {
    environment: {
      ...(Object.fromEntries(shell) as Record<string, string>),
      ...connection.environment,
      GATE_STORE: `s3://${store.bucket}/${store.prefix}`,
    },
    secrets: [...new Set(secrets)].filter((name) => !TRACE_KEYS.includes(name) || io.env[name]),
    parameters: {
      TemporalAddress: temporal.address,
      TemporalNamespace: temporal.namespace,
      BucketName: store.bucket,
      BucketPrefix: store.prefix && `${store.prefix}/`,
    },
    files: configurationFiles(settings, sqlite),
  };
}

const TRACE_KEYS = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'];
const SHELL_SETTINGS = /^(OPENAI_BASE_URL|GATE_MODEL(_.+)?|OTEL_(?!.*_HEADERS$).+)$/;

/** The package's configuration, with SQLite files beside it. */
function configurationFiles(
  settings: WrittenConfig,
  sqlite: readonly { readonly name: string; readonly path: string }[],
): PackedFile[] {
  const databases = { ...settings.databases };
  const files = sqlite.map(({ name, path }): PackedFile => {
    const packed = `databases/${name}.sqlite`;
    databases[name] = { ...databases[name], path: packed };
    return { path: packed, content: () => readFileSync(path) };
  });
  return [...files, text('gate.config.json', `${JSON.stringify({ ...settings, databases }, null, 2)}\n`)];
}

/** Variables that hold a secret of the configuration, and settings that name a file with one, such as `models.apiKeyFile`. */
function secretSettings({ databases, models, schema, store, encryption, web }: WrittenConfig) {
  const variables: string[] = [];
  const files: string[] = [];
  const look = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const at = `${place}.${key}`;
      if (typeof inner !== 'string') look(inner, at);
      else if (/^env$|Env$/.test(key)) variables.push(inner);
      else if (/^file$|File$/.test(key)) files.push(at);
    }
  };
  for (const [place, part] of Object.entries({ databases, models, schema, store, encryption, web })) look(part, place);
  return { variables, files };
}

/** The variable of the key where the configuration leaves its name open; an endpoint of one's own may have none. */
function modelKey({ models }: WrittenConfig, config: Config): readonly string[] {
  if (models?.apiKeyEnv !== undefined || (config.models.baseUrl !== null && config.models.apiKey === null)) return [];
  return ['OPENAI_API_KEY'];
}

/** A `temporal.toml` profile as variables, because its file stays here. */
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
