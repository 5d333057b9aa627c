/**
 * Defog's sql-eval: CSV files of questions whose gold queries leave a choice of columns. A prediction is right if its result
 * equals that of one gold query, or holds it (`defog-frames.ts`). A folder with our own `questions.jsonl` is read too: its lists
 * of gold queries are that choice, written out. In `idk` the right query selects a sentence that the instructions name, so an
 * abstention stands for that query.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Dialect } from '../../domain';
import type { SqlEngine } from '../../ports';
import {
  BenchmarkDataError,
  type Benchmark,
  type BoardScore,
  type Metrics,
  type OpenBenchmark,
  type OpenOptions,
  type Prediction,
  type PredictionFormat,
  type ScoreOptions,
} from '../benchmark';
import { describeFailure } from '../execution-match';
import { loadQuestions, type BenchmarkItem } from '../question-file';
import { compareFrames, differAnyhow } from './defog-frames';
import { meanOf, resultOf, runBoth, scored, statementOf, tooLarge, unanswered, whileConnected } from './execution';
import { FileName, firstPath, someOf } from './files';
import { csvObjectsIn, csvText } from './pandas-table';

const SPLITS: Readonly<Record<string, Dialect>> = {
  questions_gen_postgres: 'postgresql',
  instruct_basic_postgres: 'postgresql',
  instruct_advanced_postgres: 'postgresql',
  idk: 'postgresql',
  questions_gen_sqlite: 'sqlite',
  instruct_basic_sqlite: 'sqlite',
  instruct_advanced_sqlite: 'sqlite',
};

const Entry = z.object({
  question: z.string().trim().min(1),
  query: z.string().trim().min(1),
  db_name: z.string().trim().pipe(FileName),
  query_category: z.string(),
  instructions: z.string().nullish(),
});

interface Question {
  readonly item: BenchmarkItem;
  readonly golds: readonly string[];
  /** All of them as they are published. */
  readonly published: string;
}

const format: PredictionFormat = {
  file: 'results.csv',
  async read(path, items) {
    const { found, problems } = await predictionsIn(path, items);
    if (problems[0] !== undefined) throw new BenchmarkDataError(`${path}: ${problems[0]}`);
    return new Map(items.map(({ id }) => [id, found.get(id) ?? { kind: 'none' }]));
  },

  async write(to, items, predictions) {
    const rows = items.map((item) => [item.question, item.database ?? '', queryOf(item, predictions.get(item.id))]);
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, csvText({ columns: ['question', 'db_name', 'generated_query'], rows }));
    return [to];
  },

  async check(path, items) {
    const { found, problems } = await predictionsIn(path, items);
    const missing = items.filter(({ id }) => !found.has(id)).map(({ id }) => id);
    return [...problems, ...(missing.length === 0 ? [] : [`questions that are missing: ${someOf(missing)}`])];
  },
};

export const defog: Benchmark = {
  ...{ name: 'defog', title: "Defog's sql-eval", source: 'defog-ai/sql-eval@b833324', licence: 'Apache-2.0' },
  splits: Object.keys(SPLITS),
  format,
  async open(folder, options) {
    const questions = await questionsIn(folder, options);
    if (questions.length === 0) throw new BenchmarkDataError(`${folder} holds no questions of this split`);
    const byId = new Map(questions.map((question) => [question.item.id, question]));
    return {
      items: questions.map(({ item }) => item),
      database: ({ engine, database }) => {
        if (engine !== 'sqlite' || database === null || !FileName.safeParse(database).success) return null;
        const places = ['sqlite_dbs/', ''].flatMap((below) => ['.db', '.sqlite'].map((end) => below + database + end));
        return firstPath(folder, ...places);
      },
      score: (id, prediction, engine, scoring) => scoreDefog(byId.get(id), prediction, engine, scoring),
      metrics: (scores) => defogMetrics(questions, scores),
    } satisfies OpenBenchmark;
  },
};

