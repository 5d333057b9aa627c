/** What `gate submit` says beside the file that it writes: how it was made, and what of it is an answer. */
import { dirname, relative } from 'node:path';
import type { BenchmarkItem } from '../benchmarks';
import type { Prediction } from '../benchmarks/benchmark';
import type { AnswerRecord, SearchInput } from '../domain';
import { canonical } from '../domain/canonical';
import { each } from '../limiter';
import { sha256OfFile } from '../sha256';
import { packageVersion } from '../workers/package-folder';
import { promptHashes } from './run-provenance';
import { sha256 } from './services';

export interface Answered {
  readonly item: BenchmarkItem;
  readonly record: AnswerRecord | null;
  readonly input: SearchInput | null;
}

/** Of the version that writes the file: `gate` and `prompts`. Counts are those of the file, whatever a search was called. */
export async function manifestOf(
  path: string,
  answered: readonly Answered[],
  predictions: ReadonlyMap<string, Prediction>,
  written: readonly string[],
) {
  const idsOf = (kinds: readonly Prediction['kind'][], hasRecord = true): string[] =>
    answered.flatMap(({ item: { id }, record }) =>
      kinds.includes(predictions.get(id)?.kind ?? 'none') && (record !== null) === hasRecord ? [id] : [],
    );
  return {
    gate: packageVersion(),
    ...methodOf(answered),
    prompts: promptHashes(),
    candidates: candidatesOf(answered),
    data: sha256(canonical(answered.map(({ item: { id, question, database } }) => ({ id, question, database })))),
    files: await each(written, async (file) => ({
      file: relative(dirname(path), file),
      sha256: await sha256OfFile(file),
    })),
    questions: answered.length,
    answered: idsOf(['sql', 'rows']).length,
    abstained: idsOf(['abstained']),
    failed: idsOf(['none']),
    notAnswered: idsOf(['none'], false),
  };
}

function methodOf(answered: readonly Answered[]) {
  const settings = new Map(
    answered.flatMap(({ input }) => (input === null ? [] : [[canonical(input.settings), input.settings] as const])),
  );
  const [first] = settings.values();
  return {
    method: first?.method ?? null,
    models: first?.models ?? null,
    // All with which the questions were answered.
    settings: [...settings.values()],
  };
}

/** As BIRD's board asks: how many candidates a question had. */
function candidatesOf(answered: readonly Answered[]) {
  const counts = answered.flatMap(({ item, record }) =>
    record === null ? [] : [[item.id, record.candidates.length] as const],
  );
  const numbers = counts.map(([, count]) => count);
  const most = Math.max(0, ...numbers);
  return {
    mean: numbers.length === 0 ? null : numbers.reduce((sum, count) => sum + count, 0) / numbers.length,
    most,
    selfConsistency: most <= 1 ? 'none' : most <= 7 ? 'few (1–7)' : most <= 32 ? 'many (8–32)' : 'scale (more than 32)',
    perQuestion: Object.fromEntries(counts),
  };
}
