/**
 * A statement as words, quoted names and the rest, read as its own engine reads it: what one dialect takes for text or
 * comment (`'\'`, nested comments, `$tag1$`, `[…]`) is run by another. The parser has accepted the statement before, so
 * that every quote is closed.
 */
import type { Dialect } from '../../domain';
import { lex } from '../snowflake/tokens';

export interface Token {
  readonly kind: 'word' | 'quoted' | 'other';
  /** Lower case, without quotes; of a text a mere `'`. */
  readonly text: string;
}

export const ESCAPED_NAME = 'u&"';
/** `E'…'` that goes on in a further text, whose backslashes count as well. */
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

/** Its spaces are ASCII: other ones are parts of names. */
const POSTGRESQL =
  /(?<space>[ \t\n\r\f\v]+|--[^\n\r]*|\/\*)|(?<escaped>[eE]'(?:[^'\\]|''|\\[\s\S])*')|(?<text>(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*'|\$(?<tag>(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?)\$[\s\S]*?\$\k<tag>\$)|(?<odd>[uU]&")|"(?<quoted>(?:[^"]|"")*)"|(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|\d+|[\s\S]/y;

/** A byte order mark is space to it. */
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

/** PostgreSQL's comments hold further ones. */
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

/** Its names fold to upper case, some letters beyond ASCII (ı, ſ) to those of it. */
function snowflakeTokens(sql: string): Token[] {
  const lexed = lex(sql);
  if (lexed.kind !== 'tokens') return [];
  return lexed.tokens.map(({ kind, text }) => ({
    kind: kind === 'word' || kind === 'quoted' ? kind : 'other',
    text: text.toLowerCase(),
  }));
}
