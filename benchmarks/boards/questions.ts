/**
 * Anyone's own questions: `questions.jsonl` or `questions.csv`, judged by execution match with any of their gold queries, or
 * by the gold answer of the file. Predictions are a line for each: `{"id": …, "sql": …}`, where null abstains, or its
 * `columns` and `rows`; its `answer` in words is for a judge. `results.jsonl` of a batch is read too, and CSV with the columns
 * `id` and `sql` or `answer`.
 */
import { existsSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import * as z from 'zod';
import { type AnswerStatus, type EndedBy, SqlValue } from '../../src/domain';
import type { SqlEngine, SqlOptions } from '../../src/domain/ports';
import { runAsWritten } from '../../src/questions/double-quoted';
import { type BenchmarkItem, loadQuestions, objectsIn } from '../../src/questions/question-file';
import { judge, scoreAnswer } from '../../src/questions/score';
import {
  type Benchmark,
  BenchmarkDataError,
  type BoardScore,
  type OpenBenchmark,
  type OpenOptions,
  type Prediction,
  type PredictionFormat,
  type Submitted,
} from '../benchmark';
import { boardScore, judged, reliabilityMetrics, resultOf, whileConnected } from './execution';
import { FileName, firstPath } from './files';

async function open(folder: string, { split = 'all', hiddenKnowledge = false }: OpenOptions): Promise<OpenBenchmark> {
  if (split !== 'all') throw new BenchmarkDataError(`a file of questions has no split "${split}": leave --split out`);
  const isFile = statSync(folder, { throwIfNoEntry: false })?.isFile() ?? false;
  const path = isFile ? folder : firstPath(folder, 'questions.jsonl', 'questions.csv');
  if (path === null) throw new BenchmarkDataError(`${folder} holds neither questions.jsonl nor questions.csv`);
  const items = await loadQuestions(path, { hiddenKnowledge });
  const byId = new Map(items.map((item) => [item.id, item]));
  return {
    items,
    database: ({ database }) => {
      const file = join(dirname(path), `${database ?? ''}.sqlite`);
      return database !== null && FileName.safeParse(database).success && existsSync(file) ? file : null;
    },
    score: async (id, prediction, engine, options) => {
      const item = byId.get(id);
      if (item === undefined) throw new TypeError(`no question ${id}`);
      return judged(prediction, item.gold, (answer) => compare(item, answer, engine, options));
    },
    metrics: reliabilityMetrics,
  };
}

async function compare(
  item: BenchmarkItem,
  prediction: Extract<Prediction, { kind: 'sql' | 'rows' }>,
  engine: SqlEngine,
  options: SqlOptions,
): Promise<BoardScore> {
  if (prediction.kind === 'sql') {
    const sql = prediction.statements.join(';\n');
    const { verdict, reason } = await scoreAnswer(item, { status: 'answered', sql, reason: null }, engine, options);
    return boardScore(verdict, reason);
  }
  return whileConnected(async () => {
    const golds = item.gold?.sql ?? [];
    const { results } = golds.length === 0 ? { results: [] } : await runAsWritten(golds, engine, options, 0);
    const { verdict, reason } = judge(item, resultOf(prediction), results);
    return boardScore(verdict, reason);
  });
}

const Line = z.object({
  id: z.union([z.string().min(1), z.number().transform(String)], 'must be a text or a number'),
  sql: z.union([z.string(), z.array(z.string())], 'must be a text, or null').nullish(),
  columns: z.array(z.string()).nullish(),
  rows: z.array(z.array(SqlValue)).nullish(),
  answer: z.string().nullish(),
  status: z.string().nullish(),
  endedBy: z.string().nullish(),
});

/** Statuses whose words are no answer. */
const ABSTAINED: readonly string[] = ['abstained', 'unanswerable'] satisfies AnswerStatus[];
/** Statuses of searches that ended for a reason outside: they are no answers, and no abstentions either. */
const UNUSABLE = 'unusable' satisfies EndedBy;
const NOT_ANSWERED = ['failed', 'cancelled', 'infrastructure-failure'];

const format: PredictionFormat = {
  file: 'predictions.jsonl',
  async read(path, items) {
    const known = new Set(items.map(({ id }) => id));
    const predictions = new Map<string, Submitted>();
    for (const { number, value } of await objectsIn(path)) {
      const at = (problem: string): BenchmarkDataError =>
        new BenchmarkDataError(`${path}, line ${String(number)}: ${problem}`);
      const parsed = Line.safeParse(value);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        const field = issue?.path.join('.') ?? '';
        throw at(`${field === '' ? '' : `${field}: `}${issue?.message ?? 'is invalid'}`);
      }
      const { id, sql, columns, rows, answer, status, endedBy } = parsed.data;
      if (!known.has(id)) throw at(`no question has the id "${id}"`);
      if (predictions.has(id)) throw at(`the id "${id}" stands there twice; leave one out`);
      if (endedBy === UNUSABLE) {
        predictions.set(id, { kind: 'none' });
        continue;
      }
      if (NOT_ANSWERED.includes(status ?? ''))
        throw at(
          `"${id}" ended as ${status ?? ''}, which is no answer to score: answer it again, or leave the line out`,
        );
      const words = ABSTAINED.includes(status ?? '') || !answer?.trim() ? null : { words: answer };
      if (sql === undefined && !rows && words === null)
        throw at(`"${id}" has no sql: give the query, or null if it is not answered`);
      const statements = [sql ?? []].flat().filter((text) => text.trim() !== '');
      if (statements.length > 0) predictions.set(id, { kind: 'sql', statements, ...words });
      else if (rows && columns) predictions.set(id, { kind: 'rows', columns, rows, ...words });
      else predictions.set(id, words === null ? { kind: 'abstained' } : { kind: 'words', ...words });
    }
    return predictions;
  },
  async write(to, items, predictions) {
    const path = extname(to) === '.jsonl' ? to : join(to, 'predictions.jsonl');
    const lines = items.flatMap(({ id }) => {
      const prediction = predictions.get(id) ?? { kind: 'none' };
      return prediction.kind === 'none' ? [] : [`${JSON.stringify({ id, ...lineOf(prediction) })}\n`];
    });
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, lines.join(''));
    return [path];
  },
};

function lineOf(prediction: Exclude<Prediction, { kind: 'none' }>): Omit<z.input<typeof Line>, 'id'> {
  if (prediction.kind === 'abstained') return { sql: null };
  if (prediction.kind === 'rows')
    return { columns: [...prediction.columns], rows: prediction.rows.map((row) => [...row]) };
  const [only, ...others] = prediction.statements;
  return { sql: others.length === 0 ? only : [...prediction.statements] };
}

export const questions: Benchmark = {
  name: 'questions',
  title: 'your own questions, as JSONL or CSV',
  source: 'docs/benchmarks.md of this project',
  licence: 'that of the file',
  splits: ['all'],
  open,
  format,
};
