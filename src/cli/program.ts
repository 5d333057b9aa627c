/** All commands as one program, and how any of their errors becomes one line and an exit code. */
import { Command, CommanderError } from 'commander';
import { askCommand, demoCommand, learnCommand } from './ask';
import { auditCommand } from './audit';
import { batchCommand } from './batch';
import { compareCommand } from './compare';
import { type CommandFactory, type Outcome, withExamples } from './options';
import { dataCommand } from './data';
import { dbCommand, sqlCommand } from './db';
import { devCommand } from './dev';
import { diffCommand, listCommand, reportCommand, resultCommand, statusCommand, traceCommand } from './stored';
import { doctorCommand } from './doctor';
import { AlreadyTold, EXIT, EXIT_CODES_HELP, errorText, exitCodeOf, type ExitCode } from './errors';
import { forkCommand } from './fork';
import { gcCommand } from './gc';
import type { Io } from './io';
import { layerCommand } from './layer';
import { scoreCommand } from './score';
import { STEERING_COMMANDS } from './steer';
import { submitCommand } from './submit';
import { opsCommand } from './ops';
import { packageVersion } from '../workers/package-folder';

const COMMANDS: readonly CommandFactory[] = [
  askCommand,
  batchCommand,
  compareCommand,
  scoreCommand,
  submitCommand,
  dataCommand,
  demoCommand,
  listCommand,
  statusCommand,
  resultCommand,
  traceCommand,
  reportCommand,
  diffCommand,
  auditCommand,
  ...STEERING_COMMANDS,
  forkCommand,
  dbCommand,
  layerCommand,
  learnCommand,
  sqlCommand,
  devCommand,
  opsCommand,
  gcCommand,
  doctorCommand,
];

export function createProgram(io: Io, outcome: Outcome): Command {
  const program = new Command('gate')
    .description('Asks a database in plain language and proves what the answer assumes.')
    .version(packageVersion() ?? 'unknown', '--version')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText(
      'after',
      `\n${EXIT_CODES_HELP}\nA question may cost at most 1 US dollar unless --max-cost says otherwise.`,
    );
  withExamples(program, 'gate ask "How many orders came in last week?" --db ./shop.sqlite', 'gate doctor');
  for (const create of COMMANDS) program.addCommand(create(io, outcome));
  for (const command of withSubcommands(program)) {
    command.exitOverride();
    command.configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      outputError: (text, write) => write(usageLine(text, command)),
    });
    if (command !== program && command.commands.length === 0) command.option('--debug', 'show stack traces');
  }
  return program;
}

export function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** Commander's own message as one line like all others, with where to look when it does not say what is allowed. */
function usageLine(text: string, command: Command): string {
  const line = text
    .trim()
    .replace(/^error: /, '')
    .replace(/\s*\n\(Did you mean (.*)\?\)$/s, '; did you mean $1?');
  if (/^too many arguments/.test(line) && !/Expected 0/.test(line))
    return `gate: ${line.replace(/\.$/, '')}; put a text of several words in quotes; see ${pathOf(command)} --help\n`;
  const hint = /did you mean|is invalid|cannot be used/.test(line) ? '' : `; see ${pathOf(command)} --help`;
  return `gate: ${line.replace(/\.$/, '')}${hint}\n`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

export async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const outcome: Outcome = { code: EXIT.ok };
  const program = createProgram(io, outcome);
  try {
    if (args.length === 0) {
      program.outputHelp({ error: true });
      return EXIT.usage;
    }
    await program.parseAsync(args, { from: 'user' });
    return outcome.code;
  } catch (error) {
    // Commander has printed its own message.
    if (!(error instanceof CommanderError || error instanceof AlreadyTold))
      io.err(`gate: ${errorText(error, args.includes('--debug'))}\n`);
    return exitCodeOf(error);
  }
}
