/**
 * LiveSQLBench's predictions: the lines of the data set, each with its `pred_sqls`; an empty list abstains. Ours: an `answer` in
 * words may stand beside them, or in place of them, for a judge.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import * as z from 'zod';
import type { BenchmarkItem } from '../../src/questions/question-file';
import { BenchmarkDataError, type Prediction, type PredictionFormat, type Submitted } from '../benchmark';
import { FileName, linesIn } from './files';

export const Statements = z
  .union([z.string(), z.array(z.string())])
  .nullish()
  .transform((given) => (typeof given === 'string' ? (given === '' ? [] : [given]) : (given ?? [])));

/** Fields that are not named here are kept as they are. */
export const Line = z.looseObject({
  instance_id: z.string(),
  selected_database: FileName,
  query: z.string(),
  sol_sql: Statements,
  preprocess_sql: Statements,
  normal_query: z.string().nullish(),
  category: z.string().default('Query'),
  difficulty_tier: z.string().nullish(),
  conditions: z.looseObject({ order: z.boolean().nullish() }).nullish(),
});
export type Line = z.infer<typeof Line>;

/** The lines of the data set, for the file of predictions. */
export const lineOf = new WeakMap<BenchmarkItem, Line>();

export const isQuery = ({ category }: Line): boolean => category === 'Query';

const PredictedLine = z.looseObject({
  instance_id: z.string(),
  pred_sqls: z.union([z.string(), z.array(z.string())], 'has to be a list of statements'),
  answer: z.string().nullish(),
});

export const livesqlbenchFormat: PredictionFormat = {
  file: 'predictions.jsonl',
  async read(path, items) {
    const known = new Set(items.map(({ id }) => id));
    const lines = (await linesIn(path, PredictedLine)).filter((line) => known.has(line.instance_id));
    return new Map(lines.map((line) => [line.instance_id, predictionOf(line)]));
  },
  async write(to, items, predictions) {
    const path = extname(to) === '.jsonl' ? to : join(to, 'predictions.jsonl');
    const lines = items.map((item) => {
      const line = lineOf.get(item);
      if (line === undefined)
        throw new BenchmarkDataError('the lines of the data set belong into the file: give its folder with --data');
      return JSON.stringify({ ...line, pred_sqls: statementsOf(item.id, predictions.get(item.id)) });
    });
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, lines.map((line) => `${line}\n`).join(''));
    return [path];
  },
};

function predictionOf({ pred_sqls: given, answer }: z.infer<typeof PredictedLine>): Submitted {
  const statements = Statements.parse(given);
  const words = answer?.trim() ? { words: answer } : null;
  if (statements.some((sql) => sql.trim() !== '')) return { kind: 'sql', statements, ...words };
  return words === null ? { kind: 'abstained' } : { kind: 'words', ...words };
}

function statementsOf(id: string, prediction: Prediction = { kind: 'none' }): readonly string[] {
  if (prediction.kind === 'rows') throw new BenchmarkDataError(`"${id}" has rows, and LiveSQLBench takes SQL alone`);
  return prediction.kind === 'sql' ? prediction.statements : [];
}
