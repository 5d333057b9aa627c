/**
 * Spider 2.0 lite and snow: analyses in BigQuery, SQLite and Snowflake, judged by the published results. The folder is the
 * publisher's repository, or its `spider2-lite` or `spider2-snow`.
 *
 * 1. A prediction is right if each gold column that counts equals one of its columns; any of the gold results may match.
 * 2. The board has two figures: the share right of all questions (`ex`), and of those with a prediction (`exSubmitted`).
 * 3. No engine here runs BigQuery: such questions are scored from CSV alone. What could not be run is in neither figure.
 * 4. The official scorer of lite does not run SQL for Snowflake questions and gives it no points; CSV can have them.
 */
import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { z } from 'zod';
import type { Dialect } from '../../domain';
import { CONTEXT_CHARS } from '../../input-limits';
import { SqlEngineError, type SqlEngine, type SqlOptions } from '../../ports';
import {
  BenchmarkDataError,
  type Benchmark,
  type BoardScore,
  type Metrics,
  type OpenBenchmark,
  type Prediction,
  type PredictionFormat,
} from '../benchmark';
import { describeFailure } from '../execution-match';
import type { BenchmarkItem, Gold } from '../question-file';
import type { Verdict } from '../score';
import { firstPath, someOf, textIn } from './files';
import { linesIn } from './instance-lines';
import { csvField, csvRows, csvText, holdsColumns, tableOf, type CsvRows } from './pandas-table';

type Suite = 'lite' | 'snow';

/** Of lite and of snow. */
const Line = z.union([
  z.object({ instance_id: z.string(), question: z.string(), db: z.string(), external_knowledge: z.string().nullish() }),
  z
    .object({
      instance_id: z.string(),
      instruction: z.string(),
      db_id: z.string(),
      external_knowledge: z.string().nullish(),
    })
    .transform(({ instruction: question, db_id: db, ...line }) => ({ ...line, question, db })),
]);
type Line = z.infer<typeof Line>;

const Standard = z.object({
  instance_id: z.string(),
  condition_cols: z.array(z.union([z.number().int(), z.array(z.number().int())])).nullish(),
  ignore_order: z.boolean().default(false),
});
type Standard = z.infer<typeof Standard>;

/** Of a document: a context may not be longer. */
const KNOWLEDGE_CHARS = CONTEXT_CHARS - 1_000;
const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz');

async function open(suite: Suite, folder: string): Promise<OpenBenchmark> {
  const name = `spider2-${suite}`;
  const file = firstPath(folder, `${name}.jsonl`, `${name}/${name}.jsonl`);
  if (file === null) throw new BenchmarkDataError(`${folder} is no folder of Spider 2.0: it has no ${name}.jsonl`);
  const [base, gold] = [dirname(file), join(dirname(file), 'evaluation_suite', 'gold')];
  const lines = await linesIn(file, Line);
  const rules = join(gold, `spider2${suite}_eval.jsonl`);
  const standards = new Map((await linesIn(rules, Standard)).map((standard) => [standard.instance_id, standard]));
  const lacking = lines.filter(({ instance_id: id }) => !standards.has(id));
  if (lacking.length > 0)
    throw new BenchmarkDataError(`${rules} has no line for ${someOf(lacking.map((line) => line.instance_id))}`);
  const results = await goldResults(
    join(gold, 'exec_result'),
    lines.map((line) => line.instance_id),
  );
  const unread = lines.flatMap(({ external_knowledge: name }) => {
    const file = documentOf(base, name);
    return file === null || existsSync(file) ? [] : [basename(file)];
  });
  const items = await Promise.all(lines.map((line) => itemOf(line, results, base)));
  const database = ({ database: named, engine }: BenchmarkItem): string | null =>
    engine === 'sqlite'
      ? firstPath(join(base, 'resource', 'databases'), `${named ?? ''}.sqlite`, `spider2-localdb/${named ?? ''}.sqlite`)
      : null;
  return {
    items,
    remarks: [...remarksOn(items, database), ...missing('resource/documents', unread)],
    database,
    isUnrun: ({ id }) => isUnrun(suite, id),
    score: async (id, prediction, engine, options) => {
      const standard = standards.get(id);
      if (standard === undefined) throw new TypeError(`no question ${id}`);
      return scored(suite, standard, prediction, results.get(id) ?? [], engine, options);
    },
    metrics: metricsOf,
  };
}

