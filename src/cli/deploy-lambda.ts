/** `gate deploy lambda`: from the configuration to the function's package and its CloudFormation template. */
import { counted } from '../report/printable';
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { loadConfig, type Config, type ConfigFile } from '../config';
import { engineOfUrl } from '../config/databases';
import { digestOf, MOST_BYTES, programFiles, text, zipped, type PackedFile } from '../deploy/lambda-package';
import {
  CODE_FILE,
  lambdaTemplate,
  SECRET_PREFIX,
  type Architecture,
  type LambdaPlan,
  type SecretStore,
} from '../deploy/lambda-template';
import { packageFolder } from '../workers/package-folder';
import { workerVersion } from '../workers/workflow-bundle';
import { giveFiles, sizeText, targetFolder, type WriteFlags } from './deploy-files';
import { deployable } from './deployable';
import { CommandFailed } from './errors';
import type { Io } from './io';

export interface LambdaFlags extends WriteFlags {
  readonly arch: Architecture;
  readonly secrets: SecretStore;
}

export async function deployLambda(flags: LambdaFlags, io: Io): Promise<void> {
  const folder = targetFolder(flags, io);
  const settings = settingsOf(loadConfig(io), flags, io);
  const program = [...programOf(settings, flags), ...settings.files];
  const plan = { ...settings.plan, ...versionOf(settings, program) };
  const { zip, files: count, unzippedBytes } = await zipped(program);
  const template = stringify(lambdaTemplate(plan), { lineWidth: 0, aliasDuplicateObjects: false });
  const files = [
    { path: CODE_FILE, content: zip },
    { path: 'template.yaml', content: template },
  ];
  const { deployment, buildId, secrets } = plan;
  const about = { deployment, buildId, secrets, package: { files: count, unzippedBytes } };
  const next = [
    `  ${CODE_FILE} has ${counted(count, 'file')}, ${sizeText(unzippedBytes)} unzipped (at most ${sizeText(MOST_BYTES)})`,
    `build ${deployment}.${buildId}`,
    ...nextSteps(plan),
  ];
  giveFiles(files, folder, { json: flags.json ?? false, about, next: `${next.join('\n')}\n` }, io);
}

interface Settings {
  readonly config: Config;
  readonly plan: Omit<LambdaPlan, 'deployment' | 'buildId'>;
  /** The configuration, and the SQLite files that it names. */
  readonly files: readonly PackedFile[];
}

function programOf({ config }: Settings, { arch }: LambdaFlags): readonly PackedFile[] {
  const folder = packageFolder();
  if (folder === null) throw new CommandFailed('the folder of this program has no package.json: install it with npm');
  const snowflake = Object.values(config.databases).some(
    ({ address }) => address.kind === 'url' && engineOfUrl(address.url.reveal()) === 'snowflake',
  );
  return programFiles(folder, arch, snowflake ? ['snowflake-sdk'] : []);
}

/** A build of its own for each package and each setting: a published version of a function never changes. */
function versionOf({ config, plan }: Settings, program: readonly PackedFile[]) {
  const { versioning } = config.temporal;
  const { deploymentName: deployment, buildId } = workerVersion(versioning);
  return { deployment, buildId: versioning?.buildId ?? `${buildId}-${digestOf(program, plan)}` };
}

/** Throws `ConfigError` with everything that a function could not work with. */
export function settingsOf(config: Config, { arch, secrets: secretStore }: LambdaFlags, io: Io): Settings {
  const withoutId = sqliteFiles(config).filter(([, { id }]) => id === null);
  const { settings, temporal, store, secrets, environment } = deployable(config, 'function', io, (file) =>
    withoutId.map(
      ([name]) => `${file}: databases.${name}: its file goes into the package, so that its path changes: give it an id`,
    ),
  );
  const plan = {
    ...{ architecture: arch, temporal, secretStore, secrets },
    bucket: { name: store.bucket, prefix: store.prefix },
    environment,
  };
  return { config, plan, files: configurationFiles(settings, config) };
}

function sqliteFiles({ databases }: Config): [string, { readonly path: string; readonly id: string | null }][] {
  return Object.entries(databases).flatMap(([name, { address, id }]) =>
    address.kind === 'path' ? [[name, { path: address.path, id }]] : [],
  );
}

/** The package's configuration, with SQLite files beside it. */
function configurationFiles(settings: ConfigFile, config: Config): PackedFile[] {
  const databases = { ...settings.databases };
  const files = sqliteFiles(config).map(([name, { path }]): PackedFile => {
    const packed = `databases/${name}.sqlite`;
    databases[name] = { ...databases[name], path: packed };
    return { path: packed, content: () => readFileSync(path) };
  });
  return [...files, text('gate.config.json', `${JSON.stringify({ ...settings, databases }, null, 2)}\n`)];
}

function nextSteps({ secrets, secretStore, buildId }: LambdaPlan): readonly string[] {
  const where = secretStore === 'ssm' ? 'Systems Manager, as SecureString' : 'Secrets Manager';
  const names = secrets.map((name) => SECRET_PREFIX + name).join(', ');
  return [
    ...(secrets.length === 0 ? [] : [`secrets in ${where}: ${names}`]),
    `aws cloudformation package --template-file template.yaml --s3-bucket BUCKET_FOR_CODE --output-template-file packaged.yaml`,
    `aws cloudformation deploy --template-file packaged.yaml --stack-name gate --capabilities CAPABILITY_IAM --parameter-overrides TemporalPrincipals=… ExternalId=…`,
    `GATE_BUILD_ID=${buildId} gate deploy register --provider aws-lambda --function FunctionArn --role RoleArn --external-id …`,
  ];
}
