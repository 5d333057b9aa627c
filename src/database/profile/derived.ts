/**
 * Columns that say the same thing twice: copies, constant differences and factors, truncated or rounded values, sums,
 * products and durations. A derived column is no observation of its own, and where the rule breaks something is odd.
 */
import { perObject } from '../../per-object';
import type { ColumnFacts } from './column-facts';
import { timesOf } from './groupings';
import { pieceOf, type ProfilePiece, of, short } from './pieces';
import { timeOf } from './table-rows';

/** Rules are tried on a few rows first, and reported where nearly all rows keep them. */
const TRIED = 40;
const HOLDS = 0.98;
/** Two small columns of a few rows agree by chance. */
const LEAST_ROWS = 20;
const MAX_NUMBERS = 12;
const MAX_TIMES = 6;
/** Of fewer times, such as the first days of a few years, many follow from one another. */
const LEAST_TIMES = 6;

type Rule = (row: number) => boolean | null;

/** `reached`: columns of the rows that keys lead to, row by row; what is made of them is told. */
export function derivedPieces(facts: readonly ColumnFacts[], reached: readonly ColumnFacts[] = []): ProfilePiece[] {
  const varied = facts.filter(
    ({ distinct, column }) => distinct > 2 && column.kind !== 'json' && column.kind !== 'binary',
  );
  const pairs = varied.flatMap((one) => varied.flatMap((other) => (one === other ? [] : pairRules(one, other))));
  const fromReached = varied.flatMap((one) => reached.flatMap((other) => pairRules(one, other)));
  const all = [...pairs, ...fromReached, ...tripleRules(varied)];
  const told = new Set<string>();
  return all.flatMap(({ of: columns, says, rule, rows }): ProfilePiece[] => {
    const key = [...columns].sort().join('\n');
    if (told.has(key)) return [];
    const kept = holds(rule, rows);
    if (kept === null) return [];
    told.add(key);
    return [pieceOf(columns[0] ?? null, 'derived', `${says} in ${of(kept.matching, kept.examined)}`)];
  });
}

interface Candidate {
  readonly of: readonly string[];
  readonly says: string;
  readonly rule: Rule;
  readonly rows: number;
}

function holds(rule: Rule, rows: number): { readonly matching: number; readonly examined: number } | null {
  let [matching, examined] = [0, 0];
  for (let row = 0; row < rows; row++) {
    const kept = rule(row);
    if (kept === null) continue;
    examined += 1;
    if (kept) matching += 1;
    if (examined === TRIED && matching < TRIED * 0.9) return null;
  }
  return examined >= LEAST_ROWS && matching >= examined * HOLDS ? { matching, examined } : null;
}

/** Rules that make `one` of `other`. */
function pairRules(one: ColumnFacts, other: ColumnFacts): Candidate[] {
  const [a, b] = [one.column, other.column];
  const candidate = (says: string, rule: Rule): Candidate => ({ of: [a.name, b.name], says, rule, rows: one.rows });
  const beginning = candidate(`= the beginning of ${b.name}`, textRule(one, other, isPart));
  if (a.kind !== b.kind) return a.kind === 'text' && b.kind === 'time' ? [beginning] : [];
  const rules: Rules = [
    [a.name < b.name, `= ${b.name}`, textRule(one, other, (x, y) => x === y)],
    ...(a.kind === 'number' ? numberRules(one, other) : []),
  ];
  if (isTime(one) && isTime(other)) rules.push(...timeRules(asTime(one), asTime(other)));
  const made = rules.flatMap(([applies, says, rule]) => (applies ? [candidate(says, rule)] : []));
  return a.kind === 'number' ? made : [...made, beginning];
}

const isTime = (facts: ColumnFacts): boolean => facts.distinct >= LEAST_TIMES && timesOf(facts).length > 0;

/** Dates that stand as digits in a text, as times. */
const asTime = perObject((facts: ColumnFacts): ColumnFacts => {
  if (facts.column.kind === 'time') return facts;
  const times = timesOf(facts);
  const scalars = Float64Array.from(times, (time) => timeOf(time) ?? NaN);
  return { ...facts, real: times.map((time) => time !== null), scalars };
});

/** A time that another one has, cut or moved. */
function timeRules(one: ColumnFacts, other: ColumnFacts): Rules {
  const { name } = other.column;
  const shift = firstDifference(one, other);
  const rule = (test: (x: number, y: number) => boolean): Rule => scalarRule(one, other, test);
  const isCut = [one, other].some(({ values }) => values.some(({ value }) => value.includes('.')));
  return [
    [!isCut, `= ${name}`, rule((x, y) => x === y)],
    ...UNITS.map(([unit, seconds]): Rules[number] => [
      true,
      `= ${name} cut to the ${unit.slice(0, -1)}`,
      rule((x, y) => x === Math.floor(y / seconds) * seconds),
    ]),
    [shift > 0, `= ${name} + ${shift > 0 ? duration(shift) : ''}`, rule((x, y) => x - y === shift)],
  ];
}

/** Each with whether it is to be tried. */
type Rules = (readonly [applies: boolean, says: string, rule: Rule])[];

const isPart = (x: string, y: string): boolean => x.length >= 3 && y.length > x.length && y.startsWith(x);

function textRule(one: ColumnFacts, other: ColumnFacts, test: (x: string, y: string) => boolean): Rule {
  return (row) => {
    if (one.real[row] !== true || other.real[row] !== true) return null;
    return test(String(one.column.values[row]), String(other.column.values[row]));
  };
}

function scalarRule(one: ColumnFacts, other: ColumnFacts, test: (x: number, y: number) => boolean): Rule {
  return (row) => {
    const [x, y] = [scalar(one, row), scalar(other, row)];
    return Number.isNaN(x) || Number.isNaN(y) ? null : test(x, y);
  };
}

