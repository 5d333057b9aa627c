/** What a run wrote into its folder. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResultLine } from '../../src/questions';
import type { Run } from '../../src/report/run';

export const runIn = (folder: string, out = 'out'): Run =>
  JSON.parse(readFileSync(join(folder, out, 'summary.json'), 'utf8')) as Run;

export const linesIn = (folder: string, out = 'out'): ResultLine[] =>
  readFileSync(join(folder, out, 'results.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as ResultLine);

/** Model calls of its searches; questions that share one are charged once. */
export const callsOf = (lines: readonly ResultLine[]): number =>
  [...new Map(lines.map(({ searchId, usage }) => [searchId, usage?.llmCalls ?? 0])).values()].reduce(
    (sum, calls) => sum + calls,
    0,
  );
