/**
 * The command line of `gate deploy register`: which settings each of the server's compute providers takes, under the names
 * that the server uses for them.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { positiveNumber, withExamples } from './options';

export interface Setting {
  readonly flag: string;
  /** What the server calls it. */
  readonly key: string;
  readonly needed?: boolean;
  readonly help: string;
}

const ROLE: readonly Setting[] = [
  { flag: '--role <arn>', key: 'role', help: 'role that the server assumes (AWS)' },
  { flag: '--external-id <id>', key: 'role_external_id', help: "which the role's trust policy asks for (AWS)" },
];
const REGION = { flag: '--region <name>', key: 'region', help: 'region (AWS ECS, Cloud Run)' };

export const PROVIDERS = {
  'aws-lambda': [
    { flag: '--function <arn>', key: 'arn', needed: true, help: 'published version of the function (AWS Lambda)' },
    ...ROLE,
  ],
  'aws-ecs': [
    { flag: '--cluster <name>', key: 'cluster', needed: true, help: 'name or ARN of the cluster (AWS ECS)' },
    { flag: '--service <name>', key: 'service', needed: true, help: 'name or ARN of the service (AWS ECS)' },
    REGION,
    ...ROLE,
  ],
  'gcp-cloud-run': [
    { flag: '--project <id>', key: 'project', needed: true, help: 'project (Cloud Run)' },
    { ...REGION, needed: true },
    { flag: '--worker-pool <name>', key: 'worker_pool', needed: true, help: 'worker pool (Cloud Run)' },
    { flag: '--service-account <email>', key: 'service_account', help: 'that the server acts as (Cloud Run)' },
  ],
  k8s: [
    { flag: '--kube-namespace <name>', key: 'namespace', needed: true, help: 'namespace (Kubernetes)' },
    { flag: '--kube-deployment <name>', key: 'deployment', needed: true, help: 'deployment to scale (Kubernetes)' },
  ],
  subprocess: [
    { flag: '--command <path>', key: 'command', needed: true, help: "a worker on the server's machine (subprocess)" },
    { flag: '--args <list>', key: 'args', help: 'its arguments, separated by commas (subprocess)' },
    { flag: '--timeout <duration>', key: 'timeout', help: 'after which it is ended, such as 30m (subprocess)' },
  ],
} as const satisfies Readonly<Record<string, readonly Setting[]>>;

/** Those of several providers stand several times. */
export const SETTINGS: readonly Setting[] = Object.values(PROVIDERS).flatMap(
  (settings): readonly Setting[] => settings,
);

export type Provider = keyof typeof PROVIDERS;

/** As commander names the value of a flag. */
export function valueName({ flag }: Setting): string {
  return new Option(flag).attributeName();
}

export interface RegisterFlags {
  readonly provider?: Provider;
  readonly scale?: Readonly<Record<string, number>>;
  readonly update?: boolean;
  readonly ramp?: number;
  readonly show?: boolean;
  readonly rollback?: boolean;
  readonly wait: number;
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly [setting: string]: unknown;
}

/** Without what it does. */
export function registerOptions(): Command {
  const command = new Command('register')
    .description('tell a Temporal server (Cloud, or your own from 1.31) how to start workers of this build, and use it')
    .addOption(new Option('--provider <name>', 'what runs the workers').choices(Object.keys(PROVIDERS)));
  for (const { flag, help } of new Map(SETTINGS.map((setting) => [setting.flag, setting])).values())
    command.option(flag, help);
  command
    .option('--scale <key=number>', "a setting of the server's scaling algorithm (repeatable)", collectScale)
    .option('--update', 'the version is registered already: change how its workers are started')
    .option('--ramp <percent>', 'send only this share of new searches to it', percentage)
    .option('--wait <seconds>', 'for how long its first worker may take', positiveNumber, 120)
    .addOption(new Option('--show', 'only show the versions').conflicts(['rollback', 'provider']))
    .addOption(new Option('--rollback', 'end a ramp, else use the version before again').conflicts(['provider']))
    .option('--json', 'print JSON');
  return withExamples(
    command,
    'gate deploy register --provider aws-lambda --function ARN --role ARN --external-id ID',
    'GATE_BUILD_ID=v2 gate deploy register --provider gcp-cloud-run --project P --region R --worker-pool W --ramp 10',
    'gate deploy register --show',
    'gate deploy register --rollback',
  );
}

function collectScale(text: string, before: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> {
  const [, key, number] = /^([a-z_]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (key === undefined) throw new InvalidArgumentError('give KEY=NUMBER, such as scale_up_cooloff_ms=1000');
  return { ...before, [key]: Number(number) };
}

function percentage(text: string): number {
  const value = positiveNumber(text);
  if (value > 100) throw new InvalidArgumentError('give a share above 0 and up to 100');
  return value;
}
