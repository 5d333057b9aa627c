/**
 * BIRD's predictions: one JSON object, `{"0": "SQL<tab>----- bird -----<tab>database"}`. The official scorer goes by the order
 * of its keys; here a key is the id of a question, which comes to the same where they stand in the order of the questions.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { BenchmarkDataError, type Prediction, type PredictionFormat } from '../benchmark';
import { statementOf } from './execution';
import { jsonIn, repeatedKeys, textIn } from './files';
import { someOf } from '../../src/counted';

const SEPARATOR = '\t----- bird -----\t';

export const birdFormat: PredictionFormat = {
  file: 'predict.json',
  async read(path, items) {
    const file = await jsonIn(path, z.record(z.string(), z.unknown()));
    const repeated = repeatedKeys(await textIn(path));
    if (repeated.length > 0) throw new BenchmarkDataError(`${path}: keys that stand twice: ${someOf(repeated)}`);
    const unknown = Object.keys(file).filter((key) => !items.some(({ id }) => id === key));
    if (unknown.length > 0)
      throw new BenchmarkDataError(`${path}: no questions: ${someOf(unknown)}; keys are the running numbers from 0`);
    return new Map(items.map(({ id }) => [id, id in file ? predictionOf(file[id]) : { kind: 'none' }]));
  },

  async write(to, items, predictions) {
    const places = items.map((item) => {
      const prediction = predictions.get(item.id) ?? { kind: 'none' };
      if (prediction.kind === 'rows') throw new BenchmarkDataError(`question ${item.id}: BIRD takes SQL, not rows`);
      const sql = prediction.kind === 'sql' ? statementOf(prediction.statements) : ' ';
      return [item.id, `${sql}${SEPARATOR}${item.database ?? ''}`] as const;
    });
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, `${JSON.stringify(Object.fromEntries(places), null, 4)}\n`);
    return [to];
  },
};

function predictionOf(place: unknown): Prediction {
  if (typeof place !== 'string') return { kind: 'abstained' };
  const parts = place.split(SEPARATOR);
  const sql = parts.length === 2 ? (parts[0] ?? '') : place.trim();
  return sql.trim() === '' ? { kind: 'abstained' } : { kind: 'sql', statements: [sql] };
}
