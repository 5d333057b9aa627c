/**
 * Turns a predicate or count into a query over the relation `observation` (rule S2). If one of its subqueries gives several
 * rows, so does the query: used as a plain value, SQLite would silently take the first row.
 */
import { normaliseSql, tokenEnd } from './body';

/** A bare expression gets `FROM observation`; one that consists of subqueries needs no FROM. */
export function expressionQuery(expression: string): string {
  const text = normaliseSql(expression);
  const whole = wholeQuery(text);
  if (whole !== null) return /^with\b/i.test(whole) ? `SELECT * FROM (\n${whole}\n) AS gate_value` : whole;
  const { outside, subqueries } = dissect(text);
  const from = subqueries.length === 0 || AGGREGATE.test(outside) ? ' FROM observation' : '';
  return [`SELECT (${text})${from}`, ...subqueries.filter(mayGiveRows).map(secondRow)].join('\n');
}

/** False for a bare expression of literals only: its value does not depend on the data. */
export function namesSomething(expression: string): boolean {
  const withoutText = expression.replace(/'(?:[^']|'')*'/g, '');
  const words = withoutText.match(/"[^"]+"|`[^`]+`|\b[A-Za-z_]\w*/g) ?? [];
  return words.some((word) => !/^(?:true|false|null|and|or|not|is|in|like|between)$/i.test(word));
}

/** The query inside `( … )`, or the text itself, if it is a single SELECT; else null. */
export function wholeQuery(text: string): string | null {
  if (/^(?:select|with)\b/i.test(text)) return text;
  if (!text.startsWith('(') || closing(text) !== text.length - 1) return null;
  return wholeQuery(normaliseSql(text.slice(1, -1)));
}

/** Aggregates. With one outside its subqueries an expression needs FROM: without it, `count(*)` is 1. */
const AGGREGATE =
  /\b(?:count|sum|avg|total|every|bool_(?:and|or)|\w+_agg|group_concat)\s*\(|\bm(?:in|ax)\s*\([^(),]*\)/i;

interface Subquery {
  readonly sql: string;
  /** The text before it. */
  readonly before: string;
}

/** The outermost subqueries of an expression, and the rest of it without string literals and comments. */
function dissect(text: string): { readonly outside: string; readonly subqueries: readonly Subquery[] } {
  const subqueries: Subquery[] = [];
  let outside = '';
  for (let at = 0, next = 0; at < text.length; at = next) {
    next = tokenEnd(text, at);
    const rest = text.slice(at);
    if (/^\(\s*(?:select|with|values)\b/i.test(rest)) {
      const end = closing(rest);
      subqueries.push({ sql: rest.slice(1, end), before: outside });
      outside += '()';
      next = end < 0 ? text.length : at + end + 1;
    } else outside += next === at + 1 ? text.charAt(at) : /^["`]/.test(rest) ? text.slice(at, next) : ' ';
  }
  return { outside, subqueries };
}

/** Whether the subquery is used as one value and may give several: not after IN or EXISTS, nor if it is a lone aggregate. */
function mayGiveRows({ sql, before }: Subquery): boolean {
  if (/\b(?:in|exists|any|all|some|array)\s*$/i.test(before)) return false;
  const isOneRow = /^\s*select\s+(?:count|sum|avg|total)\s*\(/i.test(sql);
  return !isOneRow || /\b(?:group\s+by|over|union|intersect|except)\b/i.test(sql);
}

/** SQL that adds a second row to the predicate's result if the subquery has more than one. */
function secondRow({ sql }: Subquery): string {
  return `UNION ALL SELECT NULL WHERE (SELECT count(*) FROM (\n${sql}\n) AS gate_rows) > 1`;
}

/** Index of the bracket that closes the first one. */
export function closing(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at = tokenEnd(text, at)) {
    if (text.charAt(at) === '(') depth += 1;
    else if (text.charAt(at) === ')' && (depth -= 1) === 0) return at;
  }
  return -1;
}
