/**
 * BIRD's predictions: one JSON object, `{"0": "SQL<tab>----- bird -----<tab>database"}`. The official scorer goes by the order
 * of its keys; here a key is the id of a question, which comes to the same if `check` has nothing to say.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { BenchmarkDataError, type Prediction, type PredictionFormat } from '../benchmark';
import type { BenchmarkItem } from '../../src/questions/question-file';
import { statementOf } from './execution';
import { jsonIn, repeatedKeys, textIn } from './files';
import { someOf } from '../../src/counted';

const SEPARATOR = '\t----- bird -----\t';

export const birdFormat: PredictionFormat = {
  file: 'predict.json',
  async read(path, items) {
    const file = await jsonIn(path, z.record(z.string(), z.unknown()));
    const [problem] = keyProblems(Object.keys(file), repeatedKeys(await textIn(path)), items);
    if (problem !== undefined) throw new BenchmarkDataError(`${path}: ${problem}`);
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

  async check(path, items) {
    const text = await textIn(path);
    const file = await jsonIn(path, z.record(z.string(), z.unknown()));
    const keys = keysInOrder(text);
    const missing = items.filter(({ id }) => !(id in file)).map(({ id }) => id);
    const expected = items.map(({ id }) => id).filter((id) => id in file);
    const isInOrder = keys.filter((key) => expected.includes(key)).every((key, at) => key === expected[at]);
    return [
      ...keyProblems(keys, repeatedKeys(text), items),
      ...(missing.length === 0 ? [] : [`questions without a place: ${someOf(missing)}; a place without SQL is " "`]),
      ...(isInOrder ? [] : ['the keys are not in the order of the questions, by which the official scorer goes']),
      ...items.flatMap((item) => (item.id in file ? placeProblem(item, file[item.id]) : [])),
    ];
  },
};

function keyProblems(
  keys: readonly string[],
  repeated: readonly string[],
  items: readonly BenchmarkItem[],
): readonly string[] {
  const known = new Set(items.map(({ id }) => id));
  const unknown = keys.filter((key) => !known.has(key));
  return [
    ...(repeated.length === 0 ? [] : [`keys that stand twice: ${someOf(repeated)}`]),
    ...(unknown.length === 0 ? [] : [`no questions: ${someOf(unknown)}; keys are the running numbers from 0`]),
  ];
}

function placeProblem({ id, database }: BenchmarkItem, place: unknown): string[] {
  if (typeof place !== 'string') return [`question ${id}: no text, so it counts as blank`];
  const parts = place.split(SEPARATOR);
  if (parts.length !== 2) return [`question ${id}: not "SQL<tab>----- bird -----<tab>database"`];
  return parts[1] === database ? [] : [`question ${id}: for ${parts[1] ?? ''}, but its database is ${database ?? ''}`];
}

function predictionOf(place: unknown): Prediction {
  if (typeof place !== 'string') return { kind: 'abstained' };
  const parts = place.split(SEPARATOR);
  const sql = parts.length === 2 ? (parts[0] ?? '') : place.trim();
  return sql.trim() === '' ? { kind: 'abstained' } : { kind: 'sql', statements: [sql] };
}

/** Keys in the order of the text: a parsed object has numbers first, in ascending order. */
function keysInOrder(text: string): string[] {
  return [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)].flatMap(([, key = '""', colon]) =>
    colon === undefined ? [] : [JSON.parse(key) as string],
  );
}
