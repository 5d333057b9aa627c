/**
 * A statement as every reader of tokens needs it: its tokens are known, it begins like a query, its brackets match, and no
 * second statement follows. The inspector reads on (`reader.ts`); an engine may check no more than this before it sends one.
 */
import type { Dialect, SqlResult } from '../../domain';
import type { Inspection, SqlInspector } from '../../domain/ports/sql-inspector';
import { statementIn, tokensOf, type Token } from '../../sql/lexer';
import { inspected, MAX_STATEMENT_LENGTH, TOO_LONG } from './inspection';
import { isWord, Reader, type Grammar } from './reader';

export type Statement =
  /** Both without the final semicolon and what follows it, so that the text can stand in brackets. */
  | { readonly kind: 'select'; readonly text: string; readonly tokens: readonly Token[] }
  | Exclude<Inspection, { kind: 'select' }>;

/** Beginnings of what the dialect's patterns do not know, each with what to write instead. */
export type Refused = readonly (readonly [start: string, message: string])[];

const ONE_SELECT = 'write one SELECT that only reads';

export function readStatement(sql: string, dialect: Dialect, refused: Refused): Statement {
  if (sql.length > MAX_STATEMENT_LENGTH) return { kind: 'refused', message: TOO_LONG };
  // Drivers and servers may end the statement there.
  if (sql.includes('\0')) return { kind: 'refused', message: 'the statement holds a NUL character: leave it out' };
  const tokens = tokensOf(sql, dialect);
  const unknown = tokens.find(({ kind }) => kind === 'unknown');
  if (unknown !== undefined) return refuseCharacter(sql, unknown.at, refused);
  const { first, isSeveral, text } = statementIn(sql, tokens);
  const refuse = (message: string): Statement => ({ kind: 'refused', message });
  if (first === null) return refuse('the statement is empty: write one SELECT');
  if (!isWord(first, 'SELECT') && !isWord(first, 'WITH'))
    return refuse(
      `${first.kind === 'word' ? first.raw.toUpperCase() : 'this statement'} is not allowed: ${ONE_SELECT}`,
    );
  if (isSeveral) return refuse('only one statement is allowed: remove what follows the first semicolon');
  if (!isBalanced(tokens)) return refuse(`brackets do not match: ${ONE_SELECT}`);
  return { kind: 'select', text, tokens: tokens.filter(({ at }) => at < text.length) };
}

/** What an engine sends of a statement, or why it sends nothing. */
export const sentOf = (statement: Statement): string | Extract<SqlResult, { kind: 'refused' }> =>
  statement.kind === 'select' ? statement.text : { kind: 'refused', message: statement.message };

/** The reader of tokens as the inspector of a dialect. `read`: the dialect's `readStatement`. */
export function createTokenInspector(read: (sql: string) => Statement, grammar: Grammar): SqlInspector {
  return {
    inspect(sql) {
      const statement = read(sql);
      if (statement.kind !== 'select') return statement;
      return inspected(() => {
        const reader = new Reader(statement.tokens, grammar);
        reader.inner(new Set());
        const hasWith = isWord(statement.tokens[0], 'WITH');
        return { relations: [...reader.relations].sort(), ctes: hasWith ? [...reader.firstCtes] : [], hasWith };
      });
    },
  };
}

function refuseCharacter(sql: string, at: number, refused: Refused): Statement {
  const found = refused.find(([start]) => sql.startsWith(start, at));
  if (found !== undefined) return { kind: 'refused', message: found[1] };
  const isQuote = /['"`]/.test(sql.charAt(at));
  const what = isQuote ? 'a quote is not closed' : `unexpected character ${JSON.stringify(sql[at])}`;
  return { kind: 'syntax-error', message: `${what} (at character ${at + 1})` };
}

const CLOSES: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

function isBalanced(tokens: readonly Token[]): boolean {
  const open: string[] = [];
  for (const { raw } of tokens) {
    if (raw === '(' || raw === '[' || raw === '{') open.push(raw);
    else if (raw in CLOSES && open.pop() !== CLOSES[raw]) return false;
  }
  return open.length === 0;
}
