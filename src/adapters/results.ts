/** What all engines have in common: their results, errors, texts and names as standard SQL writes them. */
import type { SqlResult } from '../domain';
import { SqlEngineError, type SqlEngine, type SqlSnapshot, type SqlEngineErrorCode } from '../domain/ports/sql-engine';
import { sorted, type ErrorTable } from './error-table';

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

export type EngineErrors = ErrorTable<SqlEngineErrorCode>;

export function errorBy(
  table: EngineErrors,
  says: string,
  facts: Readonly<Record<string, string>>,
  cause?: unknown,
): SqlEngineError | null {
  const found = sorted(table, says, facts);
  return found && new SqlEngineError(found.code, found.line, { cause });
}

export const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
