/**
 * LiveSQLBench's predictions: the lines of the data set, each with its `pred_sqls`; an empty list abstains. Ours: an `answer` in
 * words may stand beside them, or in place of them, for a judge.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { z } from 'zod';
import { BenchmarkDataError, type Prediction, type PredictionFormat, type Submitted } from '../benchmark';
import { someOf } from '../../src/counted';
import { linesIn } from './instance-lines';
import { Statements, lineOf } from './livesqlbench-lines';

const PredictedLine = z.looseObject({
  instance_id: z.string(),
  pred_sqls: z.union([z.string(), z.array(z.string())], 'has to be a list of statements'),
  answer: z.string().nullish(),
});
const AnyLine = z.looseObject({ instance_id: z.string() });

/** What the scorer needs of a line. */
const REQUIRED = ['selected_database', 'preprocess_sql', 'sol_sql', 'pred_sqls'] as const;

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
