/**
 * LiveSQLBench (base-lite, base-full, large), and LS-Hard: its lite questions that read, without the knowledge base. The
 * folder is the publisher's data set: `livesqlbench_data.jsonl` beside a folder for each database.
 *
 * 1. A query is right if its rows and those of the gold query are the same set, or the same list where `conditions.order`
 *    says so, after ROUND, DISTINCT and comments are taken out of both. An empty side is never right.
 * 2. Questions of the category Management write, and are judged by programs on a copy that may be written. Databases are
 *    read-only here: such questions are counted apart. So are those that need `preprocess_sql`.
 * 3. The publisher sends gold by e-mail. Its file (`…gt….jsonl`) is read if it lies in the folder; where a question has no
 *    gold, that is said.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { z } from 'zod';
import type { Dialect, SqlResult } from '../../domain';
import { SqlEngineError, type SqlEngine, type SqlOptions } from '../../ports';
import { normaliseSql } from '../../sql/body';
import type { Rows } from '../../sql/equal';
import { tokensOf } from '../../sql/lexer';
import {
  BenchmarkDataError,
  type Benchmark,
  type BoardScore,
  type Metrics,
  type OpenBenchmark,
  type OpenOptions,
  type Prediction,
  type PredictionFormat,
} from '../benchmark';
import { describeFailure } from '../execution-match';
import type { BenchmarkItem, Gold } from '../question-file';
import type { Verdict } from '../score';
import { firstPath, someOf } from './files';
import { linesIn } from './instance-lines';
import { cellText, sqliteType } from './livesqlbench-cells';
import { withoutRounding } from './livesqlbench-sql';

const Statements = z
  .union([z.string(), z.array(z.string())])
  .nullish()
  .transform((given) => (typeof given === 'string' ? (given === '' ? [] : [given]) : (given ?? [])));

/** Fields that are not named here are kept as they are. */
const Line = z.looseObject({
  instance_id: z.string(),
  selected_database: z.string(),
  query: z.string(),
  sol_sql: Statements,
  preprocess_sql: Statements,
  normal_query: z.string().nullish(),
  category: z.string().default('Query'),
  difficulty_tier: z.string().nullish(),
  conditions: z.looseObject({ order: z.boolean().nullish() }).nullish(),
});
type Line = z.infer<typeof Line>;
const GoldLine = z.looseObject({ instance_id: z.string(), sol_sql: Statements });
const PredictedLine = z.looseObject({
  instance_id: z.string(),
  pred_sqls: z.union([z.string(), z.array(z.string())], 'has to be a list of statements'),
});
const AnyLine = z.looseObject({ instance_id: z.string() });

/** What the scorer needs of a line. */
const REQUIRED = ['selected_database', 'preprocess_sql', 'sol_sql', 'pred_sqls'] as const;
/** Of the official scorer. */
const MAX_ROWS = 10_000;
const TIMEOUT_MS = 60_000;

/** The lines of the data set, for the file of predictions. */
const lineOf = new WeakMap<BenchmarkItem, Line>();

interface Board {
  readonly name: string;
  readonly title: string;
  readonly splits: readonly string[];
  /** LS-Hard: questions that read, without the knowledge base. */
  readonly hard?: true;
}

async function open(board: Board, folder: string, options: OpenOptions): Promise<OpenBenchmark> {
  const { split = board.splits[0] ?? '', hiddenKnowledge = false } = options;
  if (!board.splits.includes(split))
    throw new BenchmarkDataError(`${board.name} has no split "${split}": choose one of ${board.splits.join(', ')}`);
  const dialect: Dialect = split === 'sqlite' ? 'sqlite' : 'postgresql';
  const name = dialect === 'sqlite' ? 'livesqlbench_data_sqlite.jsonl' : 'livesqlbench_data.jsonl';
  const file = firstPath(folder, name);
  if (file === null) throw new BenchmarkDataError(`${folder} is no folder of LiveSQLBench: it has no ${name}`);
  const lines = await withGold(await linesIn(file, Line), folder);
  const chosen = board.hard ? lines.filter(isQuery) : lines;
  const items = chosen.map((line) => itemOf(line, dialect, split === 'normal'));
  for (const [index, item] of items.entries()) lineOf.set(item, chosen[index] as Line);
  const byId = new Map(chosen.map((line) => [line.instance_id, line]));
  const shown = board.hard !== true || hiddenKnowledge;
  return {
    items,
    remarks: remarksOn(chosen),
    database: ({ database }) =>
      dialect === 'sqlite' && database !== null
        ? firstPath(folder, `${database}/${database}.sqlite`, `database/${database}/${database}.sqlite`)
        : null,
    isUnrun: ({ gold }) => gold === null,
    docs: ({ database }) => {
      const name = database ?? '';
      return firstPath(folder, shown ? name : `${name}/${name}_column_meaning_base.json`);
    },
    score: async (id, prediction, engine, asked) => {
      const line = byId.get(id);
      if (line === undefined) throw new TypeError(`no question ${id}`);
      return scored(line, prediction, engine, asked);
    },
    metrics: (scores) => metricsOf(byId, scores),
  };
}

