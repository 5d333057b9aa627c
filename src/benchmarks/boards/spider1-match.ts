/**
 * Spider's comparison of two results (taoyds/test-suite-sql-eval `exec_eval.py`): is there an order of the predicted columns
 * under which the rows are equal, as sequences if the gold query has an ORDER BY, else as multisets? Two empty results are
 * equal. Values compare as in Python: 1 equals 1.0, and a number no text. (There, a row is first sorted by its cells as texts,
 * so 1 and 1.0 beside 1.5 can differ. Results here do not tell 1 from 1.0.)
 */
import type { SqlValue } from '../../domain';

type Rows = readonly (readonly SqlValue[])[];

/** Columns could be so alike that every order has to be tried; beyond this many steps the answer is null. */
const MAX_STEPS = 20_000;

/** null: undecided. */
export function sameDenotation(gold: Rows, predicted: Rows, inOrder: boolean): boolean | null {
  if (gold.length === 0 && predicted.length === 0) return true;
  const width = gold[0]?.length ?? 0;
  if (gold.length !== predicted.length || predicted[0]?.length !== width) return false;
  const theirs = columnsOf(gold, width);
  const ours = columnsOf(predicted, width);
  if (inOrder) return sameTexts(ours.map(textOf), theirs.map(textOf));
  // A column can stand for another one only if both hold the same values.
  const [ourBags, theirBags] = [ours.map(bagOf), theirs.map(bagOf)];
  if (!sameTexts(ourBags, theirBags)) return false;
  let steps = 0;

  /** Groups: rows that are equal in the columns paired so far have the same number, on both sides. */
  const pair = (
    at: number,
    left: readonly number[],
    groups: readonly [readonly number[], readonly number[]],
  ): Truth => {
    if (at === width) return true;
    const tried = new Set<string>();
    for (const column of left) {
      const text = textOf(ours[column] ?? []);
      if (ourBags[column] !== theirBags[at] || tried.has(text)) continue;
      tried.add(text);
      steps += 1;
      if (steps > MAX_STEPS) return null;
      const next = refined(groups, theirs[at] ?? [], ours[column] ?? []);
      if (next === null) continue;
      const found = pair(
        at + 1,
        left.filter((other) => other !== column),
        next,
      );
      if (found !== false) return found;
    }
    return false;
  };
  const one = gold.map(() => 0);
  return pair(0, [...ours.keys()], [one, one]);
}

type Truth = boolean | null;

/** null: the rows that are equal so far are not as many on both sides. */
function refined(
  [gold, predicted]: readonly [readonly number[], readonly number[]],
  theirs: readonly string[],
  ours: readonly string[],
): readonly [readonly number[], readonly number[]] | null {
  const numbers = new Map<string, number>();
  const balance: number[] = [];
  const numbered = (groups: readonly number[], column: readonly string[], by: number): number[] =>
    groups.map((group, row) => {
      const key = `${String(group)} ${column[row] ?? ''}`;
      const number = numbers.get(key) ?? numbers.size;
      numbers.set(key, number);
      balance[number] = (balance[number] ?? 0) + by;
      return number;
    });
  const next = [numbered(gold, theirs, 1), numbered(predicted, ours, -1)] as const;
  return balance.every((count) => count === 0) ? next : null;
}

function columnsOf(rows: Rows, width: number): string[][] {
  return Array.from({ length: width }, (_, column) =>
    rows.map((row) => {
      const value = row[column] ?? null;
      return JSON.stringify(typeof value === 'boolean' ? Number(value) : value);
    }),
  );
}

const textOf = (column: readonly string[]): string => column.join('\n');
const bagOf = (column: readonly string[]): string => textOf([...column].sort());

function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return textOf([...one].sort()) === textOf([...other].sort());
}