/** The gold results of each id: `ID.csv`, or else `ID_a.csv`, `ID_b.csv`, … */
async function goldResults(folder: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  if (!existsSync(folder)) throw new BenchmarkDataError(`${folder} is missing: it holds the gold results`);
  const names = new Set(await readdir(folder));
  const lettered = (id: string): string[] => LETTERS.map((letter) => `${id}_${letter}.csv`);
  const namesOf = (id: string): string[] =>
    names.has(`${id}.csv`) ? [`${id}.csv`] : lettered(id).filter((name) => names.has(name));
  return new Map(ids.map((id) => [id, namesOf(id).map((name) => join(folder, name))]));
}

async function itemOf(
  line: Line,
  results: ReadonlyMap<string, readonly string[]>,
  base: string,
): Promise<BenchmarkItem> {
  const { instance_id: id, question, db } = line;
  const file = join(base, 'evaluation_suite', 'gold', 'sql', `${id}.sql`);
  const sql = existsSync(file) ? [await textIn(file)] : [];
  const about = { answer: null, text: null, answerable: true, abstainText: null, category: null, difficulty: null };
  const gold: Gold | null = (results.get(id) ?? []).length === 0 ? null : { sql, ...about };
  const context = await knowledgeFor(line, base);
  return { id, question, context, instructions: null, engine: engineOf(id), database: db, gold };
}

/** The document that the benchmark gives with the question; null: none, or the folder lacks it. */
async function knowledgeFor({ external_knowledge: name }: Line, base: string): Promise<string | null> {
  const file = documentOf(base, name);
  if (file === null || !existsSync(file)) return null;
  const text = (await textIn(file)).trim();
  return `External knowledge (${name ?? ''}):\n${text.length > KNOWLEDGE_CHARS ? `${text.slice(0, KNOWLEDGE_CHARS)}\n…` : text}`;
}

const documentOf = (base: string, name: string | null | undefined): string | null =>
  typeof name === 'string' ? join(base, 'resource', 'documents', name) : null;

/** There is no BigQuery here, and the official scorer of lite runs no SQL for Snowflake. */
function isUnrun(suite: Suite, id: string): boolean {
  const engine = engineOf(id);
  return engine === null || (suite === 'lite' && engine === 'snowflake');
}

/** null: BigQuery. */
function engineOf(id: string): Dialect | null {
  if (id.startsWith('local')) return 'sqlite';
  return id.startsWith('sf') ? 'snowflake' : null;
}

function remarksOn(items: readonly BenchmarkItem[], database: (item: BenchmarkItem) => string | null): string[] {
  const cloud = items.filter(({ engine }) => engine === null).length;
  const ungraded = items.filter(({ gold }) => gold === null).map(({ id }) => id);
  const closed = items.filter((item) => item.engine === 'sqlite' && database(item) === null);
  const absent = closed.map((item) => `${item.database ?? ''}.sqlite`);
  return [
    ...(cloud === 0
      ? []
      : [
          `${cloud} of ${items.length} questions need BigQuery, which is not run here: they are scored from ID.csv only`,
        ]),
    ...(ungraded.length === 0 ? [] : [`the publisher gives no gold result for ${someOf(ungraded)}`]),
    ...missing('resource/databases', absent),
  ];
}

