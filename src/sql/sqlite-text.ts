/**
 * What must be known of a statement before SQLite compiles it: its first keyword, and whether there is more than one
 * statement. `sqlite3_prepare` compiles only the first statement and silently drops the rest, and a PRAGMA takes effect
 * while it is compiled. So the bytecode check would come too late for both.
 */

export interface StatementText {
  /** Upper case; empty when there is nothing but space and comments. */
  readonly keyword: string;
  /** Something other than space, comments and semicolons follows the first semicolon. */
  readonly multiple: boolean;
  /** The statement without its final semicolons; comments stay. */
  readonly text: string;
}

/** Every character belongs to one: with the `g` flag, for `replace` and `match`. */
export const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|;|\s+|[A-Za-z_][A-Za-z0-9_]*|[\s\S]/g;

const SPACE = /^(?:--|\/\*|\s)/;

export const tokensOf = (sql: string): string[] => (sql.match(TOKEN) ?? []).filter((token) => !SPACE.test(token));

export function readStatement(sql: string): StatementText {
  let keyword = '';
  let end = -1;
  let multiple = false;
  for (const match of sql.matchAll(TOKEN)) {
    const token = match[0];
    if (SPACE.test(token)) continue;
    if (token === ';') {
      if (end < 0) end = match.index;
      continue;
    }
    if (end >= 0) multiple = true;
    else if (keyword === '' && token !== '(') keyword = token.toUpperCase();
  }
  return { keyword, multiple, text: end < 0 ? sql : sql.slice(0, end) };
}

/**
 * The same statement with other bytes in its binary literals. EXPLAIN prints those as text, and libsql ends the process on
 * text that is not UTF-8.
 */
export function withPlainBlobs(sql: string): string {
  let previous = '';
  return sql.replace(TOKEN, (token) => {
    const isBlob = /^x$/i.test(previous) && /^'[0-9a-f]*'$/i.test(token);
    previous = token;
    return isBlob ? token.replace(/[0-9a-f]{2}/gi, '61') : token;
  });
}

/** SQLite takes these for names where no keyword can stand; sql-parser-cst does not. */
const ALSO_NAMES =
  /^(?:cast|cross|full|glob|groups|indexed|inner|left|like|match|natural|outer|raise|regexp|right|window)$/i;

/** The same statement with such words in quotes where they are names: an alias, or a part of a qualified name. */
export function withQuotedNames(sql: string): string {
  const tokens = sql.match(TOKEN) ?? [];
  const neighbour = (at: number, step: 1 | -1): string => {
    let next = at + step;
    while (SPACE.test(tokens[next] ?? '')) next += step;
    return (tokens[next] ?? '').toLowerCase();
  };
  return tokens
    .map((token, at) => {
      if (!ALSO_NAMES.test(token)) return token;
      const [before, after] = [neighbour(at, -1), neighbour(at, 1)];
      const isFrame = /^(?:between|unbounded|current|\d)/.test(after);
      const isName =
        before === 'as' || before === '.' || after === '.' || (/^groups$/i.test(token) && !isFrame && before !== '(');
      return isName ? `"${token.toLowerCase()}"` : token;
    })
    .join('');
}
