/** The command reference as Markdown: the help texts as they are printed. */
import type { Command } from 'commander';
import { EXIT } from './errors';
import type { Io } from './io';
import { createProgram } from './program';

const HEAD = `# The command line

Generated from the help texts by \`npx tsx scripts/write-cli-docs.ts\`; edit the commands in \`src/cli\`, not this page.
`;

const WIDTH = 100;

export function cliDocs(): string {
  const program = createProgram(SILENT, { code: EXIT.ok });
  const commands = [program, ...program.commands.flatMap((command) => [command, ...command.commands])];
  return `${HEAD}${commands.map(section).join('')}`;
}

function section(command: Command): string {
  let help = '';
  command.configureOutput({
    writeOut: (text) => (help += text),
    getOutHelpWidth: () => WIDTH,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  const path = nameOf(command);
  return `\n## ${path}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`;
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

const SILENT: Io = {
  env: {},
  cwd: '.',
  platform: 'linux',
  out: () => undefined,
  err: () => undefined,
  live: false,
  outIsTerminal: false,
  columns: WIDTH,
  now: () => 0,
  readInput: () => Promise.resolve(''),
  onInterrupt: () => () => undefined,
};