function missing(folder: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${folder} lacks ${someOf([...new Set(names)])}`];
}

async function scored(
  suite: Suite,
  { instance_id: id, condition_cols: condition, ignore_order: ignoreOrder }: Standard,
  prediction: Prediction,
  golds: readonly string[],
  engine: SqlEngine,
  options: SqlOptions,
): Promise<BoardScore> {
  if (prediction.kind === 'none') return score('wrong', 'there is no prediction for it', { ex: 0 });
  if (golds.length === 0) return score('no-gold', 'the publisher gives no gold result', { ex: 0, submitted: 1 });
  if (prediction.kind === 'abstained') return score('wrong-abstained', 'abstained');
  const found = prediction.kind === 'rows' ? withFields(prediction) : await run(suite, id, prediction, engine, options);
  if ('verdict' in found) return found;
  const predicted = tableOf(found);
  const isOne = golds.length === 1 && basename(golds[0] ?? '') === `${id}.csv`;
  for (const [index, file] of golds.entries()) {
    const positions = positionsFor(suite, condition ?? [], isOne ? null : { index, count: golds.length });
    // There the official scorer fails, so later results are not tried.
    if (positions === null) return score('wrong', `condition_cols has no columns for ${file}`);
    if (holdsColumns(predicted, tableOf(await csvIn(file)), positions, ignoreOrder))
      return score('correct', 'equal to a gold result');
  }
  return score('wrong', 'no gold result has all of its columns in the prediction');
}

/** Which columns of one gold result count: a list for all results, or a list of lists, one for each. */
function positionsFor(
  suite: Suite,
  condition: readonly (number | readonly number[])[],
  gold: { readonly index: number; readonly count: number } | null,
): readonly number[] | null {
  const flat = condition.filter((one) => typeof one === 'number');
  const isFlat = flat.length === condition.length;
  if (gold === null) return isFlat ? flat : null;
  const [first] = condition;
  if (first === undefined || (condition.length === 1 && typeof first !== 'number' && first.length === 0)) return [];
  if (gold.count > 1 && condition.some((one) => typeof one === 'number')) return isFlat ? flat : null;
  const own = condition[gold.index];
  if (typeof own !== 'number') return own ?? null;
  // A list for a single `ID_a.csv` is read as one of lists; lite then takes the number 0 for "all columns".
  return suite === 'lite' && own === 0 ? [] : [own];
}

const withFields = ({ columns, rows }: Extract<Prediction, { kind: 'rows' }>): CsvRows => ({
  columns,
  rows: rows.map((row) => row.map(csvField)),
});

async function run(
  suite: Suite,
  id: string,
  { statements }: Extract<Prediction, { kind: 'sql' }>,
  engine: SqlEngine,
  options: SqlOptions,
): Promise<CsvRows | BoardScore> {
  const dialect = engineOf(id);
  if (dialect === null) return score('undecided', `BigQuery is not run here: give the result as ${id}.csv`, {});
  if (suite === 'lite' && dialect === 'snowflake')
    return score(
      'undecided',
      `the official scorer of lite gives SQL for ${id} no points: give its result as ${id}.csv`,
      { ex: 0, submitted: 1 },
    );
  if (engine.dialect !== dialect) return score('infrastructure', `${id} needs ${dialect}, not ${engine.dialect}`, {});
  try {
    const { results } = await engine.run([statements.join(';\n')], options);
    const [result] = results;
    if (result === undefined) return score('infrastructure', 'the database gave no result', {});
    // The scorer of lite waits for ever.
    if (result.kind === 'timeout' && suite === 'lite') return score('undecided', describeFailure(result), {});
    if (result.kind !== 'rows') return score('wrong', describeFailure(result));
    if (result.truncated) return score('undecided', 'the result is larger than the row cap', {});
    if (suite === 'snow' && result.rows.length === 0) return score('wrong', 'the result is empty');
    return withFields({ kind: 'rows', columns: result.columns.map(({ name }) => name), rows: result.rows });
  } catch (error) {
    if (!(error instanceof SqlEngineError)) throw error;
    return score('infrastructure', error.message, {});
  }
}

function score(
  verdict: Verdict,
  reason: string,
  points: BoardScore['points'] = { ex: Number(verdict === 'correct'), submitted: 1 },
): BoardScore {
  return { verdict, points, reason };
}

/** In per cent. Both are of what could be run; `unscored` counts the rest. An id without a prediction has a score of 0. */
function metricsOf(scores: ReadonlyMap<string, BoardScore>): Metrics {
  const points = [...scores.values()].map((one) => one.points);
  const sum = (name: string): number => points.reduce((total, one) => total + (one[name] ?? 0), 0);
  const percent = (of: number): number | null => (of === 0 ? null : (100 * sum('ex')) / of);
  const unscored = points.filter(({ ex }) => ex === undefined).length;
  return { ex: percent(scores.size - unscored), exSubmitted: percent(sum('submitted')), correct: sum('ex'), unscored };
}

async function csvIn(path: string): Promise<CsvRows> {
  try {
    return csvRows(await textIn(path));
  } catch (error) {
    if (error instanceof BenchmarkDataError) throw error;
    throw new BenchmarkDataError(`${path} is no CSV that pandas reads: ${(error as Error).message}`, { cause: error });
  }
}

/** A folder with `ID.sql` or `ID.csv`; an empty file abstains, and has no points. */
const format: PredictionFormat = {
  async read(path, items) {
    const { files, problems } = await examined(path, items);
    const [problem] = problems;
    if (problem !== undefined) throw new BenchmarkDataError(problem);
    return new Map(await Promise.all([...files].map(async ([id, file]) => [id, await predictionIn(file)] as const)));
  },
  async write(to, items, predictions) {
    const given = items.map(({ id }) => [id, predictions.get(id) ?? { kind: 'none' as const }] as const);
    const kinds = new Set(given.map(([, { kind }]) => kind));
    if (kinds.has('sql') && kinds.has('rows'))
      throw new BenchmarkDataError(`${to}: the scorer takes a folder of SQL or one of CSV, and these are both`);
    await mkdir(to, { recursive: true });
    const files = given.map(
      ([id, prediction]) => [join(to, `${id}.${kinds.has('rows') ? 'csv' : 'sql'}`), textOf(prediction)] as const,
    );
    for (const [file, text] of files) await writeFile(file, text);
    return files.map(([file]) => file);
  },
  async check(path, items) {
    const { files, problems, unknown } = await examined(path, items);
    const missing = items.filter(({ id }) => !files.has(id)).map(({ id }) => id);
    const kinds = new Set([...files.values()].map(extname));
    return [
      ...problems,
      ...(unknown.length === 0
        ? []
        : [`${path}: no question has the id ${someOf(unknown)}; the scorer passes over it`]),
      ...(missing.length === 0 ? [] : [`${path} lacks ${someOf(missing)}: each counts as wrong`]),
      ...(kinds.size < 2
        ? []
        : [`${path} holds both .sql and .csv: the scorer reads one kind and passes over the other`]),
    ];
  },
};

async function examined(path: string, items: readonly BenchmarkItem[]) {
  if (!(statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false))
    throw new BenchmarkDataError(`${path} is no folder: give one with ID.sql or ID.csv for each question`);
  const names = (await readdir(path)).filter((name) => ['.sql', '.csv'].includes(extname(name))).sort();
  const stems = names.map((name) => name.slice(0, -extname(name).length));
  const known = new Set(items.map(({ id }) => id));
  const twice = stems.filter((stem, index) => known.has(stem) && stems.indexOf(stem) !== index);
  return {
    files: new Map(
      names.flatMap((name, index) =>
        known.has(stems[index] ?? '') ? [[stems[index] ?? '', join(path, name)] as const] : [],
      ),
    ),
    unknown: stems.filter((stem) => !known.has(stem)),
    problems: twice.length === 0 ? [] : [`${path}: ${someOf(twice)} has both SQL and CSV: leave one of them`],
  };
}

async function predictionIn(file: string): Promise<Prediction> {
  const text = await textIn(file);
  if (text.trim() === '') return { kind: 'abstained' };
  if (extname(file) === '.csv') return { kind: 'rows', ...(await csvIn(file)) };
  return { kind: 'sql', statements: [/```sql\n(.*?)\n```/s.exec(text)?.[1]?.trim() ?? text] };
}

function textOf(prediction: Prediction): string {
  if (prediction.kind === 'rows') return csvText(withFields(prediction));
  return prediction.kind === 'sql' ? `${prediction.statements.join(';\n')}\n` : '';
}

const suite = (name: Suite, title: string): Benchmark => ({
  name: `spider2-${name}`,
  title,
  source: 'xlang-ai/Spider2@e12c5f1',
  licence: 'MIT',
  splits: ['all'],
  open: (folder) => open(name, folder),
  format,
});

export const spider2Lite = suite('lite', 'Spider 2.0 lite: 547 analyses in BigQuery, SQLite and Snowflake');
export const spider2Snow = suite('snow', 'Spider 2.0 snow: 547 analyses in Snowflake');
