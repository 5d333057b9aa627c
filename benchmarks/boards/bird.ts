/**
 * BIRD (dev, train) and its mini-dev: one scorer, two layouts. A prediction has its place by the running number of the
 * question, which is the id here. A place without SQL holds a blank; SQLite runs that and gives no rows, so the official
 * scorer takes it for right where the gold result is empty, and so does this one.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { someOf } from '../../src/counted';
import type { Dialect } from '../../src/domain';
import type { SqlEngine, SqlOptions } from '../../src/domain/ports';
import { type BenchmarkItem, knownText, objectsIn } from '../../src/questions/question-file';
import {
  type Benchmark,
  BenchmarkDataError,
  type BoardScore,
  type Metrics,
  type OpenBenchmark,
  type OpenOptions,
  type Prediction,
  type ScoreOptions,
} from '../benchmark';
import { birdFormat } from './bird-format';
import { asInPython, isRight, rewardOf, softF1 } from './bird-measures';
import {
  comparable,
  meanOf,
  resultOf,
  runBoth,
  scored,
  statementOf,
  tooLarge,
  unanswered,
  whileConnected,
} from './execution';
import { FileName, firstPath, jsonIn, textIn } from './files';

const LICENCE = 'CC-BY-SA-4.0';
const SOURCE = 'bird-bench/mini_dev@4d970a9';

const Entry = z.object({
  db_id: FileName,
  question: z.string().trim().min(1),
  evidence: z.string().nullish(),
  SQL: z.string().nullish(),
  difficulty: z.string().nullish(),
});
type Entry = z.infer<typeof Entry>;

/** Places of a split below the folder: the first that exists. */
interface Layout {
  readonly questions: readonly string[];
  readonly gold: readonly string[];
  readonly databases: readonly string[];
  readonly engine: Dialect;
}

export const bird: Benchmark = board('bird', 'BIRD', {
  dev: full('dev'),
  train: full('train'),
});

export const birdMiniDev: Benchmark = board('bird-mini-dev', 'BIRD mini-dev (500 questions)', {
  sqlite: mini('sqlite', 'sqlite'),
  postgresql: mini('postgresql', 'postgresql'),
});

function full(split: string): Layout {
  const places = (name: string): string[] => [name, join(split, name)];
  return {
    questions: places(`${split}.json`),
    gold: [`${split}_gold.sql`, `${split}.sql`].flatMap(places),
    databases: places(`${split}_databases`),
    engine: 'sqlite',
  };
}

function mini(name: string, engine: Dialect): Layout {
  const places = (file: string): string[] => ['', name, 'mini_dev_data', 'MINIDEV'].map((below) => join(below, file));
  return {
    questions: [`mini_dev_${name}.json`, `mini_dev_${name}.jsonl`].flatMap(places),
    gold: places(`mini_dev_${name}_gold.sql`),
    databases: places('dev_databases'),
    engine,
  };
}

function board(name: string, title: string, layouts: Readonly<Record<string, Layout>>): Benchmark {
  const splits = Object.keys(layouts);
  return {
    ...{ name, title, source: SOURCE, licence: LICENCE, splits, format: birdFormat },
    async open(folder, options) {
      const split = options.split ?? splits[0] ?? '';
      const layout = layouts[split];
      if (layout === undefined)
        throw new BenchmarkDataError(`${name} has no split "${split}": it is one of ${splits.join(', ')}`);
      return openBird(folder, layout, options);
    },
  };
}

async function openBird(folder: string, layout: Layout, options: OpenOptions): Promise<OpenBenchmark> {
  const path = firstPath(folder, ...layout.questions);
  if (path === null) throw new BenchmarkDataError(`${folder} is incomplete: ${layout.questions[0] ?? ''} is missing`);
  const entries = await entriesIn(path);
  const names = entries.map(({ db_id }) => db_id);
  const written = entries.map(({ SQL }) => SQL ?? null);
  const golds = await pairedGolds(firstPath(folder, ...layout.gold), names, path, written);
  const items = entries.map((entry, at) => itemOf(entry, at, golds[at] ?? null, layout.engine, options));
  const databases =
    layout.engine === 'sqlite'
      ? assureDatabases(folder, layout.databases, names)
      : firstPath(folder, ...layout.databases);
  const byId = new Map(items.map((item) => [item.id, item]));
  const below = (item: BenchmarkItem, file: string): string | null => {
    const place = databases === null ? null : join(databases, item.database ?? '', file);
    return place !== null && existsSync(place) ? place : null;
  };
  return {
    items,
    database: (item) => (layout.engine === 'sqlite' ? below(item, `${item.database ?? ''}.sqlite`) : null),
    docs: (item) => below(item, 'database_description'),
    score: (id, prediction, engine, scoring) => scoreBird(byId.get(id), prediction, engine, scoring),
    metrics: (scores) => birdMetrics(items, scores),
  };
}