const isQuery = ({ category }: Line): boolean => category === 'Query';

/** As the publisher's script adds them: these fields of the line with the same id. */
async function withGold(lines: readonly Line[], folder: string): Promise<readonly Line[]> {
  const [name, ...others] = (await readdir(folder)).filter((one) => /gt.*\.jsonl$/i.test(one)).sort();
  if (name === undefined) return lines;
  if (others.length > 0)
    throw new BenchmarkDataError(`${folder} has more than one gold file: leave ${name} or another`);
  const golds = new Map((await linesIn(join(folder, name), GoldLine)).map((gold) => [gold.instance_id, gold]));
  return lines.map((line) => {
    const gold = golds.get(line.instance_id);
    if (gold === undefined) return line;
    const { test_cases = line['test_cases'], external_knowledge = line['external_knowledge'] } = gold;
    return { ...line, sol_sql: gold.sol_sql, test_cases, external_knowledge };
  });
}

function itemOf(line: Line, engine: Dialect, normal: boolean): BenchmarkItem {
  const { instance_id: id, selected_database: database, category, difficulty_tier: difficulty } = line;
  const question = normal ? line.normal_query : line.query;
  if (question === undefined || question === null)
    throw new BenchmarkDataError(`"${id}" has no normal_query: take the split colloquial`);
  const about = { answer: null, text: null, answerable: true, abstainText: null };
  const gold: Gold | null =
    isQuery(line) && line.sol_sql.length > 0
      ? { ...about, sql: [line.sol_sql.join(';\n')], category, difficulty: difficulty ?? null }
      : null;
  return { id, question, context: null, instructions: null, engine, database, gold };
}

function remarksOn(lines: readonly Line[]): string[] {
  const queries = lines.filter(isQuery);
  const ungraded = queries.filter((line) => line.sol_sql.length === 0).map((line) => line.instance_id);
  const management = lines.length - queries.length;
  return [
    ...(management === 0
      ? []
      : [`${management} of ${lines.length} questions are of the category Management, which writes: not scored here`]),
    ...(ungraded.length === 0
      ? []
      : [
          `no sol_sql for ${someOf(ungraded)}: the publisher sends gold by e-mail (bird.bench25@gmail.com); put its file here`,
        ]),
  ];
}

function scored(
  line: Line,
  prediction: Prediction,
  engine: SqlEngine,
  options: SqlOptions,
): BoardScore | Promise<BoardScore> {
  if (!isQuery(line)) return score('no-gold', 'Management: judged by programs on a database that may be written', {});
  if (line.sol_sql.length === 0) return score('no-gold', 'no sol_sql: the publisher sends it by e-mail', {});
  if (prediction.kind === 'none') return score('wrong', 'there is no prediction for it');
  if (prediction.kind === 'abstained') return score('wrong-abstained', 'abstained');
  if (prediction.kind === 'rows') return score('undecided', 'LiveSQLBench is scored from SQL, not from rows', {});
  if (line.preprocess_sql.length > 0)
    return score('undecided', 'its preprocess_sql writes, and databases are read-only here', {});
  return compared(line, prediction.statements, engine, options);
}

