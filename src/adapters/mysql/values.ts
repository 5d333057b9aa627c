/**
 * MySQL values as JSON-safe results, and as texts to hash. They come in the binary protocol: integers and doubles as they are
 * (beyond 2^53 as text), decimals, dates and times as text, JSON as text, everything without a character set as bytes.
 * There are no truth values: `TINYINT(1)` is a number.
 */
import type { FieldPacket } from 'mysql2';
import type { ResultColumn, SqlValue } from '../../domain';
import { byArithmetic, byConcat, type DigestWords } from '../kit/digest';
import { compactJson, exactNumber, shortest, shortTime } from '../kit/value-text';

/** A column as the server describes it; the driver's types leave out what MariaDB says besides. */
export type Field = FieldPacket & { readonly characterSet: number; readonly extendedFormat?: string };
type Raw = string | number | Buffer | null;

/** Numbers of the protocol: tiny, short, long, longlong, int24, year. */
const INTEGERS = [1, 2, 3, 8, 9, 13];
const [FLOAT, DOUBLE, BIT, JSON_TYPE] = [4, 5, 16, 245];
const DECIMALS = [0, 246];
/** timestamp, datetime; date, time, newdate. */
const [STAMPS, TIMES] = [
  [7, 12],
  [7, 12, 10, 11, 14],
];
/** geometry, vector: the driver would take these apart, so they are asked for as bytes. */
const OPAQUE = [255, 242];
/** The character set of bytes. */
const BINARY = 63;

const typeOf = (field: Field): number => field.columnType ?? field.type ?? -1;
const isJson = (field: Field): boolean => typeOf(field) === JSON_TYPE || field.extendedFormat === 'json';

export function columnKind(field: Field): ResultColumn['kind'] {
  const type = typeOf(field);
  if ([...INTEGERS, ...DECIMALS, FLOAT, DOUBLE, BIT].includes(type)) return 'number';
  if (TIMES.includes(type)) return 'time';
  if (isJson(field)) return 'json';
  return OPAQUE.includes(type) || field.characterSet === BINARY ? 'other' : 'text';
}

export const isOpaque = (field: Field): boolean => OPAQUE.includes(typeOf(field));

/** Converts a row in place: few columns need it. */
export function rowConverter(fields: readonly Field[]): (row: Raw[]) => SqlValue[] {
  const needed = fields.map(converterFor).flatMap((convert, at) => (convert === null ? [] : [[at, convert] as const]));
  return (row) => {
    for (const [at, convert] of needed) {
      const value = row[at] ?? null;
      if (value !== null) row[at] = convert(value) as Raw;
    }
    return row as SqlValue[];
  };
}

function converterFor(field: Field): ((value: Exclude<Raw, null>) => SqlValue) | null {
  const type = typeOf(field);
  if (type === BIT) return (value) => exactNumber(BigInt(`0x${(value as Buffer).toString('hex') || '0'}`).toString());
  if (type === FLOAT) return (value) => shortest(value as number);
  if (DECIMALS.includes(type)) return (value) => exactNumber(String(value));
  if (STAMPS.includes(type)) return (value) => shortTime(String(value));
  if (isJson(field)) return (value) => compactJson(String(value));
  if (columnKind(field) === 'other') return (value) => (Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value);
  return null;
}

/** Texts are compared byte by byte, whatever their collation takes for equal; times without zeros after the point and without midnight. */
export const DIGEST: DigestWords<Field> = {
  join: byConcat,
  length: (text) => `LENGTH(${text})`,
  number(name, field) {
    if (columnKind(field) !== 'number') return null;
    const type = typeOf(field);
    const value = type === BIT ? `(${name} + 0)` : name;
    const double = `CAST(${value} AS DOUBLE)`;
    // A double has 15 reliable digits.
    const limit = type === FLOAT || type === DOUBLE ? ` AND ABS(${double}) <= 1e15` : '';
    return {
      odd: `WHEN ABS(${double}) < 1e-300 THEN 'd0'`,
      isWhole: `ABS(${double}) >= 1e7${limit} AND ${value} = TRUNCATE(${value}, 0)`,
      digits: `CAST(${value} AS DECIMAL(65, 0))`,
      short: byArithmetic(
        double,
        (of) => `LOG10(${of})`,
        (of, decimals) => `CAST(${of} AS DECIMAL(9, ${decimals}))`,
        byConcat,
      ),
    };
  },
  text(name, field) {
    if (columnKind(field) === 'other') return `HEX(${name})`;
    const printed = `CONVERT(CAST(${name} AS CHAR) USING utf8mb4)`;
    if (!TIMES.includes(typeOf(field))) return printed;
    const short = `TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM ${printed}))`;
    return `REGEXP_REPLACE(IF(LOCATE('.', ${printed}) > 0, ${short}, ${printed}), ' 00:00:00$', '')`;
  },
  hash: (row) => `SHA2(${row}, 256) AS gate_hash`,
  sums: [half(1), half(17)],
};

function half(start: number): string {
  return `CAST(COALESCE(SUM(CAST(CONV(SUBSTRING(gate_hash, ${start}, 16), 16, 10) AS UNSIGNED)), 0) AS CHAR)`;
}
