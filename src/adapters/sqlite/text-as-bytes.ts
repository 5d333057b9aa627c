/** Texts that are not valid UTF-8: they are read as bytes, each beside its type, and decoded here. */
import type { RawValue } from './values';

/** The statement with two columns for each of its own: the value, a text as bytes, and its type. */
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