async function compared(
  line: Line,
  predicted: readonly string[],
  engine: SqlEngine,
  options: SqlOptions,
): Promise<BoardScore> {
  const asked = { ...options, timeoutMs: Math.max(options.timeoutMs, TIMEOUT_MS), maxRows: MAX_ROWS };
  const split = (statements: readonly string[]): string[] => statements.flatMap((sql) => singly(sql, engine.dialect));
  const ours = split(predicted.map(withoutRounding));
  const theirs = split(line.sol_sql.map(withoutRounding));
  // The prediction has to run as it is, too.
  const whole = split(predicted);
  const first = whole.join(';') === ours.join(';') ? [] : whole;
  if (ours.length === 0) return score('wrong', 'there is no statement in the prediction');
  try {
    const { results } = await engine.run([...first, ...ours, ...theirs], asked);
    const failed = results.findIndex(({ kind }) => kind !== 'rows');
    const failure = results[failed];
    if (failure !== undefined && failure.kind !== 'rows') {
      const isGold = failed >= first.length + ours.length;
      return isGold ? score('gold-failed', describeFailure(failure), {}) : score('wrong', describeFailure(failure));
    }
    const [mine, gold] = [results[first.length + ours.length - 1], results.at(-1)].map(rowsOf);
    if (mine === undefined || gold === undefined) return score('infrastructure', 'the database gave no result', {});
    if (mine.rows.length === 0 || gold.rows.length === 0)
      return score('wrong', `${mine.rows.length === 0 ? 'the result' : 'the gold result'} is empty`);
    const texts = await Promise.all([
      rowTexts(mine, ours.at(-1) ?? '', engine, asked),
      rowTexts(gold, theirs.at(-1) ?? '', engine, asked),
    ]);
    return judged(texts[0], texts[1], line.conditions?.order === true);
  } catch (error) {
    if (!(error instanceof SqlEngineError)) throw error;
    return score('infrastructure', error.message, {});
  }
}

/** psycopg2 runs the statements of a text one after another; here each is run by itself. */
function singly(sql: string, dialect: Dialect): string[] {
  const ends = tokensOf(sql, dialect).flatMap(({ raw, at }) => (raw === ';' ? [at] : []));
  return [0, ...ends.map((at) => at + 1)]
    .map((from, index) => normaliseSql(sql.slice(from, ends[index] ?? sql.length)))
    .filter((one) => one !== '');
}

const rowsOf = (result: SqlResult | undefined): Rows | undefined => (result?.kind === 'rows' ? result : undefined);

/** null: some value equals nothing. An error: what kinds of values these are is not known. */
async function rowTexts(
  { rows, columns }: Rows,
  sql: string,
  engine: SqlEngine,
  options: SqlOptions,
): Promise<string[] | null | SqlResult> {
  const types = engine.dialect === 'sqlite' ? [] : await typesOf(sql, columns.length, engine, options);
  if ('kind' in types) return types;
  const texts = rows.map((row) => row.map((value, index) => cellText(value, types[index] ?? sqliteType(value))));
  return texts.some((row) => row.includes(null)) ? null : texts.map((row) => JSON.stringify(row));
}

/** The names of the types, without running the statement. */
async function typesOf(
  sql: string,
  width: number,
  engine: SqlEngine,
  options: SqlOptions,
): Promise<string[] | SqlResult> {
  const columns = Array.from({ length: width }, (_, index) => `c${index}`);
  const types = columns.map((column) => `pg_typeof(q.${column})::text`).join(', ');
  const statement = `SELECT ${types} FROM (SELECT 1) AS one LEFT JOIN (\n${sql}\n) AS q(${columns.join(', ')}) ON false`;
  const [result] = (await engine.run([statement], options)).results;
  if (result === undefined || result.kind !== 'rows') return result ?? { kind: 'refused', message: 'no result' };
  return (result.rows[0] ?? []).map(String);
}

type Texts = Awaited<ReturnType<typeof rowTexts>>;

function judged(mine: Texts, gold: Texts, ordered: boolean): BoardScore {
  for (const side of [mine, gold])
    if (side !== null && 'kind' in side)
      return score(
        'undecided',
        `the types of the columns are not known: ${side.kind === 'rows' ? '' : describeFailure(side)}`,
        {},
      );
  if (!Array.isArray(mine) || !Array.isArray(gold))
    return score('wrong', 'a value is NaN, or has no form that is compared');
  const [ours, theirs] = ordered ? [mine, gold] : [[...new Set(mine)].sort(), [...new Set(gold)].sort()];
  const isSame = ours.length === theirs.length && ours.every((row, index) => row === theirs[index]);
  return isSame
    ? score('correct', 'equal results')
    : score('wrong', ordered ? 'other rows, or another order' : 'other rows');
}

