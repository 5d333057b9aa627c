/**
 * SQLite as most know it (Python's, for one) takes a double-quoted name that no column has for a text, and published gold
 * queries make use of that. The SQLite here says that there is no such column, which is what a search should learn; a gold
 * query is read as its authors ran it.
 */
import type { SqlResult } from '../domain';
import type { SqlEngine, SqlOptions } from '../ports';
import { tokenEnd } from '../search/body';

/** More names than this are no slip. */
const ATTEMPTS = 50;

/** The statements as they ran, all in one snapshot; the first one is left as it is. */
export async function runAsWritten(
  statements: readonly string[],
  engine: SqlEngine,
  options: SqlOptions,
): Promise<{ readonly statements: readonly string[]; readonly results: readonly SqlResult[] }> {
  let texts = statements;
  for (let attempt = 0; ; attempt += 1) {
    const { results } = await engine.run(texts, options);
    const next = texts.map((sql, at) => (at === 0 ? sql : withText(sql, results[at])));
    const isSame = next.every((sql, at) => sql === texts[at]);
    if (engine.dialect !== 'sqlite' || isSame || attempt >= ATTEMPTS) return { statements: texts, results };
    texts = next;
  }
}

/** Every `"X"` as `'X'`, where the result is that there is no column X. */
function withText(sql: string, result: SqlResult | undefined): string {
  const name = result?.kind === 'sql-error' ? /^no such column: (.*)$/s.exec(result.message)?.[1] : undefined;
  if (name === undefined) return sql;
  const quoted = `"${name.replaceAll('"', '""')}"`;
  let text = '';
  for (let at = 0, end = 0; at < sql.length; at = end) {
    end = tokenEnd(sql, at);
    while (sql.charAt(at) === '"' && sql.charAt(end) === '"') end = tokenEnd(sql, end); // a doubled quote goes on
    const token = sql.slice(at, end);
    text += token === quoted && !/\.\s*$/.test(text) ? `'${name.replaceAll("'", "''")}'` : token;
  }
  return text;
}
