/**
 * The plan of a run as data: methods × questions × seeds with their settings, from a YAML file (docs/runs.md) or from options of a
 * command line. Settings are named as these options; those of an entry of `questions` stand before those of the run.
 */
import { readFileSync } from 'node:fs';
import { isMap, isNode, isScalar, LineCounter, parseDocument, stringify, type Document } from 'yaml';
import * as z from 'zod';
import { ConfigError } from '../../config';
import { limitsOf } from '../../config/question-limits';
import type { MethodSpec } from '../../config/method-specs';
import { Method } from '../../config/schema';
import { MemoryMode, Role, type Budgets } from '../../domain';
import { JUDGE_MODES } from '../../domain/judge-modes';

const text = z.string().trim().min(1);
const count = z.int().positive();
const limit = z.union([z.number().positive(), z.literal('none')], 'give a number above 0, or none');
const wholeLimit = z.union([count, z.literal('none')], 'give a whole number above 0, or none');

/** How many, or which. */
const Seeds = z.union([
  count.transform((many) => Array.from({ length: many }, (_, seed) => seed)),
  z.array(z.int()).min(1),
]);
const MethodEntry = z.union([
  Method.transform((spec) => ({ spec, seeds: undefined })),
  z.strictObject({ method: Method, seeds: Seeds }).transform(({ method: spec, seeds }) => ({ spec, seeds })),
]);

/** Settings of the run, or of one of its sets of questions. */
const Settings = z.strictObject({
  /** Addresses by the names that the questions use, or a list as `--db` takes it. */
  databases: z
    .union([z.array(text), z.record(z.string(), text)])
    .transform((given): readonly string[] =>
      Array.isArray(given) ? given : Object.entries(given).map(([name, address]) => `${name}=${address}`),
    )
    .optional(),
  docs: z.union([z.literal(false), z.array(text)]).optional(),
  knowledge: z.boolean().optional(),
  output: z.enum(['sql', 'answer']).optional(),
  web: z.boolean().optional(),
  memory: MemoryMode.optional(),
  limit: count.optional(),
  judge: z
    .union([
      z.enum(JUDGE_MODES).transform((mode) => ({ mode, model: undefined })),
      z.strictObject({ mode: z.enum(JUDGE_MODES), model: text.optional() }),
      z.literal(false),
    ])
    .optional(),
  methods: z.array(MethodEntry).min(1).optional(),
  seeds: Seeds.optional(),
});

const Questions = Settings.extend({
  /** In tables; another name makes other batches. */
  name: text.max(100).optional(),
  /** Of what is not what it stands for, such as data made up in place of others: said wherever figures are. */
  note: text.optional(),
  file: text.optional(),
  /** One of those that a laboratory knows. */
  benchmark: text.optional(),
  data: text.optional(),
  split: text.optional(),
  /** Of a split that is drawn. */
  draw: z.int().optional(),
  ids: z.array(z.union([text, z.number().transform(String)])).optional(),
}).superRefine((entry, context) => {
  const isOfBenchmark = [entry.data, entry.split, entry.draw].some((one) => one !== undefined);
  const problem =
    (entry.file === undefined) === (entry.benchmark === undefined)
      ? 'give a file of questions, or a benchmark with data'
      : entry.benchmark === undefined
        ? isOfBenchmark && 'data, split and draw are for a benchmark; leave them out beside file'
        : entry.data === undefined && `give the folder of ${entry.benchmark} as data`;
  if (problem) context.addIssue({ code: 'custom', message: problem });
});
export type RunQuestions = z.infer<typeof Questions>;

