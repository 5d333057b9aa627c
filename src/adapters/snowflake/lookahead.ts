/** What the reader of Snowflake queries has to see ahead or behind before it decides. `at` is the token that it stands on. */
import type { Token } from '../../sql/lexer';
import { GRAMMAR, isSymbol, isWord } from './keywords';

/** The CTE names of a WITH that starts at `from`, found ahead of time by matching brackets. */
export function cteNames(tokens: readonly Token[], from: number): string[] {
  const names: string[] = [];
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (isSymbol(token, '(')) depth += 1;
    else if (isSymbol(token, ')')) depth -= 1;
    else if (depth === 0 && token !== undefined && (at === from || isSymbol(tokens[at - 1], ','))) {
      names.push(token.text);
    } else if (depth === 0 && isWord(token, 'SELECT')) break;
    if (depth < 0) break;
  }
  return names;
}

export function opensCtes(tokens: readonly Token[], at: number): boolean {
  if (isWord(tokens[at - 1], 'START')) return false;
  const skip = isWord(tokens[at + 1], 'RECURSIVE') && !isWord(tokens[at + 2], 'AS') ? 2 : 1;
  const name = tokens[at + skip];
  const after = tokens[at + skip + 1];
  return (name?.kind === 'word' || name?.kind === 'quoted') && (isWord(after, 'AS') || isSymbol(after, '('));
}

/** In FROM, after a relation: `t (a, b)`, `) AS t (a, b)`. */
export function isAlias(tokens: readonly Token[], at: number): boolean {
  const previous = tokens[at];
  if (previous === undefined) return false;
  if (previous.kind === 'quoted' || isSymbol(previous, ')')) return true;
  return previous.kind === 'word' && (previous.text === 'AS' || !GRAMMAR.has(previous.text));
}

/** `a IS [NOT] DISTINCT FROM b`: this FROM is followed by no relation. */
export function isDistinctFrom(tokens: readonly Token[], at: number): boolean {
  return isWord(tokens[at - 1], 'DISTINCT') && (isWord(tokens[at - 2], 'IS') || isWord(tokens[at - 2], 'NOT'));
}

/**
 * `NTH_VALUE(a, 2) FROM FIRST OVER (ORDER BY b)`: this FROM is followed by no relation either. ORDER BY or PARTITION BY
 * tells it from a relation FIRST with the alias OVER, which would have column names there.
 */
export function isNthValue(tokens: readonly Token[], at: number): boolean {
  const after = isWord(tokens[at + 3], 'NULLS') ? 4 : 2;
  return (
    isSymbol(tokens[at - 1], ')') &&
    (isWord(tokens[at + 1], 'FIRST') || isWord(tokens[at + 1], 'LAST')) &&
    isWord(tokens[at + after], 'OVER') &&
    isWord(tokens[at + after + 3], 'BY') // `(ORDER BY` or `(PARTITION BY`
  );
}
