/**
 * The check of a reading that a probe decided, in the form of the layer: one SELECT of one row that counts the reading and its
 * rivals over the rows of the probe (docs/layer.md).
 *
 * 1. What was counted is all that it says: a rival that lost by a predicate alone, or that says "not stored", is left out.
 * 2. Null where the counts do not say why the reading won, or where they cannot stand side by side as values of one row.
 */
import type { Dialect, Hypothesis, HypothesisOutcome, TestOutcome } from '../domain';
import { type Agreement, hasLost } from './agreement';
import { normaliseSql } from './body';
import { expressionQuery, isOneValue, plainValue } from './expression';
import { overProbe } from './proof';
import { selectParts } from './checks';

export interface GroundingCheck {
  readonly sql: string;
  /** The counts that its columns have to give again. */
  readonly counts: readonly number[];
  /** The columns that it counts, in order. */
  readonly rivals: readonly Pick<Hypothesis, 'id' | 'mapping'>[];
}

/** `seen`: what one probe showed of the hypotheses. */
export function groundingCheck(
  hypotheses: readonly Hypothesis[],
  seen: Pick<TestOutcome, 'probeSql' | 'hypotheses'>,
  winner: string,
  dialect: Dialect,
): GroundingCheck | null {
  const readings = hypotheses.flatMap((hypothesis): Reading[] => {
    const outcome = seen.hypotheses.find(({ id }) => id === hypothesis.id);
    return outcome === undefined ? [] : [{ hypothesis, outcome, counted: countedIn(hypothesis, outcome) }];
  });
  const own = readings.find(({ hypothesis }) => hypothesis.id === winner);
  if (own === undefined || own.counted === null) return null;
  const rivals = readings.filter((each) => each !== own && each.hypothesis.notStored !== true);
  const counted = rivals.filter((rival) => isBeside(rival, own));
  const isDecided = (rival: Reading): boolean => counted.includes(rival) || hasLost(rival.outcome, own.outcome);
  if (counted.length === 0 || !rivals.every(isDecided)) return null;
  const [first, ...others] = [own, ...counted].flatMap(({ counted: each }) => each ?? []);
  if (first === undefined) return null;
  const made =
    own.outcome.run === undefined ? sideBySide(seen, first, others, dialect) : repeated(first, others, dialect);
  return made === null
    ? null
    : { ...made, rivals: counted.map(({ hypothesis: { id, mapping } }) => ({ id, mapping })) };
}

interface Reading {
  readonly hypothesis: Hypothesis;
  readonly outcome: HypothesisOutcome;
  readonly counted: Counted | null;
}

/** Expressions over the observation, what they gave, and the probe of the reading's own run. */
interface Counted extends Agreement {
  readonly by: { readonly matching: string; readonly examined: string };
  readonly probeSql: string | null;
}

function countedIn({ agreement: by, notStored }: Hypothesis, { agreement, run }: HypothesisOutcome): Counted | null {
  if (by === null || agreement === null || notStored === true) return null;
  return { ...agreement, by, probeSql: run?.probeSql ?? null };
}

/** Whether its counts can be compared with those of the reading that won. */
function isBeside({ counted, outcome }: Reading, own: Reading): boolean {
  if (counted === null || (outcome.run === undefined) !== (own.outcome.run === undefined)) return false;
  return outcome.run !== undefined || counted.examined === own.counted?.examined;
}

type Made = Pick<GroundingCheck, 'sql' | 'counts'>;

function sideBySide(
  { probeSql }: Pick<TestOutcome, 'probeSql'>,
  own: Counted,
  rivals: readonly Counted[],
  dialect: Dialect,
): Made | null {
  const columns: Columns = [
    ['examined_1', own.by.examined],
    ['matching_1', own.by.matching],
    ...rivals.map(({ by }, at) => [`rival_1_${at + 1}`, by.matching] as const),
  ];
  const sql = countingSelect(probeSql, columns, dialect);
  const counts = [own.examined, own.matching, ...rivals.map(({ matching }) => matching)];
  return sql === null ? null : { sql, counts };
}

/** The probe read the operator and ran with the SQL of each reading: so does the check. */
function repeated(own: Counted, rivals: readonly Counted[], dialect: Dialect): Made | null {
  const parts = [own, ...rivals].map(({ by, probeSql }, at) => {
    const columns = at === 0 ? ['examined_1', 'matching_1'] : [`examined_1_${at}`, `rival_1_${at}`];
    const counting: Columns = [
      [columns[0] ?? '', by.examined],
      [columns[1] ?? '', by.matching],
    ];
    const sql = countingSelect(probeSql ?? '', counting, dialect);
    return sql === null ? null : { name: at === 0 ? 'claim_1' : `claim_1_${at}`, columns, sql };
  });
  const sound = parts.filter((part) => part !== null);
  if (sound.length < parts.length) return null;
  const counts = [own, ...rivals].flatMap(({ examined, matching }) => [examined, matching]);
  return { sql: selectParts(sound, dialect), counts };
}

/** Names, and expressions over the observation. */
type Columns = readonly (readonly [name: string, expression: string])[];

/** Null if a value could be one of several rows: SQLite would take the first without a word. */
function countingSelect(probe: string, columns: Columns, dialect: Dialect): string | null {
  const text = normaliseSql(probe);
  const plain = columns.map(([, expression]) => plainValue(expression, dialect));
  const [first] = plain;
  if (plain.every((value) => value !== null && value.aggregates === first?.aggregates)) {
    const values = columns.map(([name], at) => `${plain[at]?.text ?? ''} AS ${name}`);
    return overProbe(text, `SELECT ${values.join(',\n  ')}\nFROM observation`, dialect);
  }
  if (!columns.every(([, expression]) => isOneValue(expression, dialect))) return null;
  const values = columns.map(([name, expression]) => `(${expressionQuery(expression, dialect)}) AS ${name}`);
  return overProbe(text, `SELECT ${values.join(',\n  ')}`, dialect);
}