const scalar = ({ scalars }: ColumnFacts, row: number): number => scalars?.[row] ?? NaN;

function numberRules(one: ColumnFacts, other: ColumnFacts): Rules {
  const { name } = other.column;
  const rule = (test: (x: number, y: number) => boolean): Rule => scalarRule(one, other, test);
  const shift = firstDifference(one, other);
  const factor = middleFactor(one, other) ?? 0;
  const step = Math.max(stepOf(one), stepOf(other) * factor);
  const hasFraction = ({ values }: ColumnFacts): boolean => values.some(({ value }) => value.includes('.'));
  const isWhole = !hasFraction(one) && hasFraction(other);
  return [
    [shift > 0, `= ${name} + ${short(shift)}`, rule((x, y) => near(x - y, shift))],
    [
      factor > 1.001 && spansAgree(one, other, factor, step),
      `= ${name} * ${short(factor)}, rounded`,
      rule((x, y) => y !== 0 && Math.abs(x - y * factor) <= step),
    ],
    [isWhole, `= ${name} cut to a whole number`, rule((x, y) => x === Math.trunc(y))],
    [isWhole, `= ${name} rounded`, rule((x, y) => x === Math.round(y))],
  ];
}

/** c = a + b and a * b among numbers, and durations between two times. */
function tripleRules(facts: readonly ColumnFacts[]): Candidate[] {
  const numbers = facts.filter(({ column }) => column.kind === 'number').slice(0, MAX_NUMBERS);
  const times = facts.filter(({ column }) => column.kind === 'time').slice(0, MAX_TIMES);
  const found: Candidate[] = [];
  const add = (
    [c, a, b]: readonly [ColumnFacts, ColumnFacts, ColumnFacts],
    says: string,
    test: (z: number, x: number, y: number) => boolean,
  ): void => {
    const rule: Rule = (row) => {
      const [z, x, y] = [scalar(c, row), scalar(a, row), scalar(b, row)];
      return Number.isNaN(z) || Number.isNaN(x) || Number.isNaN(y) ? null : test(z, x, y);
    };
    found.push({ of: [c, a, b].map(({ column }) => column.name), says, rule, rows: c.rows });
  };
  for (const c of numbers) {
    const step = stepOf(c);
    for (const [at, a] of numbers.entries())
      for (const b of numbers.slice(at + 1)) {
        if (c === a || c === b) continue;
        const [x, y] = [a.column.name, b.column.name];
        add([c, a, b], `= ${x} + ${y}`, (z, p, q) => p !== 0 && q !== 0 && near(z, p + q));
        add(
          [c, a, b],
          `= ${x} * ${y}`,
          (z, p, q) => p !== 1 && q !== 1 && z !== 0 && Math.abs(z - p * q) <= step / 2 + 1e-9,
        );
      }
    for (const a of times)
      for (const b of times)
        for (const [unit, seconds] of UNITS)
          if (a !== b)
            add(
              [c, a, b],
              `= ${a.column.name} - ${b.column.name} in ${unit}`,
              (z, p, q) => p !== q && z > 0 && Math.abs((p - q) / seconds - z) <= 0.51 * step,
            );
  }
  return found;
}

const UNITS = [
  ['seconds', 1],
  ['minutes', 60],
  ['hours', 3600],
  ['days', 86_400],
] as const;

/** The difference in the first row that has both values; 0 where there is none. */
function firstDifference(one: ColumnFacts, other: ColumnFacts): number {
  const row = one.real.findIndex((real, at) => real && other.real[at] === true);
  const difference = scalar(one, row) - scalar(other, row);
  return Number.isFinite(difference) ? difference : 0;
}

function middleFactor(one: ColumnFacts, other: ColumnFacts): number | null {
  const factors: number[] = [];
  for (let row = 0; row < one.rows && factors.length < TRIED; row++) {
    const factor = scalar(one, row) / scalar(other, row);
    if (Number.isFinite(factor) && factor !== 0) factors.push(factor);
  }
  return factors.length < LEAST_ROWS ? null : (factors.sort((a, b) => a - b)[Math.floor(factors.length / 2)] ?? null);
}

/** Values that all lie within a few roundings of each other follow from any number; those of other ranges from another rule. */
const LEAST_STEPS = 10;
const SPAN = 0.1;

function spansAgree(one: ColumnFacts, other: ColumnFacts, factor: number, step: number): boolean {
  let [lowX, highX, lowY, highY] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let row = 0; row < one.rows; row++) {
    const [x, y] = [scalar(one, row), scalar(other, row) * factor];
    if (Number.isNaN(x) || Number.isNaN(y)) continue;
    [lowX, highX, lowY, highY] = [Math.min(lowX, x), Math.max(highX, x), Math.min(lowY, y), Math.max(highY, y)];
  }
  const [spanX, spanY] = [highX - lowX, highY - lowY];
  const isWide = Math.min(spanX, spanY) >= step * LEAST_STEPS;
  return isWide && Math.abs(spanX - spanY) <= Math.max(spanX * SPAN, step * 2);
}

/** One unit of the last decimal place that occurs. */
function stepOf({ values }: ColumnFacts): number {
  const places = values.slice(0, 200).reduce((most, { value }) => Math.max(most, value.split('.')[1]?.length ?? 0), 0);
  return 10 ** -places;
}

const near = (x: number, y: number): boolean => Math.abs(x - y) <= 1e-6 * Math.max(1, Math.abs(x), Math.abs(y));

function duration(seconds: number): string {
  const unit = UNITS.findLast(([, size]) => seconds % size === 0) ?? UNITS[0];
  return `${seconds / unit[1]} ${unit[0]}`;
}
