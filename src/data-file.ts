/** Data files by the endings of their names: what the configuration takes for one, and what an import reads. */
export type DataFormat = 'csv' | 'json' | 'parquet';

const ENDINGS: readonly (readonly [RegExp, DataFormat])[] = [
  [/\.(csv|tsv)(\.gz)?$/i, 'csv'],
  [/\.(json|jsonl|ndjson)(\.gz)?$/i, 'json'],
  [/\.parquet$/i, 'parquet'],
];

/** Null: it is none. */
export function dataFormat(path: string): DataFormat | null {
  return ENDINGS.find(([ending]) => ending.test(path))?.[1] ?? null;
}
