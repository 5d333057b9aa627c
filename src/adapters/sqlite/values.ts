/** SQLite values and columns as JSON-safe results: big integers as text, blobs as hex, kinds from values and types. */
import type { ResultColumn, SqlValue } from '../../domain';

export type RawValue = number | bigint | string | Uint8Array | null;

export function toSqlValue(value: RawValue): SqlValue {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : value > 0 ? 'Infinity' : '-Infinity';
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return value;
}

/** How many values of a column were numbers, and how many were texts. */
export interface Seen {
  numbers: number;
  texts: number;
}

/** In SQLite values have types and columns do not. The values decide; the declared type only tells text from time and JSON. */
export function columnKind(
  declared: string | null,
  { numbers, texts }: Readonly<Seen> = { numbers: 0, texts: 0 },
): ResultColumn['kind'] {
  const type = (declared ?? '').toUpperCase();
  if (numbers > 0 && texts > 0) return /INT|REAL|NUM|DEC|FLOA|DOUB/.test(type) ? 'number' : 'other';
  if (numbers > 0) return 'number';
  if (/BOOL/.test(type) && texts === 0) return 'boolean';
  if (/DATE|TIME/.test(type)) return 'time';
  if (/JSON/.test(type)) return 'json';
  if (/BLOB/.test(type)) return 'other';
  if (texts > 0 || /CHAR|TEXT|CLOB/.test(type)) return 'text';
  return /INT|REAL|NUM|DEC|FLOA|DOUB/.test(type) ? 'number' : 'other';
}

/** A value as text for the digest: whole numbers exactly, others to 7 significant digits (4 equals 4.0000000001). */
export function digestText(value: RawValue): string {
  if (value === null) return 'n';
  if (typeof value === 'bigint') return `d${value}`;
  if (typeof value === 'number') return `d${Number.isSafeInteger(value) ? value : Number(value.toPrecision(7))}`;
  if (value instanceof Uint8Array) return `b${value.length}:${Buffer.from(value).toString('hex')}`;
  return `t${value.length}:${value}`;
}

/**
 * Texts that are not valid UTF-8: they are read as bytes, each beside its type, and decoded here.
 *
 * The statement with two columns for each of its own: the value, a text as bytes, and its type.
 */
export function readTextAsBytes(text: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, index) => `c${index}`);
  const values = names.map(
    (name) => `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) ELSE ${name} END, typeof(${name})`,
  );
  return `WITH gate_rows(${names.join(', ')}) AS (\n${text}\n) SELECT ${values.join(', ')} FROM gate_rows`;
}

export function* decoded(rows: Iterable<RawValue[]>): Iterable<RawValue[]> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // ignoreBOM keeps a byte order mark in the text
  for (const row of rows) {
    yield Array.from({ length: row.length / 2 }, (_, index) => {
      const value = row[index * 2] ?? null;
      return row[index * 2 + 1] === 'text' && value instanceof Uint8Array ? decoder.decode(value) : value;
    });
  }
}
