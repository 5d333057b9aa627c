/** What LiveSQLBench's scorer takes out of a query before it compares results: comments, DISTINCT, and the calls of ROUND. */

export function withoutRounding(sql: string): string {
  return withoutRound(withoutDistinct(withoutComments(sql)));
}

/** A comment on the last line, without a line break, stays. */
function withoutComments(sql: string): string {
  return sql
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/--[^\n]*?(\r\n|\r|\n)/g, '$1')
    .replace(/\n\s*\n+/g, '\n')
    .trim();
}

/** Only where the word stands between blanks: `COUNT(DISTINCT x)` keeps it, `DISTINCT ON (x)` does not. */
function withoutDistinct(sql: string): string {
  return sql
    .split(' ')
    .filter((word) => word.toLowerCase() !== 'distinct')
    .join(' ');
}

/** Each call becomes its first argument. Parentheses are counted in strings too, and any name that ends so is taken. */
function withoutRound(sql: string): string {
  let rest = sql;
  for (;;) {
    const call = /ROUND\s*\(/i.exec(rest);
    if (call === null) return rest;
    const from = call.index + call[0].length;
    const [argument, close] = endsOf(rest, from);
    if (close === -1) return rest;
    rest = rest.slice(0, call.index) + rest.slice(from, argument).trim() + rest.slice(close + 1);
  }
}

/** Where the first argument ends, and where the parenthesis that was opened before `from` is closed; -1: nowhere. */
function endsOf(sql: string, from: number): readonly [number, number] {
  let depth = 0;
  let argument = -1;
  for (let at = from; at < sql.length; at += 1) {
    const char = sql.charAt(at);
    if (char === ',' && depth === 0 && argument === -1) argument = at;
    if (char === '(') depth += 1;
    if (char === ')' && depth === 0) return [argument === -1 ? at : argument, at];
    if (char === ')') depth -= 1;
  }
  return [argument, -1];
}