function score(
  verdict: Verdict,
  reason: string,
  points: BoardScore['points'] = { ex: Number(verdict === 'correct') },
): BoardScore {
  return { verdict, points, reason };
}

/** In per cent. `ex` is the board's figure, over all questions: there is none unless each could be scored. */
function metricsOf(lines: ReadonlyMap<string, Line>, scores: ReadonlyMap<string, BoardScore>): Metrics {
  const points = [...scores.values()].flatMap((one) => one.points['ex'] ?? []);
  const percent = points.length === 0 ? null : (100 * points.reduce((sum, one) => sum + one, 0)) / points.length;
  const apart = [...lines.values()].filter((line) => !isQuery(line)).length;
  const isWhole = points.length === lines.size;
  return { ex: isWhole ? percent : null, exQuery: percent, management: apart, unscored: scores.size - points.length };
}

/** The lines of the data set, each with its `pred_sqls`; an empty list abstains. */
const format: PredictionFormat = {
  async read(path, items) {
    const known = new Set(items.map(({ id }) => id));
    const lines = (await linesIn(path, PredictedLine)).filter((line) => known.has(line.instance_id));
    return new Map(lines.map((line) => [line.instance_id, predictionOf(Statements.parse(line.pred_sqls))]));
  },
  async write(to, items, predictions) {
    const path = extname(to) === '.jsonl' ? to : join(to, 'predictions.jsonl');
    const lines = items.map((item) => {
      const line = lineOf.get(item);
      if (line === undefined) throw new TypeError(`no line for ${item.id}`);
      return JSON.stringify({ ...line, pred_sqls: statementsOf(item.id, predictions.get(item.id)) });
    });
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, lines.map((line) => `${line}\n`).join(''));
    return [path];
  },
  async check(path, items) {
    const lines = new Map((await linesIn(path, AnyLine)).map((line) => [line.instance_id, line]));
    const ids = new Set(items.map(({ id }) => id));
    const of = (problem: string, found: readonly string[]): string[] =>
      found.length === 0 ? [] : [`${path}: ${someOf(found)} ${problem}`];
    return [
      ...of(
        'is no question of this benchmark',
        [...lines.keys()].filter((id) => !ids.has(id)),
      ),
      ...of(
        'is missing',
        [...ids].filter((id) => !lines.has(id)),
      ),
      ...REQUIRED.flatMap((field) =>
        of(
          `has no ${field}, which the scorer needs`,
          [...lines].flatMap(([id, line]) => (field in line ? [] : [id])),
        ),
      ),
    ];
  },
};

function predictionOf(statements: readonly string[]): Prediction {
  return statements.every((sql) => sql.trim() === '') ? { kind: 'abstained' } : { kind: 'sql', statements };
}

function statementsOf(id: string, prediction: Prediction = { kind: 'none' }): readonly string[] {
  if (prediction.kind === 'rows') throw new BenchmarkDataError(`"${id}" has rows, and LiveSQLBench takes SQL alone`);
  return prediction.kind === 'sql' ? prediction.statements : [];
}

const benchmark = (board: Board): Benchmark => ({
  ...board,
  source: 'bird-bench/livesqlbench@59d7bd0',
  licence: 'CC-BY-SA-4.0',
  open: (folder, options) => open(board, folder, options),
  format,
});

const WORDINGS = ['colloquial', 'normal'] as const;

export const livesqlbenchBaseLite = benchmark({
  name: 'livesqlbench-base-lite',
  title: 'LiveSQLBench base-lite: 270 questions on 18 databases, with their knowledge base',
  splits: ['postgresql', 'sqlite'],
});
export const livesqlbenchBaseFull = benchmark({
  name: 'livesqlbench-base-full',
  title: 'LiveSQLBench base-full v1: 600 questions on 22 databases, in two wordings',
  splits: WORDINGS,
});
export const livesqlbenchLarge = benchmark({
  name: 'livesqlbench-large',
  title: 'LiveSQLBench large v1: 480 questions on 18 databases of a thousand columns',
  splits: WORDINGS,
});
/** The paper's 180 questions on 18 databases (Table 5): those of base-lite that read. */
export const lsHard = benchmark({
  name: 'ls-hard',
  title: 'LS-Hard: the 180 questions of LiveSQLBench base-lite that read, without its knowledge base',
  splits: ['postgresql', 'sqlite'],
  hard: true,
});
