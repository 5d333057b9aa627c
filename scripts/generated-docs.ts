/**
 * What is generated into `docs`: the help texts of both programs as they are printed, and JSON schemas of what other programs
 * read of them, made from the zod schemas that the code itself uses.
 */
import type { Command } from 'commander';
import * as z from 'zod';
import { JudgedLine } from '../benchmarks/judge';
import { GATE_BENCH } from '../benchmarks/program';
import { ScoreReport } from '../benchmarks/score';
import { Submission } from '../benchmarks/submit';
import { UpdateAudit } from '../benchmarks/update-audit';
import { EXIT } from '../src/cli/exit';
import type { Io } from '../src/cli/io';
import { createProgram, GATE, withSubcommands, type Program } from '../src/cli/program';
import { howToWrite, METHODS, usualOf, type MethodSetting } from '../src/config/method-specs';
import type { Figures } from '../src/config/presets';
import { AnswerRecord, Standing } from '../src/domain';
import { Run } from '../src/report/run';
import { ResultLine } from '../src/questions';
import { BatchStatus } from '../src/app/run/batch-status';

const headOf = (title: string, folder: string): string => `# ${title}

Generated from the help texts by \`npx tsx scripts/write-cli-docs.ts\`; edit the commands in \`${folder}\`, not this page.
`;

const WIDTH = 100;

export function cliDocs(of: Program = GATE, title = 'The command line', folder = 'src/cli'): string {
  const commands = withSubcommands(createProgram(SILENT, { code: EXIT.ok }, of));
  return `${headOf(title, folder)}${commands.map(section).join('')}`;
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

/** For docs/methods/README.md: what each method takes, its default and where that is from; equal settings of methods in one row. */
export function methodSettings(): string {
  const rows = new Map<string, string[]>();
  for (const [method, settings] of Object.entries(METHODS)) {
    for (const setting of settings) {
      const usual = [...new Set(FIGURES.map((figures) => usualText(method as keyof typeof METHODS, setting, figures)))];
      const row = [`\`${howToWrite(setting)}\``, setting.means, usual.join(', '), setting.from].join(' | ');
      rows.set(row, [...(rows.get(row) ?? []), `\`${method}\``]);
    }
  }
  return [
    'method | setting | what it does | default | from',
    '--- | --- | --- | --- | ---',
    ...[...rows].map(([row, methods]) => `${methods.join(', ')} | ${row}`),
  ]
    .map((row) => `| ${row} |\n`)
    .join('');
}

const FIGURES = ['official', 'seed'] as const;

/** `yes`: a choice that holds by itself. */
function usualText(method: keyof typeof METHODS, setting: MethodSetting, figures: Figures): string {
  const usual = usualOf(method, setting, figures);
  const isEqual = usual === usualOf(method, setting);
  const text =
    setting.range === undefined
      ? usual === setting.value
        ? 'yes'
        : ''
      : String((usual as number | string | undefined) ?? '');
  return figures === 'official' || isEqual ? text : `${text || 'no'} (seed)`;
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

/** What `--json` adds to the stored record. */
const AnswerOutput = AnswerRecord.extend({
  asOf: AnswerRecord.shape.asOf.describe('when the rows were read'),
  claims: AnswerRecord.shape.claims.describe(
    'what the SQL takes for granted or, with operator null, what is not stored; each with the counts by which the database decided it; left out by searches that claim nothing',
  ),
  standing: Standing.nullable().describe(
    'how far the answer stands proved; unchecked: the database proved nothing of what it rests on; null: there is no answer',
  ),
  report: z.string().nullable().describe('path of the HTML report; null with encryption on'),
  ui: z.string().nullable().describe('address in the Temporal UI; null when no server stays up'),
});

/** By the name of the file in `docs/schemas`, as its text. */
export function jsonSchemas(): Readonly<Record<string, string>> {
  return {
    'answer.schema.json': schemaText('The answer to a question: gate ask, result and demo with --json', AnswerOutput),
    'run.schema.json': schemaText('summary.json: what a run came to (docs/runs.md)', Run),
    'results.schema.json': schemaText('A line of results.jsonl: one question of gate batch run', ResultLine),
    'batch-status.schema.json': schemaText('A batch of the store: gate batch status ID --json', BatchStatus),
  };
}

export const benchDocs = (): string => cliDocs(GATE_BENCH, 'The command line of gate-bench', 'benchmarks/program.ts');

/** Texts of schemas by the names of their files in `docs/schemas`. */
export function benchSchemas(): Readonly<Record<string, string>> {
  return {
    'score.schema.json': schemaText(
      'A predictions file by the rules of its benchmark: gate-bench score --json',
      ScoreReport,
    ),
    'submission.schema.json': schemaText(
      'OUT.manifest.json beside what gate-bench submit wrote, and its --json',
      Submission,
    ),
    'update-audit.schema.json': schemaText('gate-bench audit updates --json', UpdateAudit),
    'judged.schema.json': schemaText('A line of judged.jsonl: one answer that gate-bench judge read', JudgedLine),
  };
}

/** `io: 'input'`: fields that have a default may be missing. */
function schemaText(title: string, schema: z.ZodType): string {
  return `${JSON.stringify({ title, ...z.toJSONSchema(schema, { io: 'input' }) }, null, 2)}\n`;
}
