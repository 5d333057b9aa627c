/**
 * SQL text as tokens, by the rules of its own engine: what is a string or a comment in one dialect (`'\'`, nested comments,
 * `$tag$`, `[…]`) is code in another. Nothing is refused here: what Snowflake's rules do not know is an `unknown` token.
 */
import type { Dialect } from '../domain';
import { DIALECTS } from './dialects';
import type { Patterns, Token } from './dialects/dialect';

export type { Token } from './dialects/dialect';

/**
 * For texts of any dialect. Ids of stored bodies are hashes of texts that were split so: this never changes. A quote that is
 * doubled ends one string and begins the next.
 */
export const ANY: Patterns = [
  ['space', /\s+|--[^\n]*\n?|\/\*[\s\S]*?(?:\*\/|$)/uy],
  ['string', /(?<=(?<!\w)[eE])'(?:[^'\\]|\\(?:[\s\S]|$))*(?:'|$)/uy],
  ['string', /'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)/uy],
  ['string', /(?<!\w)\$(?<tag>(?:[A-Za-z_]\w{0,67})?)\$[\s\S]*?(?:\$\k<tag>\$|$)/uy],
  ['word', /[A-Za-z_]\w*/uy],
  ['symbol', /[\s\S]/uy],
];

/** The tokens without spaces and comments. */
export function tokensOf(sql: string, dialect: Dialect | 'any'): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < sql.length;) {
    const [kind, raw] = next(sql, at, dialect === 'any' ? ANY : DIALECTS[dialect].patterns);
    const isNested = raw === '/*' && kind === 'space';
    if (kind !== 'space') tokens.push({ kind, text: textOf(kind, raw, dialect), raw, at });
    at = isNested ? endOfComment(sql, at) : at + raw.length;
  }
  return tokens;
}

/**
 * BigQuery: a path in one pair of backticks as its parts, at its dots; what they are written as makes up the text again.
 * `dashes`: also words with dashes, which may be a difference of columns.
 */
export function partsOfPaths(tokens: readonly Token[], dashes = false): Token[] {
  return tokens.flatMap((token): Token[] => {
    const { kind, raw } = token;
    const isPath = kind === 'quoted' && raw.startsWith('`');
    if (!isPath && !(dashes && kind === 'word')) return [token];
    let { at } = token;
    return raw.split(isPath ? /(\.)/ : /(-)/).map((piece) => {
      const start = at;
      at += piece.length;
      return piece === '.' || piece === '-'
        ? { kind: 'symbol', text: piece, raw: piece, at: start }
        : { kind, text: piece.replaceAll('`', ''), raw: piece, at: start };
    });
  });
}

function next(sql: string, at: number, patterns: Patterns): readonly [Token['kind'] | 'space', string] {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const [raw] = pattern.exec(sql) ?? [];
    if (raw !== undefined) return [kind, raw];
  }
  return ['unknown', sql.charAt(at)];
}

function textOf(kind: Token['kind'], raw: string, dialect: Dialect | 'any'): string {
  switch (kind) {
    case 'word':
      return dialect !== 'any' && DIALECTS[dialect].fold === 'upper' ? raw.toUpperCase() : raw.toLowerCase();
    case 'quoted': {
      const quote = raw.slice(-1);
      const name = raw.slice(raw.search(/["`[]/) + 1, -1);
      return quote === ']' ? name : name.replaceAll(quote + quote, quote);
    }
    case 'string':
      return "'";
    default:
      return raw;
  }
}

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

/** Where the bracket at `open` closes; the number of tokens: nowhere. A quoted name is no bracket. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    depth += bracket(tokens[at]);
    if (depth === 0) return at;
  }
  return tokens.length;
}

/** Where the bracket at `close` opens; 0: nowhere. */
export function opening(tokens: readonly Token[], close: number): number {
  let depth = 0;
  for (let at = close; at >= 0; at -= 1) {
    depth += bracket(tokens[at]);
    if (depth === 0) return at;
  }
  return 0;
}

function bracket(token: Token | undefined): number {
  if (token?.kind === 'word' || token?.kind === 'quoted') return 0;
  return Number(token?.text === '(') - Number(token?.text === ')');
}

/** A text with some of its tokens written in another way. */
export function rewritten(
  sql: string,
  dialect: Dialect,
  write: (token: Token, before: Token | undefined, after: Token | undefined) => string,
): string {
  const tokens = tokensOf(sql, dialect);
  const endOf = (token: Token | undefined): number => (token === undefined ? 0 : token.at + token.raw.length);
  const written = tokens.map((token, index) => {
    const before = tokens[index - 1];
    return sql.slice(endOf(before), token.at) + write(token, before, tokens[index + 1]);
  });
  return written.join('') + sql.slice(endOf(tokens.at(-1)));
}

/** A comment becomes a line break, except before the first token; what follows the last one is left out. */
export function withoutComments(sql: string, dialect: Dialect): string {
  return tokensOf(sql, dialect)
    .map(({ raw, at }, index, tokens) => {
      const before = tokens[index - 1];
      if (before === undefined) return raw;
      const between = sql.slice(before.at + before.raw.length, at);
      return (/\S/.test(between) ? '\n' : between) + raw;
    })
    .join('');
}

export interface Statement {
  /** Null where there is nothing but brackets and semicolons. */
  readonly first: Token | null;
  /** Something follows the first semicolon, other than semicolons. */
  readonly isSeveral: boolean;
  /** Up to the first semicolon; comments stay. */
  readonly text: string;
}

export function statementIn(sql: string, tokens: readonly Token[]): Statement {
  const end = tokens.findIndex(({ raw }) => raw === ';');
  return {
    first: tokens.find(({ raw }) => raw !== '(' && raw !== ';') ?? null,
    isSeveral: end >= 0 && tokens.slice(end).some(({ raw }) => raw !== ';'),
    text: sql.slice(0, tokens[end]?.at),
  };
}
