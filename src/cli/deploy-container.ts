/** `gate deploy kubernetes` and `gate deploy cloud-run`: from the configuration to a Helm chart, or worker pools. */
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { loadConfig, type Config } from '../config';
import { limitedModels } from '../config/limits';
import { cloudRunPool, CONFIG_SECRET } from '../deploy/cloud-run-pool';
import { CONFIG_FILE, CONFIG_PATH, type ContainerPlan, type QueueGroup } from '../deploy/container-plan';
import { kubernetesChart } from '../deploy/kubernetes-chart';
import { packageVersion } from '../workers/package-folder';
import { giveFiles, targetFolder, type DeployFile, type WriteFlags } from './deploy-files';
import { deployable, shellSettings } from './deployable';
import type { Io } from './io';

export interface ContainerFlags extends WriteFlags {
  readonly image: string;
  readonly grace: number;
}

export function deployKubernetes(flags: ContainerFlags, io: Io): void {
  const next = (plan: ContainerPlan, folder: string): string =>
    [
      `kubectl create secret generic gate ${plan.secrets.map((name) => `--from-literal=${name}=…`).join(' ')}`,
      `helm upgrade --install gate ${folder}`,
    ].join('\n');
  give((plan) => kubernetesChart(plan, versionOfPackage()), next, flags, io);
}

export function deployCloudRun(flags: ContainerFlags, io: Io): void {
  const files = (plan: ContainerPlan): DeployFile[] => [
    ...plan.groups.map((group) => ({
      path: `worker-pool-${group.name}.yaml`,
      content: stringify(cloudRunPool(plan, group), { lineWidth: 0, aliasDuplicateObjects: false }),
    })),
    { path: CONFIG_FILE, content: plan.configuration },
  ];
  const next = (plan: ContainerPlan, folder: string): string =>
    [
      `gcloud secrets create ${CONFIG_SECRET} --data-file=${folder}/${CONFIG_FILE}`,
      ...plan.secrets.map((name) => `gcloud secrets create ${name} --data-file=-`),
      ...plan.groups.map(({ name }) => `gcloud beta run worker-pools replace ${folder}/worker-pool-${name}.yaml`),
    ].join('\n');
  give(files, next, flags, io);
}

function give(
  filesOf: (plan: ContainerPlan) => readonly DeployFile[],
  next: (plan: ContainerPlan, folder: string) => string,
  flags: ContainerFlags,
  io: Io,
): void {
  const folder = targetFolder(flags, io);
  const plan = planOf(loadConfig(io), flags, io);
  const { image, secrets, groups } = plan;
  const about = { image, secrets, groups };
  const told = { json: flags.json ?? false, about, next: `${next(plan, flags.write ?? 'FOLDER')}\n` };
  giveFiles(filesOf(plan), folder, told, io);
}

/** Throws `ConfigError` with everything that a container could not work with. */
function planOf(config: Config, { image, grace }: ContainerFlags, io: Io): ContainerPlan {
  const sqlite = Object.entries(config.databases).filter(([, { address }]) => address.kind === 'path');
  const { file, temporal, secrets, environment } = deployable(config, 'container', io, (path) =>
    sqlite.map(([name]) => `${path}: databases.${name}: an SQLite file is not in the container; use a database server`),
  );
  return {
    ...{ image, graceSeconds: grace, groups: groupsOf(config) },
    configuration: readFileSync(file, 'utf8'),
    secrets: [...new Set([...secrets, ...AWS_KEYS.filter((name) => io.env[name])])],
    environment: {
      ...shellSettings(io.env, SETTINGS),
      ...environment,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      GATE_CONFIG: CONFIG_PATH,
    },
    ports: portsOf(config, temporal.address, io.env),
  };
}

/** Without them the platform's own account is used. */
const AWS_KEYS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
const SETTINGS = /^(GATE_DEPLOYMENT|GATE_BUILD_ID|AWS_REGION|AWS_ENDPOINT_URL(_S3)?)$/;

function groupsOf({ models }: Config): readonly QueueGroup[] {
  const limited = limitedModels(models).map((model, index) => {
    const plain = model
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 30);
    return { name: `model-${String(index + 1)}-${plain}`.replace(/-$/, ''), serve: `model:${model}` };
  });
  return [{ name: 'workflow', serve: 'workflow' }, ...limited];
}

/** A database whose address is not known here is taken to be a PostgreSQL on its usual port. */
function portsOf({ databases, models, store }: Config, temporal: string, env: Io['env']): readonly number[] {
  const urls = Object.values(databases).map(({ address }) =>
    address.kind === 'url' ? address.url.reveal() : 'postgresql://unknown',
  );
  const endpoint = store.kind === 's3' ? (store.endpoint ?? env['AWS_ENDPOINT_URL_S3']) : null;
  const traces = [env['OTEL_EXPORTER_OTLP_ENDPOINT'], env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']];
  const all = [`grpc://${temporal}`, ...urls, models.baseUrl, endpoint, ...traces];
  const ports = all.flatMap((url) => (url ? [portOf(url)] : []));
  return [...new Set([443, ...ports])].sort((a, b) => a - b);
}

const USUAL: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'snowflake:': 443, 'grpc:': 7233 };
const POSTGRES_PORT = 5432;

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (USUAL[protocol] ?? POSTGRES_PORT);
}

function versionOfPackage(): string {
  const version = packageVersion();
  if (version === null) throw new Error('the folder of this program has no package.json: install it with npm');
  return version;
}
