/**
 * Materiality (rule S9): if the whole plan gives the same answer under every rival reading, the choice needs no proof; and a
 * rival that gives the same answer as the winner needs no refutation. Both hold only relative to the bodies of all other
 * operators. Empty, all-NULL, zero or truncated results never establish it. Readings are judged by their checks first:
 * only what the data left standing is run.
 */
import type { MaterialityOutcome, SqlResult } from '../domain';
import { compareText } from '../domain/canonical';
import { equalResults, isTrivial } from './equal';

export const MAX_COMBINATIONS = 8;

/** The standing readings of one operator. `bodies` holds one id per hypothesis, null where it is not written. */
export interface Readings {
  readonly operator: string;
  readonly bodies: readonly (string | null)[];
  /** Its current body, which is kept fixed if there are too many combinations. */
  readonly current: string | null;
}

/** Body id per operator under test. */
export type Combination = Readonly<Record<string, string>>;

/**
 * The runs to make, or null if they could not establish anything: an operator has no SQL, or there are too many combinations.
 * An operator with a single reading keeps it in all runs.
 */
export function materialityCombinations(readings: readonly Readings[]): readonly Combination[] | null {
  const options = readings.map((each) => ({ ...each, bodies: distinctBodies(each) }));
  for (const each of [...options].reverse()) {
    if (product(options) <= MAX_COMBINATIONS) break;
    if (each.current !== null) each.bodies = [each.current];
  }
  if (options.some((each) => each.bodies.length === 0) || product(options) > MAX_COMBINATIONS) return null;
  const combinations = options.reduce<Combination[]>(
    (made, each) =>
      made.flatMap((combination) => each.bodies.map((body) => ({ ...combination, [each.operator]: body }))),
    [{}],
  );
  return combinations.length < 2 ? null : combinations;
}

/** The distinct bodies of its readings; the current one first where a reading has no SQL, or none is left. */
function distinctBodies({ bodies, current }: Readings): string[] {
  const written = bodies.filter((body) => body !== null);
  const needsCurrent = written.length === 0 || written.length < bodies.length;
  return [...new Set([...(needsCurrent && current !== null ? [current] : []), ...written])];
}

function product(options: readonly { readonly bodies: readonly string[] }[]): number {
  return options.reduce((count, each) => count * each.bodies.length, 1);
}

/** Whether these results, one per combination, are one and the same answer. */
export function decideMateriality(
  results: readonly SqlResult[],
  ordered: boolean,
): { readonly immaterial: boolean; readonly reason: string } {
  const [first, ...others] = results;
  if (first === undefined || others.length === 0) return { immaterial: false, reason: 'nothing to compare' };
  const weak = results.map(weakness).find((reason) => reason !== null);
  if (weak !== undefined) return { immaterial: false, reason: weak };
  return others.every((other) => equalResults(first, other, { ordered }))
    ? { immaterial: true, reason: `the answer is the same under all ${results.length} combinations` }
    : { immaterial: false, reason: 'the answer differs between readings' };
}

/** Why a result cannot establish that the choice is immaterial; null if it can. */
function weakness(result: SqlResult): string | null {
  if (result.kind !== 'rows') return 'a combination failed';
  if (result.truncated) return 'a result was truncated';
  return isTrivial(result) ? 'a result was empty, NULL or zero' : null;
}

interface Runs {
  readonly combinations: readonly Combination[];
  readonly results: readonly SqlResult[];
  readonly ordered: boolean;
}

/**
 * For two bodies of one operator: the bodies of all other operators (sorted) under which the answer is the same, one list for
 * each combination of them that was run. `fixed`: bodies of the operators that are not under test.
 */
export function sameAnswers(
  operator: string,
  runs: Runs,
  fixed: readonly string[],
): (one: string, other: string) => readonly (readonly string[])[] {
  const others = (combination: Combination) =>
    [...fixed, ...Object.entries(combination).flatMap(([name, body]) => (name === operator ? [] : [body]))].sort(
      compareText,
    );
  const made = runs.combinations.map((combination, index) => ({
    body: combination[operator],
    others: others(combination),
    result: runs.results[index],
  }));
  return (one, other) =>
    made.flatMap((first) => {
      const second = made.find((run) => run.body === other && run.others.join() === first.others.join());
      if (first.body !== one || first.result === undefined || second?.result === undefined) return [];
      return decideMateriality([first.result, second.result], runs.ordered).immaterial ? [first.others] : [];
    });
}

/**
 * The decision for one operator. Even if the readings of other operators change the answer, this one can be immaterial
 * relative to the bodies that the others have now.
 */
export function operatorMateriality(
  operator: string,
  runs: Runs,
  others: { readonly current: Readonly<Record<string, string | null>>; readonly fixed: readonly string[] },
): MaterialityOutcome & { readonly bodyId: string | null } {
  const joint = decideMateriality(runs.results, runs.ordered);
  const first = runs.combinations[0] ?? {};
  const scope = joint.immaterial ? first : others.current;
  const chosen = runs.combinations
    .map((combination, index) => ({ combination, result: runs.results[index] }))
    .filter(({ combination }) => joint.immaterial || isRelativeTo(combination, scope, operator));
  const results = chosen.flatMap(({ result }) => (result === undefined ? [] : [result]));
  const varies = new Set(chosen.map(({ combination }) => combination[operator])).size > 1;
  const decided = joint.immaterial ? joint : decideMateriality(results, runs.ordered);
  const relativeTo = Object.keys(first).flatMap((name) => (name === operator ? [] : [scope[name] ?? '']));
  return {
    combinations: runs.combinations.length,
    immaterial: decided.immaterial && varies,
    reason: varies ? decided.reason : 'it has a single reading here',
    relativeTo: [...others.fixed, ...relativeTo.filter((body) => body !== '')].sort(),
    bodyId: chosen[0]?.combination[operator] ?? null,
  };
}

function isRelativeTo(
  combination: Combination,
  scope: Readonly<Record<string, string | null>>,
  operator: string,
): boolean {
  return Object.entries(combination).every(([name, body]) => name === operator || scope[name] === body);
}
