/**
 * Splits a statement into words, quoted names and the rest, by the rules of its own engine: what is a string or a comment
 * in one dialect (`'\'`, nested comments, `$tag1$`, `[…]`) is code in another. The parser has accepted the statement
 * before, so every quote is closed.
 */
import type { Dialect } from '../../domain';
import { lex } from './snowflake-tokens';

export interface Token {
  readonly kind: 'word' | 'quoted' | 'other';
  /** Lower case, without quotes. For a string literal only `'`. */
  readonly text: string;
}

export const ESCAPED_NAME = 'u&"';
/** An `E'…'` that continues in a second literal, in which backslashes escape too. */
export const CONTINUED_TEXT = "e''";

export function tokenize(sql: string, dialect: Dialect): Token[] {
  switch (dialect) {
    case 'postgresql':
      return read(sql, POSTGRESQL);
    case 'sqlite':
      return read(sql, SQLITE);
    case 'snowflake':
      return snowflakeTokens(sql);
    default:
      return dialect satisfies never;
  }
}

type Groups = Readonly<Partial<Record<'space' | 'escaped' | 'text' | 'odd' | 'quoted' | 'word', string>>>;

/** In PostgreSQL only ASCII spaces separate tokens; other spaces are parts of names. */
const POSTGRESQL =
  /(?<space>[ \t\n\r\f\v]+|--[^\n\r]*|\/\*)|(?<escaped>[eE]'(?:[^'\\]|''|\\[\s\S])*')|(?<text>(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*'|\$(?<tag>(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?)\$[\s\S]*?\$\k<tag>\$)|(?<odd>[uU]&")|"(?<quoted>(?:[^"]|"")*)"|(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|\d+|[\s\S]/y;

/** SQLite takes a byte order mark for a space. */
const SQLITE =
  /(?<space>[ \t\n\r\f\ufeff]+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<text>'(?:[^']|'')*')|"(?<quoted>(?:[^"]|"")*)"|`(?<backtick>(?:[^`]|``)*)`|\[(?<bracket>[^\]]*)\]|(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|\d+|[\s\S]/y;

function read(sql: string, pattern: RegExp): Token[] {
  const tokens: Token[] = [];
  let escaped = false;
  for (pattern.lastIndex = 0; pattern.lastIndex < sql.length;) {
    const at = pattern.lastIndex;
    const match = pattern.exec(sql);
    if (match === null) break;
    const {
      space,
      escaped: escape,
      text,
      odd,
      quoted,
      backtick,
      bracket,
      word,
    } = { ...match.groups } as Groups & Readonly<{ backtick?: string; bracket?: string }>;
    if (space !== undefined) {
      if (pattern === POSTGRESQL && space === '/*') pattern.lastIndex = endOfComment(sql, at);
      continue;
    }
    const name = quoted?.replaceAll('""', '"') ?? backtick?.replaceAll('``', '`') ?? bracket;
    if (odd !== undefined) tokens.push({ kind: 'other', text: ESCAPED_NAME });
    else if (name !== undefined) tokens.push({ kind: 'quoted', text: name.toLowerCase() });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word.toLowerCase() });
    else if (escaped && match[0].startsWith("'")) tokens.push({ kind: 'other', text: CONTINUED_TEXT });
    else tokens.push({ kind: 'other', text: escape !== undefined || text !== undefined ? "'" : match[0] });
    escaped = escape !== undefined;
  }
  return tokens;
}

/** PostgreSQL's comments nest. */
function endOfComment(sql: string, start: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  let depth = 0;
  for (let match = mark.exec(sql); match !== null; match = mark.exec(sql)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return sql.length;
}

/** Snowflake folds names to upper case, and so some non-ASCII letters (ı, ſ) to ASCII ones. */
function snowflakeTokens(sql: string): Token[] {
  const lexed = lex(sql);
  if (lexed.kind !== 'tokens') return [];
  return lexed.tokens.map(({ kind, text }) => ({
    kind: kind === 'word' || kind === 'quoted' ? kind : 'other',
    text: text.toLowerCase(),
  }));
}