const RunConfig = Settings.extend({
  name: text.max(100),
  questions: z.array(Questions).min(1),
  model: z
    .union([text.transform((name) => ({ default: name })), z.partialRecord(z.enum(['default', ...Role.options]), text)])
    .optional(),
  concurrency: count.default(8),
  /** The results hold the rows of each answer. */
  rows: z.boolean().optional(),
  'max-total-cost': z.number().positive().optional(),
  'max-cost': limit.optional(),
  max: z
    .strictObject({
      calls: wholeLimit,
      tokens: wholeLimit,
      minutes: limit,
      sql: wholeLimit,
      'sql-seconds': limit,
      'sql-rows': wholeLimit,
      'sql-gb': limit,
    })
    .partial()
    .optional(),
});
export type RunConfig = z.infer<typeof RunConfig>;
/** As it is written. */
export type WrittenRun = z.input<typeof RunConfig>;

export interface ReadConfig {
  /** As it stands in the file. */
  readonly text: string;
  /** The same as plain data, from which `configOf` makes it again. */
  readonly options: unknown;
  readonly config: RunConfig;
}

/** Throws `ConfigError`: each mistake with its line. `shown`: the path as the user gave it. `benchmarks`: see `Laboratory`. */
export function readRunConfig(path: string, shown: string, benchmarks: readonly string[] | null = null): ReadConfig {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    const why = { ENOENT: 'it does not exist', EISDIR: 'it is a folder', EACCES: 'no permission' }[code] ?? code;
    throw new ConfigError([`${shown} cannot be read (${why}): give the file of a run`], { cause: error });
  }
  return parseRunConfig(source, shown, benchmarks);
}

/** The same of plain data. */
export function configOf(options: unknown, shown: string, benchmarks: readonly string[] | null = null): ReadConfig {
  return parseRunConfig(stringify(options), shown, benchmarks);
}

/** The same of a text. */
function parseRunConfig(source: string, shown: string, benchmarks: readonly string[] | null): ReadConfig {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => `${shown}, line ${Math.max(1, lines.linePos(offset).line)}`;
  if (document.errors.length > 0)
    throw new ConfigError(document.errors.map(({ pos, message }) => `${at(pos[0])}: not YAML: ${message}`));
  const parsed = RunConfig.safeParse(document.toJS());
  if (!parsed.success)
    throw new ConfigError(
      parsed.error.issues.flatMap((issue) => problems(document, issue).map(([place, what]) => `${at(place)}: ${what}`)),
    );
  const [path, what] = unknownTo(benchmarks, parsed.data) ?? [];
  if (path !== undefined) throw new ConfigError([`${at(offset(document, path))}: ${path.join('.')}: ${what ?? ''}`]);
  const problem = whatIsWrong(parsed.data);
  if (problem !== null) throw new ConfigError([`${shown}: ${problem}`]);
  return { text: source, options: document.toJS(), config: parsed.data };
}

/** A benchmark that is not known, or what only a laboratory has (null: there is none); null: all can be run. */
function unknownTo(
  benchmarks: readonly string[] | null,
  config: RunConfig,
): readonly [path: readonly (string | number)[], what: string] | null {
  const only = 'gate-bench compare runs it, with the same file';
  if (benchmarks === null && config.judge) return [['judge'], only];
  for (const [n, { benchmark, judge }] of config.questions.entries()) {
    if (benchmarks === null && judge) return [['questions', n, 'judge'], only];
    if (benchmark === undefined || benchmarks?.includes(benchmark)) continue;
    return [['questions', n, 'benchmark'], benchmarks === null ? only : `allowed: ${benchmarks.join(', ')}`];
  }
  return null;
}

/** Null: nothing is. */
function whatIsWrong(config: RunConfig): string | null {
  const twice = (names: readonly string[]): string | undefined => names.find((name, n) => names.indexOf(name) < n);
  const name = twice(config.questions.map(nameOf));
  if (name !== undefined) return `questions: two entries are called ${name}; give one of them another name`;
  for (const entry of config.questions) {
    const methods = methodsOf(config, entry);
    const method = twice(methods.map(({ spec }) => spec.spec));
    if (method !== undefined) return `methods: ${method} stands twice; leave one out`;
    const seed = methods.flatMap(({ seeds }) => twice(seeds.map(String)) ?? [])[0];
    if (seed !== undefined) return `seeds: ${seed} stands twice; leave one out`;
  }
  return null;
}

