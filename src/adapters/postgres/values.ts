/**
 * PostgreSQL values as JSON-safe results, and as texts to hash. Every value arrives as the text that PostgreSQL prints (no
 * global type parser is touched) and is converted by the column's type; dates, arrays, binary and composite values stay text.
 */
import type { ResultColumn, SqlValue } from '../../domain';
import { byBars, type DigestWords } from '../kit/digest';
import { compactJson, exactNumber } from '../kit/value-text';

const BOOL = 16;
const INTEGERS = new Set([20, 21, 23]); // int8, int2, int4
const ROW_ID = 26; // oid
const FLOATS = new Set([700, 701]);
const NUMERIC = 1700;
const JSONS = new Set([114, 3802]);
const BPCHAR = 1042;
/** timestamp, timestamptz, timetz: how they print may differ by zeros. */
const WITH_ZEROS = new Set([1114, 1184, 1266]);
/** The same, and date, time, interval. */
const TIMES = new Set([...WITH_ZEROS, 1082, 1083, 1186]);
/** char, name, text, unknown, bpchar, varchar, uuid, xml. */
const TEXTS = new Set([18, 19, 25, 705, BPCHAR, 1043, 2950, 142]);
/** Types made by users and extensions (enums, citext, …) start here; they print as text. */
const FIRST_USER_OID = 16_384;

export function columnKind(oid: number): ResultColumn['kind'] {
  if (INTEGERS.has(oid) || FLOATS.has(oid) || oid === ROW_ID || oid === NUMERIC) return 'number';
  if (TIMES.has(oid)) return 'time';
  if (oid === BOOL) return 'boolean';
  if (JSONS.has(oid)) return 'json';
  return TEXTS.has(oid) || oid >= FIRST_USER_OID ? 'text' : 'other';
}

/** Converts the text that the server sent. NULL comes without text and is not converted. */
export function converterFor(oid: number): (text: string) => SqlValue {
  if (oid === BOOL) return (text) => text === 't';
  // The server prints floats exactly. NaN and the infinities stay text.
  if (FLOATS.has(oid)) return (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
  if (JSONS.has(oid)) return compactJson;
  return columnKind(oid) === 'number' ? exactNumber : (text) => text;
}

/**
 * Differences that the rule ignores are removed where that is cheap: a time of midnight, the zone UTC, `true` against 1. Blanks at
 * the end of a `char(n)` stay.
 */
export const DIGEST: DigestWords<number> = {
  join: byBars,
  length: (text) => `length(${text})`,
  number(name, oid) {
    if (oid === BOOL) return integer(`${name}::int`);
    if (oid === ROW_ID) return integer(`${name}::bigint`);
    if (INTEGERS.has(oid)) return integer(name);
    return columnKind(oid) === 'number' ? fraction(name, FLOATS.has(oid)) : null;
  },
  text(name, oid) {
    // A cast would remove the blanks.
    const printed = oid === BPCHAR ? `concat(${name})` : `${name}::text`;
    if (!WITH_ZEROS.has(oid)) return printed;
    return `regexp_replace(regexp_replace(${printed}, '[+]00( BC)?$', '\\1'), ' 00:00:00( BC)?$', '\\1')`;
  },
  // A row of NULLs alone is NULL, too, and has a text.
  isNull: (name) => `${name}::text IS NULL`,
  hash: (row) => `md5(${row}) AS hash`,
  sums: [half(1), half(17)],
};

function half(start: number): string {
  return `coalesce(sum(('x' || substr(hash, ${start}, 16))::bit(64)::bigint::numeric), 0)::text`;
}

const rounded = (double: string): string => `to_char(${double}, '9.999999EEEE')`;

const integer = (value: string) => ({
  isWhole: `${value} NOT BETWEEN -9999999 AND 9999999`,
  digits: value,
  short: rounded(`${value}::float8`),
});

/** A double has 15 reliable digits. `to_char` fails on NaN and Infinity. */
function fraction(name: string, isFloat: boolean) {
  const value = isFloat ? `${name}::float8` : name;
  return {
    odd: `WHEN ${name}::text IN ('NaN', 'Infinity', '-Infinity') THEN ${name}::text`,
    isWhole: isFloat
      ? `abs(${value}) BETWEEN 1e7 AND 1e15 AND ${value} = trunc(${value})`
      : `abs(${value}) >= 1e7 AND (${value} = trunc(${value}) OR abs(${value}) > 1e300)`,
    digits: `trunc(${value})::numeric`,
    short: rounded(isFloat ? `${value} + 0` : `(CASE WHEN abs(${value}) < 1e-300 THEN 0 ELSE ${value} END)::float8`),
  };
}