/** A list in JSON, or JSONL, which the official scorer reads for the levels of difficulty. */
async function entriesIn(path: string): Promise<readonly Entry[]> {
  if (!path.endsWith('.jsonl')) return jsonIn(path, z.array(Entry).min(1, 'holds no questions'));
  const entries = (await objectsIn(path)).map(({ number, value }) => {
    const { success, data, error } = Entry.safeParse(value);
    if (success) return data;
    const [issue] = error.issues;
    throw new BenchmarkDataError(
      `${path}, line ${String(number)}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
    );
  });
  if (entries.length === 0) throw new BenchmarkDataError(`${path} holds no questions`);
  return entries;
}

function itemOf(entry: Entry, at: number, sql: string | null, engine: Dialect, options: OpenOptions): BenchmarkItem {
  const evidence = options.hiddenKnowledge === true ? (entry.evidence ?? '').trim() : '';
  const gold = { answer: null, text: null, answerable: true, abstainText: null, category: null };
  return {
    id: String(at),
    question: entry.question,
    context: null,
    instructions: evidence === '' ? null : knownText(evidence),
    engine,
    database: entry.db_id,
    gold: sql === null ? null : { ...gold, sql: [sql], difficulty: entry.difficulty ?? null },
  };
}

/** The result of a blank in SQLite: no rows. */
const BLANK = 'SELECT 1 WHERE 0';

/** EX and soft-F1, and R-VES if it is asked for: it runs both queries many times. */
function scoreBird(
  item: BenchmarkItem | undefined,
  prediction: Prediction,
  engine: SqlEngine,
  options: ScoreOptions,
): Promise<BoardScore> {
  return whileConnected(async () => {
    const [gold] = item?.gold?.sql ?? [];
    if (gold === undefined) return scored('no-gold', 'the benchmark has no gold for this question');
    const { kind } = prediction;
    if (kind === 'none') return withoutRows(unanswered(prediction), options);
    const sql = kind === 'sql' ? statementOf(prediction.statements) : '';
    const isBlank = kind !== 'rows' && sql.trim() === '';
    if (isBlank && engine.dialect !== 'sqlite') return withoutRows(unanswered({ kind: 'abstained' }), options);
    const ran = await runBoth(kind === 'rows' || isBlank ? BLANK : sql, [gold], engine, options);
    const compared = comparable(kind === 'rows' ? resultOf(prediction) : ran.predicted, ran.golds[0]);
    if ('verdict' in compared) return withoutRows(compared, options);
    // Rows that are given as such have no known types.
    const dialect = kind === 'rows' ? 'sqlite' : engine.dialect;
    const [ours, theirs] = [asInPython(compared[0], dialect), asInPython(compared[1], dialect)];
    const right = isRight(ours, theirs);
    if (right === null) return tooLarge();
    const points = { ex: Number(right), softF1: softF1(ours.rows, theirs.rows) };
    const rves = kind === 'rows' ? {} : await timed(right, ran.statements, engine, options);
    if (right) return scored('correct', 'equal sets of rows', { ...points, ...rves });
    const reason = `other rows than the gold (${ours.rows.length} instead of ${theirs.rows.length})`;
    return scored(kind === 'abstained' ? 'wrong-abstained' : 'wrong', reason, { ...points, ...rves });
  });
}

/** A wrong answer without rows has no points by any measure. */
function withoutRows(score: BoardScore | null, { timings }: ScoreOptions): BoardScore {
  if (score === null) throw new Error('a prediction with something to judge');
  if (score.points['ex'] !== 0) return score;
  return { ...score, points: { ex: 0, softF1: 0, ...(timings === undefined ? {} : { rves: 0 }) } };
}

/** The root of the reward, as R-VES adds it up. Each query is timed alone, with its way to the database and back. */
async function timed(
  isRight: boolean,
  [predicted = '', gold = '']: readonly string[],
  engine: SqlEngine,
  options: ScoreOptions,
): Promise<BoardScore['points']> {
  if (options.timings === undefined) return {};
  if (!isRight) return { rves: 0 };
  const ratios: number[] = [];
  for (let count = 0; count < options.timings; count += 1) {
    const ours = await timeOf(predicted, engine, options);
    const theirs = await timeOf(gold, engine, options);
    if (ours === null || theirs === null) return { rves: 0 };
    ratios.push(theirs / ours);
  }
  return { rves: Math.sqrt(rewardOf(ratios)) };
}

async function timeOf(sql: string, engine: SqlEngine, options: SqlOptions): Promise<number | null> {
  const started = performance.now();
  const { results } = await engine.run([sql], options);
  return results[0]?.kind === 'rows' ? performance.now() - started : null;
}

const MEASURES = ['ex', 'softF1', 'rves'];
const LEVELS = { Simple: 'simple', Moderate: 'moderate', Challenging: 'challenging' };

function birdMetrics(items: readonly BenchmarkItem[], scores: ReadonlyMap<string, BoardScore>): Metrics {
  const levels = new Map(items.map(({ id, gold }) => [id, gold?.difficulty ?? null]));
  const all = [...scores].map(([id, score]) => ({ level: levels.get(id), score }));
  const shown = MEASURES.filter((measure) => measure !== 'rves' || all.some(({ score }) => 'rves' in score.points));
  const mean = (measure: string, level?: string): number | null =>
    meanOf(
      all.filter((one) => level === undefined || one.level === level).map(({ score }) => score),
      measure,
    );
  return Object.fromEntries(
    shown.flatMap((measure) => [
      [measure, mean(measure)] as const,
      ...Object.entries(LEVELS).map(([name, level]) => [measure + name, mean(measure, level)] as const),
    ]),
  );
}

/**
 * The gold queries, a line `SQL<tab>database` for each question. The gold file decides where there is one, because it is what
 * the official scorer reads; else the queries `written` beside the questions.
 */
export async function pairedGolds(
  path: string | null,
  databases: readonly string[],
  questions: string,
  written: readonly (string | null)[],
): Promise<readonly (string | null)[]> {
  if (path === null) return written.map((sql) => (sql === '' ? null : sql));
  const lines = (await textIn(path)).trimEnd().split('\n');
  if (lines.length !== databases.length) {
    const counts = `${String(lines.length)} gold queries, but ${questions} has ${String(databases.length)} questions`;
    throw new BenchmarkDataError(`${path} has ${counts}: take both from the same release`);
  }
  return lines.map((line, at) => {
    const [sql = '', database, ...more] = line.trim().split('\t');
    const expected = databases[at] ?? '';
    if (database === expected && more.length === 0) return sql;
    const found = database === undefined || more.length > 0 ? 'is not "SQL<tab>database"' : `is for ${database}`;
    throw new BenchmarkDataError(
      `${path}, line ${String(at + 1)} ${found}, but question ${String(at)} is for ${expected}`,
    );
  });
}

/** The folder of the databases, `DB/DB.sqlite` each, in the first of these places. */
export function assureDatabases(folder: string, places: readonly string[], databases: readonly string[]): string {
  const root = firstPath(folder, ...places);
  const [usual = ''] = places;
  if (root === null)
    throw new BenchmarkDataError(`${folder} is incomplete: the folder ${usual} of databases is missing`);
  const missing = [...new Set(databases)].filter((name) => !existsSync(join(root, name, `${name}.sqlite`)));
  const [first = ''] = missing;
  if (missing.length === 0) return root;
  const place = join(first, `${first}.sqlite`);
  throw new BenchmarkDataError(
    `${root} is incomplete: ${place} is missing; databases without a file: ${someOf(missing)}`,
  );
}
