/** `gate deploy`: writes what a platform needs to run workers; the work is in `deploy-….ts`. */
import { Command, Option } from 'commander';
import type { ContainerFlags } from './deploy-container';
import type { LambdaFlags } from './deploy-lambda';
import { registerOptions, type RegisterFlags } from './deploy-register-options';
import { positiveNumber, withExamples, type CommandFactory } from './options';

export const deployCommand: CommandFactory = (io, outcome) => {
  const command = new Command('deploy').description('run workers on a platform (docs/deploying.md)');
  for (const make of [lambda, cloudRun, kubernetes, register]) command.addCommand(make(io, outcome));
  return withExamples(command, 'gate deploy lambda --write ./lambda', 'gate deploy register --show');
};

/** A subcommand that writes files into a folder. */
function written(name: string, description: string, ...examples: readonly string[]): Command {
  return withExamples(
    new Command(name)
      .description(description)
      .option('--write <folder>', 'write the files into this folder')
      .option('--dry-run', 'only say what would be written')
      .option('--json', 'print JSON'),
    ...examples,
  );
}

const lambda: CommandFactory = (io) =>
  written(
    'lambda',
    'workers that Temporal starts on AWS Lambda when work arrives: a package and a CloudFormation template',
    'gate deploy lambda --dry-run',
    'gate deploy lambda --write ./lambda --arch arm64',
  )
    .addOption(new Option('--arch <architecture>', 'of the function').choices(['x64', 'arm64']).default('x64'))
    .addOption(
      new Option('--secrets <store>', 'where the function gets its secrets: Systems Manager or Secrets Manager')
        .choices(['ssm', 'secretsmanager'])
        .default('ssm'),
    )
    .action(async (flags: LambdaFlags) => (await import('./deploy-lambda')).deployLambda(flags, io));

/** A subcommand whose files run the image of `infra/Dockerfile`. */
function contained(name: string, description: string, ...examples: readonly string[]): Command {
  return written(name, description, ...examples)
    .requiredOption('--image <reference>', 'the image of infra/Dockerfile in your registry, best with its digest')
    .option('--grace <seconds>', 'for how long running steps may finish when a container stops', positiveNumber, 25);
}

const cloudRun: CommandFactory = (io) =>
  contained(
    'cloud-run',
    'worker pools of Google Cloud Run, with no instance until work arrives',
    'gate deploy cloud-run --image REGISTRY/gate@sha256:… --write ./cloud-run',
  ).action(async (flags: ContainerFlags) => (await import('./deploy-container')).deployCloudRun(flags, io));

const kubernetes: CommandFactory = (io) =>
  contained(
    'kubernetes',
    'a Helm chart: a deployment for each group of queues',
    'gate deploy kubernetes --image REGISTRY/gate@sha256:… --write ./chart',
  ).action(async (flags: ContainerFlags) => (await import('./deploy-container')).deployKubernetes(flags, io));

const register: CommandFactory = (io) =>
  registerOptions().action(async (flags: RegisterFlags) =>
    (await import('./deploy-register')).deployRegister(flags, io),
  );
