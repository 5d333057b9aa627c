/**
 * Snowflake's lexical rules: strings, names, comments and symbols. Text that different readers could split differently
 * (nested comments, `//`, characters outside the grammar) is refused, so that nothing can hide from the check.
 */

export interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'symbol';
  /** Words in upper case, quoted names without quotes, strings only as `'`. */
  readonly text: string;
  readonly at: number;
}

export type Lexed =
  | { readonly kind: 'tokens'; readonly tokens: readonly Token[] }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'syntax-error'; readonly message: string };

const PATTERNS: readonly (readonly [Token['kind'] | 'space', RegExp])[] = [
  ['space', /[ \t\r\n\f\v]+|--[^\n]*|\/\*(?:(?!\*\/|\/\*)[\s\S])*\*\//y],
  ['string', /'(?:[^'\\]|''|\\[\s\S])*'|\$\$(?:(?!\$\$)[\s\S])*\$\$/y],
  ['quoted', /"((?:[^"]|"")*)"/y],
  // `$1` is a column by its position. As a number it is refused where a relation is expected.
  ['number', /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|\$\d+/y],
  ['word', /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy],
  // `|`, `?`, `^`, and `$` at the end, belong to the row patterns of MATCH_RECOGNIZE.
  ['symbol', /->>|=>|->|::|\|\||<>|!=|<=|>=|[-+*/%(),.;:<>=[\]{}|^]|(?<=[})*+])\?|\$(?=\s*\))/y],
];

/** The beginnings of refused tokens, each with what to write instead. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/\/\//y, 'comments with // are not allowed: write -- in front of them'],
  [/\/\*/y, 'a comment is not closed, or holds another one: leave it out'],
  [/@/y, 'stages (@…) are not allowed: read tables and views'],
  [/\$/y, 'variables ($…) are not allowed: write values as they are'],
  [/\?/y, 'bind variables are not allowed: write values as they are'],
  [/&/y, 'variables (&…) are not allowed: write values as they are'],
  [/!/y, 'methods (name!method) are not allowed: use functions that only read'],
];

export function lex(sql: string): Lexed {
  const tokens: Token[] = [];
  let at = 0;
  while (at < sql.length) {
    const found = next(sql, at);
    if (found === null) {
      const refused = REFUSED.find(([pattern]) => matches(pattern, sql, at) !== null);
      if (refused !== undefined) return { kind: 'refused', message: refused[1] };
      const place = `(at character ${at + 1})`;
      if (sql[at] === "'" || sql[at] === '"')
        return { kind: 'syntax-error', message: `a quote is not closed ${place}` };
      return { kind: 'syntax-error', message: `unexpected character ${JSON.stringify(sql[at])} ${place}` };
    }
    if (found.kind !== 'space') tokens.push({ kind: found.kind, text: found.text, at });
    at += found.length;
  }
  return { kind: 'tokens', tokens };
}

function next(sql: string, at: number): { kind: Token['kind'] | 'space'; text: string; length: number } | null {
  for (const [kind, pattern] of PATTERNS) {
    const match = kind === 'symbol' && sql.startsWith('//', at) ? null : matches(pattern, sql, at);
    if (match === null || (kind === 'symbol' && sql.startsWith('/*', at))) continue;
    const [whole] = match;
    const text =
      kind === 'word'
        ? whole.toUpperCase()
        : kind === 'quoted'
          ? (match[1] ?? '').replaceAll('""', '"')
          : kind === 'string'
            ? "'"
            : whole;
    return { kind, text, length: whole.length };
  }
  return null;
}

function matches(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const ONE_SELECT = 'write one SELECT that only reads';

/** The engine's own minimal check: it begins like a query, brackets match, there is no second statement. */
export function refuseText(sql: string): string | null {
  const lexed = lex(sql);
  if (lexed.kind !== 'tokens') return `${lexed.message}: ${ONE_SELECT}`;
  return refuseTokens(lexed.tokens);
}

export function refuseTokens(tokens: readonly Token[]): string | null {
  const first = tokens.find(({ text }) => text !== '(' && text !== ';');
  if (first === undefined) return 'the statement is empty: write one SELECT';
  if (first.kind !== 'word' || !['SELECT', 'WITH'].includes(first.text))
    return `${first.kind === 'word' ? first.text : 'this statement'} is not allowed: ${ONE_SELECT}`;
  const end = tokens.findIndex(({ kind, text }) => kind === 'symbol' && text === ';');
  if (end >= 0 && tokens.slice(end).some(({ kind, text }) => kind !== 'symbol' || text !== ';'))
    return 'only one statement is allowed: remove what follows the first semicolon';
  if (tokens.some(({ kind, text }) => kind === 'symbol' && text === '->>'))
    return 'chained statements (->>) are not allowed: write one SELECT, with CTEs';
  return balanced(tokens) ? null : `brackets do not match: ${ONE_SELECT}`;
}

const CLOSES: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

function balanced(tokens: readonly Token[]): boolean {
  const open: string[] = [];
  for (const { kind, text } of tokens) {
    if (kind !== 'symbol') continue;
    if (text === '(' || text === '[' || text === '{') open.push(text);
    else if (text in CLOSES && open.pop() !== CLOSES[text]) return false;
  }
  return open.length === 0;
}

/** Without the final semicolon and what follows it, so that the text can stand in brackets. */
export function withoutEnd(sql: string): string {
  const lexed = lex(sql);
  const end =
    lexed.kind === 'tokens' ? lexed.tokens.find(({ kind, text }) => kind === 'symbol' && text === ';') : undefined;
  return end === undefined ? sql : sql.slice(0, end.at);
}
