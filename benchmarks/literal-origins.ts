/**
 * Where the literals of a submitted query come from. An answer that a search has seen may not stand in its SQL: each literal
 * has to come from what was told (question, context, documents), from values that a probe or a profile showed, or from the
 * way SQL is written (0 and 1, units, formats, positions, dates counted from the clock). What a query gives back without
 * reading a row has to be told. A rule too strict costs a look by a person, one too lax a wrong submission: rules are strict.
 */
import type { Dialect } from '../src/domain';
import { literalsIn, literalTokens, type Literal } from './literals';
import { isDerivedDate, type Times } from './derived-dates';

export interface Origins {
  /** Question, context, instructions, documents. */
  readonly told: string;
  /** Texts that probes and profiles showed, with the names of tables and columns. */
  readonly seen: string;
  /** The clock, where the search knew it; `2100-12-31 23:59:00`. */
  readonly clock: string | null;
}

export interface UnknownLiterals {
  readonly literals: readonly string[];
  /** The SQL could not be parsed: every string and number of it had to be known. */
  readonly unparsed: boolean;
}

/** The literals that come from nowhere; in doubt, too many. */
export function unknownLiterals(sql: string, dialect: Dialect, origins: Origins): UnknownLiterals {
  const parsed = literalsIn(sql, dialect);
  const known = knowledgeOf(origins);
  const unknown = (parsed ?? literalTokens(sql, dialect)).filter((literal) => !isKnown(literal, known));
  const shown = unknown.map(({ kind, value }) => (kind === 'text' ? `'${value}'` : value));
  return { literals: [...new Set(shown)], unparsed: parsed === null };
}

interface Words {
  /** Words, each between spaces. */
  readonly text: string;
  readonly words: ReadonlySet<string>;
  readonly numbers: ReadonlySet<number>;
}

interface Knowledge {
  readonly told: Words;
  readonly seen: Words;
  readonly times: Times;
  /** Numbers of months, weekdays and quarters that are told by name. */
  readonly calendar: ReadonlySet<number>;
}

function knowledgeOf({ told, seen, clock }: Origins): Knowledge {
  const [toldWords, seenWords] = [wordsOf(told), wordsOf(seen)];
  for (const [word, number] of NUMBER_WORDS) if (hasStem(toldWords.words, word)) toldWords.numbers.add(number);
  const months = MONTHS.flatMap((name, at) => (hasMonth(toldWords.words, name) ? [at + 1] : []));
  const weekdays = WEEKDAYS.flatMap((name, at) => (hasStem(toldWords.words, name) ? [at, at === 0 ? 7 : at] : []));
  const has = (...words: string[]): boolean => words.some((word) => hasStem(toldWords.words, word));
  const calendar = new Set([
    ...months,
    ...weekdays,
    ...(has('weekend', 'weekday') ? [0, 1, 5, 6, 7] : []),
    ...(has('quarter', 'half', 'semester') ? [1, 2, 3, 4, 6, 7, 9, 10, 12] : []),
  ]);
  return {
    told: toldWords,
    seen: seenWords,
    calendar,
    times: { text: told, clock, numbers: toldWords.numbers, months },
  };
}

function isKnown(literal: Literal, known: Knowledge): boolean {
  const value = literal.value.trim();
  const { role } = literal;
  if (role === 'format' && isFormat(value)) return true;
  // An answer may be a date that can be counted out: given back as it stands, it has to be told.
  const isDerived = role !== 'constant' && role !== 'beside' && isDerivedDate(value, known.times);
  if (literal.kind === 'number' || NUMBER.test(value)) return isDerived || isKnownNumber(Number(value), role, known);
  if (isDerived || !/[\p{L}\p{N}]/u.test(value)) return true;
  if (role === 'shift' && isShift(value, known)) return true;
  // Classes of a regular expression say nothing: `[^0-9]`, `\\d`.
  const parts = plainWords(role === 'pattern' ? value.replace(/\[\^?\]?(?:\[:\w+:\]|[^\]])*\]|\\\w/g, ' ') : value);
  if (parts.every((word) => isTold(word, known.told))) return true;
  if (role === 'constant' || role === 'row') return false;
  if (role === 'label' && parts.every((word) => GENERIC.has(word))) return true;
  if (role === 'format' || role === 'shift') return false;
  if (role === 'path') return parts.every((word) => /^\d+$/.test(word) || known.seen.words.has(word));
  if (role === 'pattern') return parts.every((word) => /^[a-z]?$|^\d+$/.test(word) || isPart(word, known));
  return known.seen.text.includes(` ${parts.join(' ')} `);
}

