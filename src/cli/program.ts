/** All commands as one program, and how any of their errors becomes one line and an exit code. */
import { Command, CommanderError } from 'commander';
import { askCommand, demoCommand, learnCommand } from './ask';
import { batchCommand } from './batch';
import { rootOf, withExamples, type CommandFactory, type Outcome } from './options';
import { dbCommand, sqlCommand } from './db';
import { devCommand } from './dev';
import { diffCommand, listCommand, reportCommand, resultCommand, statusCommand, traceCommand } from './stored';
import { doctorCommand } from './doctor';
import { errorText } from '../app/errors';
import { AlreadyTold, EXIT, EXIT_CODES_HELP, exitCodeOf, type ExitCode } from './exit';
import { forkCommand } from './fork';
import { gcCommand } from './gc';
import type { Io } from './io';
import { layerCommand } from './layer';
import { STEERING_COMMANDS } from './steer';
import { opsCommand } from './ops';
import { packageVersion } from '../workers/package-folder';

/** A command line of its own. */
export interface Program {
  readonly name: string;
  readonly description: string;
  /** Below the exit codes. */
  readonly note?: string;
  readonly examples: readonly string[];
  readonly commands: readonly CommandFactory[];
}

const COMMANDS: readonly CommandFactory[] = [
  askCommand,
  batchCommand,
  demoCommand,
  listCommand,
  statusCommand,
  resultCommand,
  traceCommand,
  reportCommand,
  diffCommand,
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

export const GATE: Program = {
  name: 'gate',
  description: 'Asks a database in plain language and proves what the answer assumes.',
  note: 'A question may cost at most 1 US dollar unless --max-cost says otherwise.',
  examples: ['gate ask "How many orders came in last week?" --db ./shop.sqlite', 'gate doctor'],
  commands: COMMANDS,
};

export function createProgram(
  io: Io,
  outcome: Outcome,
  { name, description, note, examples, commands } = GATE,
): Command {
  const program = new Command(name)
    .description(description)
    .version(packageVersion() ?? 'unknown', '--version')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', `\n${EXIT_CODES_HELP}${note === undefined ? '' : `\n${note}`}`);
  withExamples(program, ...examples);
  for (const create of commands) program.addCommand(create(io, outcome));
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
    return `${rootOf(command).name()}: ${line.replace(/\.$/, '')}; put a text of several words in quotes; see ${pathOf(command)} --help\n`;
  const hint = /did you mean|is invalid|cannot be used/.test(line) ? '' : `; see ${pathOf(command)} --help`;
  return `${rootOf(command).name()}: ${line.replace(/\.$/, '')}${hint}\n`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

export async function run(args: readonly string[], io: Io, of: Program = GATE): Promise<ExitCode> {
  const outcome: Outcome = { code: EXIT.ok };
  const program = createProgram(io, outcome, of);
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
      io.err(`${of.name}: ${errorText(error, args.includes('--debug'))}\n`);
    return exitCodeOf(error);
  }
}