async function questionsIn(folder: string, { split, hiddenKnowledge = false }: OpenOptions): Promise<Question[]> {
  const [first = ''] = Object.keys(SPLITS);
  const name = split ?? first;
  const dialect = SPLITS[name];
  if (dialect === undefined)
    throw new BenchmarkDataError(`defog has no split "${name}": it is one of ${Object.keys(SPLITS).join(', ')}`);
  const path = firstPath(folder, `${name}.csv`, `data/${name}.csv`);
  if (path !== null) return fromCsv(path, dialect);
  const own = firstPath(folder, 'questions.jsonl');
  if (own === null || name !== first) throw new BenchmarkDataError(`${folder} is incomplete: ${name}.csv is missing`);
  return (await loadQuestions(own, { hiddenKnowledge })).map((item) => {
    const sentence = item.gold?.abstainText ?? null;
    const golds = sentence === null ? (item.gold?.sql ?? []) : [sentenceQuery(sentence)];
    return { item, golds, published: golds.join(';') };
  });
}

/** Instructions are part of the official prompt, so a solver sees them. */
async function fromCsv(path: string, engine: Dialect): Promise<Question[]> {
  const seen = new Set<string>();
  return (await csvObjectsIn(path)).map(({ number, value }, at) => {
    const parsed = Entry.safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new BenchmarkDataError(
        `${path}, line ${String(number)}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
      );
    }
    const { question, query, db_name: database, query_category: category, instructions } = parsed.data;
    const key = keyOf({ question, database });
    if (seen.has(key)) throw new BenchmarkDataError(`${path}, line ${String(number)}: the question is there twice`);
    seen.add(key);
    const abstainText = sentenceIn(query);
    const golds = choicesOf(query);
    const gold = {
      answer: null,
      text: null,
      difficulty: null,
      answerable: abstainText === null,
      abstainText,
      category,
    };
    return {
      item: {
        ...{ id: String(at), question, context: null, instructions: instructions ?? null, engine, database },
        gold: { ...gold, sql: abstainText === null ? golds : [] },
      },
      ...{ golds, published: query },
    };
  });
}

/** The gold queries, with every choice of the columns in braces; GROUP BY {} takes the same columns. */
export function choicesOf(published: string): string[] {
  return published.split(';').flatMap((text) => {
    const query = text.trim();
    const [whole, listed = ''] = /\{([^}]*)\}/.exec(query) ?? [];
    if (whole === undefined) return query === '' ? [] : [query];
    const at = query.indexOf(whole);
    return subsetsOf(listed.split(',')).map((columns) => {
      const chosen = columns.join(', ');
      const rest = query.slice(at + whole.length).replaceAll('GROUP BY {}', `GROUP BY ${chosen}`);
      return query.slice(0, at) + chosen + rest;
    });
  });
}

/** All but the empty one, smaller ones first. */
function subsetsOf(all: readonly string[]): string[][] {
  const subsets = all.reduce<string[][]>((found, one) => [...found, ...found.map((subset) => [...subset, one])], [[]]);
  return subsets.slice(1).sort((one, other) => one.length - other.length);
}

const MISSED = { ex: 0, exact: 0 };

function scoreDefog(
  question: Question | undefined,
  prediction: Prediction,
  engine: SqlEngine,
  options: ScoreOptions,
): Promise<BoardScore> {
  return whileConnected(async () => {
    if (question === undefined || question.golds.length === 0)
      return scored('no-gold', 'the benchmark has no gold for this question');
    const { item, golds, published } = question;
    const isSaid = prediction.kind === 'abstained' && item.gold?.answerable === false;
    if (isSaid) return scored('correct-abstained', 'abstained', { ex: 1, exact: 1 });
    const settled = unanswered(prediction);
    if (settled !== null) return { ...settled, points: MISSED };
    const sql = prediction.kind === 'sql' ? statementOf(prediction.statements) : 'SELECT 1';
    const ran = await runBoth(sql, golds, engine, options);
    const predicted = prediction.kind === 'rows' ? resultOf(prediction) : ran.predicted;
    if (predicted.kind !== 'rows') return scored('wrong', describeFailure(predicted), MISSED);
    const asked = { question: item.question, category: item.gold?.category ?? null };
    let isHeld = false;
    for (const result of ran.golds) {
      if (result.kind !== 'rows') return scored('gold-failed', `a gold query: ${describeFailure(result)}`);
      if (differAnyhow(result, predicted, engine.dialect)) continue;
      if (result.truncated || predicted.truncated) return tooLarge();
      const gives = { result, sql: published };
      const match = compareFrames(gives, { result: predicted, sql }, asked, engine.dialect);
      if (match === 'exact') return scored('correct', 'equal results', { ex: 1, exact: 1 });
      if (match === 'incomparable') return scored('wrong', 'pandas could not compare the results', MISSED);
      isHeld ||= match === 'subset';
    }
    if (isHeld) return scored('correct', 'it holds the gold result', { ex: 1, exact: 0 });
    const verdict = item.gold?.answerable === false ? 'wrong-answered' : 'wrong';
    return scored(verdict, 'other results than all gold queries', MISSED);
  });
}

/** All, and by category as the official scorer prints them. */
function defogMetrics(questions: readonly Question[], scores: ReadonlyMap<string, BoardScore>): Metrics {
  const all = [...scores.values()];
  const categories = [...new Set(questions.map(({ item }) => item.gold?.category ?? ''))]
    .sort()
    .filter((one) => one !== '');
  const ofCategory = (category: string): BoardScore[] =>
    questions.flatMap(({ item }) => (item.gold?.category === category ? (scores.get(item.id) ?? []) : []));
  return {
    ...{ ex: meanOf(all, 'ex'), exact: meanOf(all, 'exact') },
    ...Object.fromEntries(categories.map((category) => [`ex:${category}`, meanOf(ofCategory(category), 'ex')])),
  };
}

const Row = z.object({ question: z.string(), db_name: z.string(), generated_query: z.string().nullish() });

/** The official output file: CSV in any order, among whose columns are these three. */
async function predictionsIn(
  path: string,
  items: readonly BenchmarkItem[],
): Promise<{ readonly found: ReadonlyMap<string, Prediction>; readonly problems: readonly string[] }> {
  const ids = new Map(items.map((item) => [keyOf(item), item.id]));
  const found = new Map<string, Prediction>();
  const problems: string[] = [];
  for (const { number, value } of await csvObjectsIn(path)) {
    const row = Row.safeParse(value);
    const id = row.success
      ? ids.get(keyOf({ question: row.data.question.trim(), database: row.data.db_name }))
      : undefined;
    const line = `line ${String(number)}`;
    if (!row.success) problems.push(`${line}: needs question, db_name and generated_query`);
    else if (id === undefined) problems.push(`${line}: no question of ${row.data.db_name}: ${row.data.question}`);
    else if (found.has(id)) problems.push(`${line}: a second prediction for "${row.data.question}"`);
    else found.set(id, predictionOf(row.data.generated_query ?? ''));
  }
  return { found, problems };
}

function predictionOf(sql: string): Prediction {
  return sql.trim() === '' ? { kind: 'abstained' } : { kind: 'sql', statements: [sql] };
}

function queryOf(item: BenchmarkItem, prediction: Prediction = { kind: 'none' }): string {
  if (prediction.kind === 'rows') throw new BenchmarkDataError(`question ${item.id}: sql-eval takes SQL, not rows`);
  if (prediction.kind === 'sql') return statementOf(prediction.statements);
  const sentence = prediction.kind === 'abstained' ? sentenceIn(item.instructions ?? '', false) : null;
  return sentence === null ? '' : sentenceQuery(sentence);
}

/** The text literal that a query selects alone, or that instructions want selected. */
function sentenceIn(text: string, alone = true): string | null {
  const found = (alone ? /^\s*select\s+'((?:[^']|'')*)'\s+as\s+answer\s*;?\s*$/i : /select\s+'((?:[^']|'')*)'/i).exec(
    text,
  );
  return found?.[1]?.replaceAll("''", "'") ?? null;
}

function sentenceQuery(sentence: string): string {
  return `SELECT '${sentence.replaceAll("'", "''")}' AS answer`;
}

function keyOf({ question, database }: Pick<BenchmarkItem, 'question' | 'database'>): string {
  return JSON.stringify([database, question]);
}