/** Those of an entry stand before those of the run, and those of a method before both where they are given beside it. */
function methodsOf(config: RunConfig, entry: RunQuestions) {
  const usual = entry.seeds ?? config.seeds ?? [0];
  if (entry.methods !== undefined) return entry.methods.map(({ spec, seeds = usual }) => ({ spec, seeds }));
  return (config.methods ?? []).map(({ spec, seeds }) => ({ spec, seeds: entry.seeds ?? seeds ?? usual }));
}

export interface MethodSeed {
  readonly spec: MethodSpec;
  readonly seed: number;
}

/** What each question of this entry is asked with; seeds take turns before methods do. `only`: this seed alone. */
export function askedWith(
  config: RunConfig,
  entry: RunQuestions,
  { only, method }: { readonly only?: number; /** Where none is named. */ readonly method: MethodSpec },
): MethodSeed[] {
  const usual = entry.seeds ?? config.seeds ?? [0];
  const named = methodsOf(config, entry);
  const methods = (named.length === 0 ? [{ spec: method, seeds: usual }] : named).map(({ spec, seeds }) => ({
    spec,
    seeds: only === undefined ? seeds : [only],
  }));
  const all = [...new Set(methods.flatMap(({ seeds }) => seeds))];
  return all.flatMap((seed) => methods.flatMap(({ spec, seeds }) => (seeds.includes(seed) ? [{ spec, seed }] : [])));
}

/** As tables have it; also the name of its batches, as of a file that `gate batch run` is given. */
export function nameOf({ name, file, benchmark, split }: RunQuestions): string {
  if (name !== undefined) return name;
  if (file !== undefined) return (file.split(/[/\\]/).at(-1) ?? file).replace(/\.[^.]+$/, '');
  return [benchmark, split].filter((part) => part !== undefined).join(' ');
}

/** Where each mistake stands in the text, and what it is. */
function problems(document: Document, issue: z.core.$ZodIssue): [number, string][] {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  const where = path.join('.');
  if (issue.code === 'invalid_union' && issue.message.startsWith('Invalid input')) {
    // The alternative that came closest says what is wrong.
    const isClose = ([first]: readonly z.core.$ZodIssue[]): boolean =>
      first !== undefined && (first.code !== 'invalid_type' || first.path.length > 0);
    const [closest] = issue.errors.find(isClose) ?? issue.errors[0] ?? [];
    if (closest !== undefined) return problems(document, { ...closest, path: [...issue.path, ...closest.path] });
  }
  switch (issue.code) {
    case 'unrecognized_keys': {
      const keys = path[0] === 'questions' && path.length === 2 ? Questions : path.length === 0 ? RunConfig : null;
      const allowed = keys === null ? '' : `; allowed: ${Object.keys(keys.shape).join(', ')}`;
      return issue.keys.map((key) => [
        keyOffset(document, path, key),
        `${[...path, key].join('.')}: unknown key${allowed}`,
      ]);
    }
    case 'invalid_value':
      return [[offset(document, path), `${where}: allowed: ${issue.values.map(String).join(', ')}`]];
    default: {
      const isMissing = issue.code === 'invalid_type' && path.length > 0 && document.getIn(path) === undefined;
      const message = isMissing ? 'is missing' : issue.message.replace(/^Invalid input: /, '');
      return [[offset(document, path), where === '' ? message : `${where}: ${message}`]];
    }
  }
}

/** Of the value there, or of what holds it. */
function offset(document: Document, path: readonly (string | number)[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function keyOffset(document: Document, path: readonly (string | number)[], key: string): number {
  const map: unknown = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = isMap(map) ? map.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined;
  return pair !== undefined && isScalar(pair.key) && pair.key.range ? pair.key.range[0] : offset(document, path);
}

/** Limits of a question. */
export function budgetsOf({ max, 'max-cost': maxCost }: RunConfig): Partial<Budgets> {
  return limitsOf({ max, maxCost });
}
