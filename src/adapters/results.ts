/** What all engines have in common: their results, errors sorted by a table, texts and names as standard SQL writes them. */
import type { SqlResult } from '../domain';
import { SqlEngineError, type SqlEngine, type SqlSnapshot, type SqlEngineErrorCode } from '../ports/sql-engine';

/** A result larger than this is cut like one with too many rows. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** Milliseconds since the call, to a tenth. */
export function stopwatch(): () => number {
  const started = performance.now();
  return () => Math.round((performance.now() - started) * 10) / 10;
}

/** What a server computed: count and the sums of both halves of the hashes; or why it did not. */
export function digestOf({ results: [result] }: SqlSnapshot): Awaited<ReturnType<SqlEngine['digest']>> {
  if (result === undefined) throw new SqlEngineError('connection', 'the digest gave no result');
  if (result.kind !== 'rows') return result;
  const [count, high, low] = result.rows[0] ?? [];
  return { count: Number(count), hash: `${String(high)}.${String(low)}` };
}

export const hasTimedOut = ({ kind }: SqlResult): boolean => kind === 'timeout';

/** What an error says of itself, its kind, and the line for the user, in which `{host}` and the like stand for facts. */
export type ErrorTable = readonly (readonly [says: RegExp, kind: SqlEngineErrorCode, line: string])[];

/** By the first row that fits; null: none does. */
export function errorBy(
  table: ErrorTable,
  says: string,
  facts: Readonly<Record<string, string>>,
  cause?: unknown,
): SqlEngineError | null {
  const row = table.find(([pattern]) => pattern.test(says));
  if (row === undefined) return null;
  const line = row[2].replace(/\{(\w+)\}/g, (_, name: string) => facts[name] ?? '');
  return new SqlEngineError(row[1], line, { cause });
}

export const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
