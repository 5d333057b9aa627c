/**
 * Most builds of SQLite (Python's, for example) treat a double-quoted name that is no column as a string literal, and some
 * published gold queries rely on that. The SQLite used here reports an unknown column, which is better for a search. So gold
 * queries are rewritten to run as their authors ran them.
 */
import type { SqlResult } from '../domain';
import type { SqlEngine, SqlOptions } from '../domain/ports';
import { rewritten } from '../sql/lexer';

/** The most names replaced in a statement: more are not a slip of the author. */
const ATTEMPTS = 50;

/** Runs the statements in one snapshot and gives their texts as they ran. The first `asTheyStand` are never rewritten. */
export async function runAsWritten(
  statements: readonly string[],
  engine: SqlEngine,
  options: SqlOptions,
  asTheyStand = 1,
): Promise<{ readonly statements: readonly string[]; readonly results: readonly SqlResult[] }> {
  let texts = statements;
  for (let attempt = 0; ; attempt += 1) {
    const { results } = await engine.run(texts, options);
    const next = texts.map((sql, at) => (at < asTheyStand ? sql : withText(sql, results[at])));
    const isSame = next.every((sql, at) => sql === texts[at]);
    if (engine.dialect !== 'sqlite' || isSame || attempt >= ATTEMPTS) return { statements: texts, results };
    texts = next;
  }
}

/** Replaces every `"X"` by `'X'`, if the result says that there is no column X. */
function withText(sql: string, result: SqlResult | undefined): string {
  const name = result?.kind === 'sql-error' ? /^no such column: (.*)$/s.exec(result.message)?.[1] : undefined;
  if (name === undefined) return sql;
  const quoted = `"${name.replaceAll('"', '""')}"`;
  const text = `'${name.replaceAll("'", "''")}'`;
  return rewritten(sql, 'sqlite', ({ raw }, before) => (raw === quoted && before?.raw !== '.' ? text : raw));
}
