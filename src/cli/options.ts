/** What every command is to the program, options that several share, and the checks of their values. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { METHODS, parseMethodSpec, type MethodSpec } from '../config/method-specs';
import { LIMITS, limitsOf, type LimitFlags, type Limits } from '../config/question-limits';
import type { MemoryMode } from '../domain';
import { ROLES } from '../domain/role-names';
import { DEFAULT_COST_CEILING_USD } from '../config/presets';
import type { ExitCode } from './exit';
import type { Io } from './io';

// Written out, because the schema that holds them would load zod for every `--help`.
const MEMORY_MODES = ['off', 'read', 'on'] as const satisfies readonly MemoryMode[];
const ROLE_NAMES: readonly string[] = ROLES.filter((role) => role !== 'judge');

/** Names of models, by role or `default`. */
export type ModelFlags = Readonly<Record<string, string>>;

export { limitsOf, type LimitFlags };

export interface SearchFlags extends LimitFlags {
  /** Default: `method` of the configuration. */
  readonly method?: MethodSpec;
  readonly memory?: MemoryMode;
  readonly model?: ModelFlags;
  readonly seed?: number;
}

export function addSearchOptions(command: Command): Command {
  command
    .option(
      '--method <spec>',
      `how to search: ${Object.keys(METHODS).join(', ')}, some with settings, as in react:queries=8 (docs/methods; default: fast, or "method" of the configuration)`,
      parseMethodSpec,
    )
    .addOption(memoryOption())
    .option('--model <name>', 'model for all roles, or ROLE=NAME for one (repeatable)', collectModels)
    .option('--seed <n>', 'a number; another seed makes another search', integer, 0);
  return addLimitOptions(command);
}

export function memoryOption(): Option {
  return new Option(
    '--memory <mode>',
    'what the database proved before (docs/layer.md): use it and add to it (on), only use it (read), neither (off)',
  ).choices(MEMORY_MODES);
}

export function addLimitOptions(command: Command): Command {
  return command
    .option(
      '--max-cost <usd>',
      `the most that a question may cost, in US dollars, or none (a new one: ${String(DEFAULT_COST_CEILING_USD)})`,
      orNone(positiveNumber),
    )
    .option(
      '--max <limit=n>',
      `another limit of a question, or LIMIT=none (repeatable): ${Object.keys(LIMITS).join(', ')}`,
      collectLimits,
    );
}

function collectLimits(text: string, before: Limits = {}): Limits {
  const [, name = '', value = ''] = /^([a-z-]+)=(.*)$/.exec(text) ?? [];
  if (!Object.hasOwn(LIMITS, name))
    throw new InvalidArgumentError(`give LIMIT=N, such as calls=40; limits: ${Object.keys(LIMITS).join(', ')}`);
  const [, , isWhole] = LIMITS[name as keyof typeof LIMITS];
  return { ...before, [name]: orNone(isWhole ? positiveInteger : positiveNumber)(value) };
}

export const A_DATABASE =
  'a configured name, a file (SQLite, DuckDB, CSV, Parquet, JSON), a folder of data files, or a URL (postgresql://…)';

/** Of the commands that ask one database. */
export const ONE_DATABASE = ['--db <database>', `${A_DATABASE} (default: the only configured one)`] as const;

/** The rows alone, for programs. */
export function csvOption(): Option {
  return new Option('--csv', 'print only the rows, as CSV with a header: exact values, NULL empty, an empty text ""');
}

/** Of the commands that ask a judge. `model`: the option that names it. */
export function addJudgeOptions(command: Command, model = '--model'): Command {
  return command
    .option(`${model} <name>`, 'the model that judges (default: models.roles.judge, else the default model)')
    .option(
      '--max-cost <usd>',
      'judge no more once this run has cost this much, in US dollars, or none; what was judged before costs nothing',
      orNone(positiveNumber),
      DEFAULT_COST_CEILING_USD,
    );
}

export function collectModels(text: string, before: ModelFlags = {}): ModelFlags {
  const match = /^([a-z-]+)=(.*)$/.exec(text);
  const role = match?.[1] ?? 'default';
  const name = (match?.[2] ?? text).trim();
  if (name === '') throw new InvalidArgumentError('give the name of a model');
  if (match !== null && !ROLE_NAMES.includes(role)) {
    throw new InvalidArgumentError(`'${role}' is not a role; allowed: ${ROLE_NAMES.join(', ')}`);
  }
  return { ...before, [role]: name };
}

export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** `--no-docs` before it makes the value false. */
export function collectDocs(text: string, before?: readonly string[] | boolean): readonly string[] {
  return collect(text, Array.isArray(before) ? (before as readonly string[]) : []);
}

export function integer(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('give a whole number');
  return Number(text);
}

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('give a whole number above 0');
  return Number(text);
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0) || !Number.isFinite(value))
    throw new InvalidArgumentError('give a number above 0');
  return value;
}

/** The word stays a word: commander makes an empty text of a value that is parsed to null. */
export function orNone(parse: (text: string) => number): (text: string) => number | 'none' {
  return (text) => (text === 'none' ? text : parse(text));
}

export function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0 && value < 65_536)) throw new InvalidArgumentError('give a port from 1 to 65535');
  return value;
}

/** A command with its examples. */
export function commandOf(name: string, description: string, ...examples: readonly string[]): Command {
  return withExamples(new Command(name).description(description), ...examples);
}

/** Examples below the options, in the help and in the generated documentation. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const title = examples.length === 1 ? 'Example' : 'Examples';
  return command.addHelpText('after', `\n${title}:\n${examples.map((example) => `  $ ${example}`).join('\n')}`);
}

/** How an action hands its exit code back; commander itself knows only exceptions. */
export interface Outcome {
  code: ExitCode;
}

export type CommandFactory = (io: Io, outcome: Outcome) => Command;

/** Of intervals as a user writes them (`30m`, `1h`), longest first. */
const UNITS = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;
const LONGEST_MS = 53 * 604_800_000;

/** In milliseconds. */
export function interval(text: string): number {
  const [, digits, wanted] = /^([1-9]\d{0,5})([mhdw])$/.exec(text) ?? [];
  const size = UNITS.find(([unit]) => unit === wanted)?.[1] ?? NaN;
  const ms = Number(digits) * size;
  if (!(ms <= LONGEST_MS))
    throw new InvalidArgumentError('give whole minutes, hours, days or weeks up to a year, such as 30m, 1h, 1d or 1w');
  return ms;
}

export function intervalText(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ['m', 60_000];
  return `${Math.round(ms / size)}${unit}`;
}

/** In UTC, to the minute. */
export function timeText(at: Date | null): string {
  return at === null ? 'none' : `${at.toISOString().slice(0, 16)}Z`;
}

/** What was typed after the program's name. */
export function argumentsOf(command: Command): readonly string[] {
  return (rootOf(command) as Command & { readonly rawArgs?: readonly string[] }).rawArgs ?? [];
}

/** Options that were typed, without those that have their default. */
export function typedOptions(command: Command): Record<string, unknown> {
  const typed = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli');
  return Object.fromEntries(typed);
}

export function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}
