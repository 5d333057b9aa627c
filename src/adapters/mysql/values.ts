/**
 * MySQL values as JSON-safe results, and as texts to hash. They come in the binary protocol: integers and doubles as they are
 * (beyond 2^53 as text), decimals, dates and times as text, JSON as text, everything without a character set as bytes.
 * There are no truth values: `TINYINT(1)` is a number.
 */
import type { FieldPacket } from 'mysql2';
import type { ResultColumn, SqlValue } from '../../domain';
import { compactJson, exactNumber } from '../kit/value-text';

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
  if (STAMPS.includes(type)) return (value) => withoutZeros(String(value));
  if (isJson(field)) return (value) => compactJson(String(value));
  if (columnKind(field) === 'other') return (value) => (Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value);
  return null;
}

/** The shortest digits that give the same single-precision number. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** `12:00:00.500000` is `12:00:00.5`, whatever the column's precision. */
const withoutZeros = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

/**
 * Count and order-independent hash of a whole result, computed by the server (rule S5): each row's text is hashed and the
 * halves of the hashes are summed. Columns are taken by position, so two may have the same name. Whole numbers enter exactly,
 * others with 7 significant digits; texts byte by byte, whatever their collation takes for equal.
 */
export function digestSql(sql: string, fields: readonly Field[]): string {
  const names = fields.map((_, index) => `c${index}`);
  const row = fields.map((field, index) => hashedText(`c${index}`, field)).join(", '|', ");
  const half = (start: number): string =>
    `COALESCE(SUM(CAST(CONV(SUBSTRING(gate_hash, ${start}, 16), 16, 10) AS UNSIGNED)), 0)`;
  return `WITH gate_rows (${names.join(', ')}) AS (\n${sql}\n), gate_hashes AS (
    SELECT SHA2(CONCAT(${row}), 256) AS gate_hash FROM gate_rows
  ) SELECT COUNT(*), CAST(${half(1)} AS CHAR), CAST(${half(17)} AS CHAR) FROM gate_hashes`;
}

function hashedText(name: string, field: Field): string {
  const type = typeOf(field);
  if (columnKind(field) === 'number') return number(type === BIT ? `(${name} + 0)` : name, type);
  const printed = `CONVERT(CAST(${name} AS CHAR) USING utf8mb4)`;
  const text = columnKind(field) === 'other' ? `HEX(${name})` : TIMES.includes(type) ? time(printed) : printed;
  return `CASE WHEN ${name} IS NULL THEN 'n' ELSE CONCAT('t', LENGTH(${text}), ':', ${text}) END`;
}

/** Without zeros after the point, and without the time of midnight. */
function time(text: string): string {
  const short = `IF(LOCATE('.', ${text}) > 0, TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM ${text})), ${text})`;
  return `REGEXP_REPLACE(${short}, ' 00:00:00$', '')`;
}

/** A double has 15 reliable digits. */
function number(name: string, type: number): string {
  const isInexact = type === FLOAT || type === DOUBLE;
  const double = `CAST(${name} AS DOUBLE)`;
  const limit = isInexact ? ` AND ABS(${double}) <= 1e15` : '';
  const whole = `ABS(${double}) >= 1e7${limit} AND ${name} = TRUNCATE(${name}, 0)`;
  const exponent = `FLOOR(LOG10(ABS(${double})))`;
  const mantissa = `ROUND(${double} / POWER(10, ${exponent}), 6)`;
  return `CASE WHEN ${name} IS NULL THEN 'n' WHEN ABS(${double}) < 1e-300 THEN 'd0'
      WHEN ${whole} THEN CONCAT('d', CAST(${name} AS DECIMAL(65, 0)))
      WHEN ABS(${mantissa}) >= 10 THEN CONCAT('d', CAST(${mantissa} / 10 AS DECIMAL(9, 6)), 'e', ${exponent} + 1)
      ELSE CONCAT('d', CAST(${mantissa} AS DECIMAL(9, 6)), 'e', ${exponent}) END`;
}
