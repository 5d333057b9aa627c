/** All commands as one program, and how any of their errors becomes one line and an exit code. */
import { Command, CommanderError } from 'commander';
import { askCommand, demoCommand, forkCommand, learnCommand } from './ask';
import { batchCommand } from './batch';
import { rootOf, withExamples, type CommandFactory, type Outcome } from './options';
import { dbCommand } from './db';
import { devCommand } from './dev';
import { listCommand, showCommand } from './show';
import { doctorCommand } from './doctor';
import { errorText } from '../app/errors';
import { AlreadyTold, EXIT, EXIT_CODES_HELP, exitCodeOf, type ExitCode } from './exit';
import type { Io } from './io';
import { layerCommand } from './layer';
import { mcpCommand } from './mcp';
import { serveCommand } from './serve';
import { STEERING_COMMANDS } from './steer';
import { uiCommand } from './ui';
import { opsCommand } from './ops';
import { scheduleCommand } from './schedule';
import { visible } from '../report/printable';
import { packageVersion } from '../workers/package-folder';

/** A command line of its own. */
export interface Program {
  readonly name: string;
  readonly description: string;
  /** Below the exit codes. */
  readonly note?: string;
  readonly examples: readonly string[];
  readonly commands: readonly CommandFactory[];
  /** Commands that the first page of the help only names, in groups. */
  readonly more?: readonly (readonly [group: string, commands: readonly CommandFactory[]])[];
}

export const GATE: Program = {
  name: 'gate',
  description: 'Asks a database in plain language and proves what the answer assumes.',
  note: 'A question may cost at most 1 US dollar unless --max-cost says otherwise. Benchmarks of the public: gate-bench.',
  examples: ['gate ask "How many orders came in last week?" --db ./shop.sqlite', 'gate doctor'],
  commands: [
    ...[askCommand, learnCommand, layerCommand, showCommand, listCommand, batchCommand],
    ...[uiCommand, mcpCommand, serveCommand, dbCommand, devCommand, doctorCommand, demoCommand],
  ],
  more: [
    ['steering', [...STEERING_COMMANDS, forkCommand]],
    ['schedules', [scheduleCommand]],
    ['operations', [opsCommand]],
  ],
};

export function createProgram(io: Io, outcome: Outcome, of: Program = GATE): Command {
  const { name, description, note, examples, commands, more = [] } = of;
  const program = new Command(name)
    .description(description)
    .version(packageVersion() ?? 'unknown', '--version')
    .option('--debug', 'show stack traces')
    .helpCommand('help [command]', 'show the help of a command');
  // One option for all commands, which read it as their own.
  program.hook('preAction', (_, command) => void command.setOptionValue('debug', program.opts()['debug']));
  for (const create of commands) program.addCommand(create(io, outcome));
  const groups = more.map(([group, factories]) => {
    const created = factories.map((create) => create(io, outcome));
    for (const command of created) program.addCommand(command, { hidden: true });
    return `  ${group.padEnd(16)}${created.map(namedInGroup).join(', ')}`;
  });
  const named = groups.length === 0 ? '' : `\nMore commands (${name} help COMMAND):\n${groups.join('\n')}\n`;
  program.addHelpText('after', `${named}\n${EXIT_CODES_HELP}${note === undefined ? '' : `\n${note}`}`);
  withExamples(program, ...examples);
  for (const command of withSubcommands(program)) {
    command.exitOverride();
    command.configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      outputError: (text, write) => write(usageLine(text, command)),
    });
  }
  return program;
}

function namedInGroup(command: Command): string {
  const below = command.commands.map((each) => each.name());
  return below.length === 0 ? command.name() : `${command.name()} (${below.join(', ')})`;
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
  if (/^too many arguments/.test(line) && !/Expected 0/.test(line)) {
    const [first = '', second = ''] = command.args;
    const isName = command.options.some(({ long }) => long === '--db') && /^\S+$/.test(first) && /\s/.test(second);
    const fix = isName ? `name the database by --db ${visible(first)}` : 'put a text of several words in quotes';
    return `${rootOf(command).name()}: ${line.replace(/\.$/, '')}; ${fix}; see ${pathOf(command)} --help\n`;
  }
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
