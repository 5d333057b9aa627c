/** SQLite values and columns as JSON-safe results: big integers as text, blobs as hex, kinds from values and types. */
import type { ResultColumn, SqlValue } from '../../domain';

export type RawValue = number | bigint | string | Uint8Array | null;

export function toSqlValue(value: RawValue): SqlValue {
  if (typeof value === 'bigint') return value >= MIN_SAFE && value <= MAX_SAFE ? Number(value) : value.toString();
  if (typeof value === 'number') return Number.isFinite(value) ? value : value > 0 ? 'Infinity' : '-Infinity';
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return value;
}

const MIN_SAFE = BigInt(Number.MIN_SAFE_INTEGER);
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** SQLite types values, not columns: the values decide, the declared type only tells text from time and JSON. */
export function columnKind(
  declared: string | null,
  rows: readonly (readonly SqlValue[])[],
  index: number,
): ResultColumn['kind'] {
  const type = (declared ?? '').toUpperCase();
  let numbers = 0;
  let texts = 0;
  for (const row of rows) {
    const value = row[index] ?? null;
    if (typeof value === 'number') numbers += 1;
    else if (typeof value === 'string') texts += 1;
  }
  if (numbers > 0 && texts > 0) return /INT|REAL|NUM|DEC|FLOA|DOUB/.test(type) ? 'number' : 'other';
  if (numbers > 0) return 'number';
  if (/BOOL/.test(type) && texts === 0) return 'boolean';
  if (/DATE|TIME/.test(type)) return 'time';
  if (/JSON/.test(type)) return 'json';
  if (/BLOB/.test(type)) return 'other';
  if (texts > 0 || /CHAR|TEXT|CLOB/.test(type)) return 'text';
  return /INT|REAL|NUM|DEC|FLOA|DOUB/.test(type) ? 'number' : 'other';
}

/** How a value enters a digest: numbers to 7 significant digits, so that 4 and 4.0000000001 are the same. */
export function digestText(value: RawValue): string {
  if (value === null) return 'n';
  if (typeof value === 'bigint') return `d${Number(value).toExponential(6)}`;
  if (typeof value === 'number') return `d${(value === 0 ? 0 : value).toExponential(6)}`;
  if (value instanceof Uint8Array) return `b${value.length}:${Buffer.from(value).toString('hex')}`;
  return `t${value.length}:${value}`;
}
