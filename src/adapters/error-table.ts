/** Errors of a database sorted by a table. */
import { SqlEngineError, type SqlEngineErrorCode } from '../ports/sql-engine';

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
