import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Pairs of results with the verdicts of an official scorer, from `tests/fixtures/benchmarks`. */
export function pairsOf<T>(board: string): T[] {
  const path = join(__dirname, '..', 'fixtures', 'benchmarks', `${board}-pairs.jsonl`);
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}
