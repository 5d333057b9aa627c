/**
 * A predicate or count as a query over the relation `observation` (rule S2), written so that several rows show as several
 * rows: as a mere value, SQLite would silently take the first of a subquery's rows.
 */
import { normaliseSql, tokenEnd } from './body';

/** A bare expression reads every row of the observation; one that is a subquery stands on its own. */
export function expressionQuery(expression: string): string {
  const text = normaliseSql(expression);
  if (!/\bselect\b/i.test(text)) return `SELECT (${text}) FROM observation`;
  return wholeQuery(text) ?? `SELECT (${text})`;
}

/** False for a bare expression of literals only: it is true or false whatever the data says. */
export function namesSomething(expression: string): boolean {
  const withoutText = expression.replace(/'(?:[^']|'')*'/g, '');
  const words = withoutText.match(/"[^"]+"|`[^`]+`|\b[A-Za-z_]\w*/g) ?? [];
  return words.some((word) => !/^(?:true|false|null|and|or|not|is|in|like|between)$/i.test(word));
}

/** The query inside `( … )`, or the text itself, where it is one SELECT and nothing else; null otherwise. */
function wholeQuery(text: string): string | null {
  if (/^select\b/i.test(text)) return text;
  if (!text.startsWith('(') || closing(text) !== text.length - 1) return null;
  return wholeQuery(normaliseSql(text.slice(1, -1)));
}

/** Index of the bracket that closes the first one. */
function closing(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at = tokenEnd(text, at)) {
    if (text.charAt(at) === '(') depth += 1;
    else if (text.charAt(at) === ')' && (depth -= 1) === 0) return at;
  }
  return -1;
}
