/** Spider 2.0's scorers of lite and snow: a prediction against the gold results of one question. */
import { basename } from 'node:path';
import * as z from 'zod';
import type { Dialect } from '../../src/domain';
import type { SqlEngine, SqlOptions } from '../../src/domain/ports';
import type { BoardScore, Prediction } from '../benchmark';
import { describeFailure } from '../../src/questions/execution-match';
import type { Verdict } from '../../src/questions/verdict';
import { csvIn, holdsColumns, tableOf, withFields, type CsvRows } from './pandas-table';

export type Suite = 'lite' | 'snow';

export const Standard = z.object({
  instance_id: z.string(),
  condition_cols: z.array(z.union([z.number().int(), z.array(z.number().int())])).nullish(),
  ignore_order: z.boolean().default(false),
});
export type Standard = z.infer<typeof Standard>;

export async function scored(
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
    // The official scorer fails on it, so later results are not tried.
    if (positions === null) return score('wrong', `condition_cols has no columns for ${file}`);
    if (holdsColumns(predicted, tableOf(await csvIn(file)), positions, ignoreOrder))
      return score('correct', 'equal to a gold result');
  }
  return score('wrong', 'no gold result has all of its columns in the prediction');
}

/** Columns of one gold result that count: a list for all results, or a list of lists, one for each. */
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

async function run(
  suite: Suite,
  id: string,
  { statements }: Extract<Prediction, { kind: 'sql' }>,
  engine: SqlEngine,
  options: SqlOptions,
): Promise<CsvRows | BoardScore> {
  const dialect = engineOf(id);
  if (suite === 'lite' && dialect === 'snowflake')
    return score(
      'undecided',
      `the official scorer of lite gives SQL for ${id} no points: give its result as ${id}.csv`,
      { ex: 0, submitted: 1 },
    );
  if (engine.dialect !== dialect) return score('infrastructure', `${id} needs ${dialect}, not ${engine.dialect}`, {});
  const { results } = await engine.run([statements.join(';\n')], options);
  const [result] = results;
  if (result === undefined) return score('infrastructure', 'the database gave no result', {});
  // The scorer of lite waits for ever.
  if (result.kind === 'timeout' && suite === 'lite') return score('undecided', describeFailure(result), {});
  if (result.kind !== 'rows') return score('wrong', describeFailure(result));
  if (result.truncated) return score('undecided', 'the result is larger than the row cap', {});
  if (suite === 'snow' && result.rows.length === 0) return score('wrong', 'the result is empty');
  return withFields({ kind: 'rows', columns: result.columns.map(({ name }) => name), rows: result.rows });
}

/** The official scorer of lite runs no SQL for Snowflake. */
export function isUnrun(suite: Suite, id: string): boolean {
  return suite === 'lite' && engineOf(id) === 'snowflake';
}

/** Ids begin with `local`, `sf`, or in BigQuery with `bq` or `ga`. */
export function engineOf(id: string): Dialect {
  if (id.startsWith('local')) return 'sqlite';
  return id.startsWith('sf') ? 'snowflake' : 'bigquery';
}

function score(
  verdict: Verdict,
  reason: string,
  points: BoardScore['points'] = { ex: Number(verdict === 'correct'), submitted: 1 },
): BoardScore {
  return { verdict, points, reason };
}