function isKnownNumber(number: number, role: Literal['role'], { told, seen, calendar }: Knowledge): boolean {
  const size = Math.abs(number);
  if (told.numbers.has(size)) return true;
  if (role === 'constant') return false;
  if (role === 'beside') return seen.numbers.has(size);
  if (size === 0 || size === 1) return true;
  if (role !== 'row' && SCALES.some((by) => told.numbers.has(rounded(size / by)))) return true;
  switch (role) {
    case 'row':
      return false;
    case 'count':
      return Number.isInteger(size) ? size <= 50 : SHARES.has(size);
    case 'factor':
    case 'shift':
    case 'pattern':
      return UNITS.has(size) || seen.numbers.has(size);
    case 'format':
      return false;
    default:
      return calendar.has(size) || seen.numbers.has(size);
  }
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
/** Factors between units: how many of one make the next, percent, powers of ten, and means of two. */
const UNITS = new Set([
  ...[2, 4, 7, 10, 12, 24, 28, 29, 30, 30.4, 30.44, 31, 52, 60, 90, 100, 180, 360, 365, 365.2425, 365.24, 365.25, 366],
  // Pounds, Fahrenheit, Kelvin, miles, inches, feet, gallons.
  ...[0.45359237, 0.453592, 0.4536, 2.2046, 2.20462, 1.8, 32, 273.15, 1.609344, 2.54, 0.3048, 3.785411784],
  ...[
    0.5, 0.01, 0.001, 1_000, 1_024, 1_440, 3_600, 10_000, 86_400, 100_000, 3_600_000, 86_400_000, 1_000_000, 1_048_576,
    1e9,
  ],
]);
/** A number that was told may be counted in another unit: a share in percent, seconds in milliseconds. */
const SCALES = [100, 0.01, 7, 12, 24, 60, 1_000, 3_600, 86_400, 0.001, 1e6, 1e9];
const SHARES = new Set([0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]);
/** Names that a case may have without a source. */
const GENERIC = new Set(
  'yes no true false y n t f other others none unknown total all not null na n a missing available high low medium above below before after early late male female same different increase decrease increased decreased up down first last new old'.split(
    ' ',
  ),
);

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty';
const ORDINALS = 'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth';
const NUMBER_WORDS: readonly (readonly [string, number])[] = [
  ...[SMALL, ORDINALS].flatMap((names) => names.split(' ').map((name, at): [string, number] => [name, at])),
  ...'thirty forty fifty sixty seventy eighty ninety hundred'
    .split(' ')
    .map((name, at): [string, number] => [name, 30 + 10 * at]),
  ...([
    ['once', 1],
    ['twice', 2],
    ['both', 2],
    ['pair', 2],
    ['double', 2],
    ['half', 0.5],
    ['dozen', 12],
  ] as const),
  ...([
    ['thousand', 1e3],
    ['million', 1e6],
    ['billion', 1e9],
    ['teenager', 13],
    ['adult', 18],
    ['decade', 10],
  ] as const),
];
const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');

function hasMonth(words: ReadonlySet<string>, name: string): boolean {
  return words.has(name) || words.has(name.slice(0, 3)) || (name === 'september' && words.has('sept'));
}

const hasStem = (words: ReadonlySet<string>, word: string): boolean => words.has(word) || words.has(`${word}s`);

function wordsOf(text: string): Words & { readonly numbers: Set<number> } {
  const words = plainWords(text);
  const numbers = new Set<number>();
  const scale: Readonly<Record<string, number>> = {
    k: 1e3,
    thousand: 1e3,
    m: 1e6,
    million: 1e6,
    bn: 1e9,
    billion: 1e9,
  };
  for (const [, digits = '', unit = ''] of text.matchAll(
    /(\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\s?(k|thousand|m|million|bn|billion)?(?![a-z])/gi,
  )) {
    const number = Number(digits.replaceAll(',', ''));
    numbers.add(number);
    const by = scale[unit.toLowerCase()];
    if (by !== undefined) numbers.add(rounded(number * by));
  }
  for (const [digits] of text.matchAll(/\d+(?:\.\d+)?/g)) numbers.add(Number(digits));
  // "In their 40s" is 40 to 49.
  for (const [, digits] of text.matchAll(/\b(\d*0)s\b/g)) numbers.add(Number(digits) + 9);
  return { text: ` ${words.join(' ')} `, words: new Set(words), numbers };
}

/** Words in lower case, without accents; what stands between words is left out. */
function plainWords(text: string): string[] {
  return (
    text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}/gu, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** Another form of the word counts too: `patients` for `patient`. */
function isTold(word: string, told: Words): boolean {
  if (told.words.has(word)) return true;
  if (word.length < 4) return false;
  return [...told.words].some(
    (other) =>
      other.length >= 4 &&
      Math.abs(other.length - word.length) <= 3 &&
      (other.startsWith(word) || word.startsWith(other)),
  );
}

function isPart(word: string, { told, seen }: Knowledge): boolean {
  return isTold(word, told) || told.text.includes(word) || seen.text.includes(word);
}

/** Codes of a format and units, and the digits that begin or end a day or a year: `%Y-12-31`. */
function isFormat(value: string): boolean {
  const rest = value.replace(/%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z%]/g, ' ').toLowerCase();
  return plainWords(rest).every(
    (word) =>
      /^(?:00|01|12|31|23|59)$/.test(word) ||
      /^(?:fm|yyyy|yyy|yy|y|month|mon|mm|day|dy|ddd|dd|d|hh24|hh12|hh|mi|min|ss|ms|us|iyyy|iw|ww|w|q|th|am|pm|tz|t|utc|gmt|z|[09]+)+$/.test(
        word,
      ) ||
      /^(?:microsecond|millisecond|second|minute|hour|day|week|month|quarter|year|decade|century|epoch|dow|doy|isodow|isoyear)s?$/.test(
        word,
      ),
  );
}

/** `start of month`, `weekday 1`, `-1 month`, `3 days 2 hours`. */
function isShift(value: string, known: Knowledge): boolean {
  if (/^(?:start of (?:day|month|year)|weekday [0-6]|now|localtime|utc|unixepoch|auto|ceiling|floor)$/i.test(value))
    return true;
  if (/^\s*(?:second|minute|hour|day|week|month|year)s?$/i.test(value)) return true;
  const shifts =
    /^(?:\s*[+-]?\s*\d+(?:\.\d+)?\s*(?:microsecond|millisecond|second|minute|min|hour|day|week|month|mon|quarter|year|decade)s?\s*)+$/i;
  return (
    shifts.test(value) && (value.match(/\d+(?:\.\d+)?/g) ?? []).every((n) => isKnownNumber(Number(n), 'shift', known))
  );
}

const rounded = (number: number): number => Number(number.toPrecision(12));
