/**
 * Whether the order of rows is part of an answer. It is if the question asks for an order *and* the gold query has an ORDER
 * BY: gold queries are often sorted although the question does not ask for it, and "the top five" is a set. Rows with equal
 * sort keys may be in any order, so only the keys are compared in sequence if they are among the output columns.
 */
export type RowOrder =
  | { readonly kind: 'any' }
  /** Every row at its position: the sort keys are not in the output, so ties are unknown. */
  | { readonly kind: 'sequence' }
  /** The values of these gold columns are compared in sequence. */
  | { readonly kind: 'keys'; readonly columns: readonly number[] };

const ASKS = [
  /\b(?:ordered|sorted|ranked|arranged)\s+(?:\w+\s+){0,3}?(?:by|from|alphabetically|chronologically|in)\b/i,
  /\b(?:order|sort|rank|arrange)\b.{0,60}?\b(?:by|from|alphabetically|chronologically)\b/i,
  /\b(?:ascending|descending|alphabetical(?:ly)?|chronological(?:ly)?)\b/i,
];

export function asksForOrder(question: string): boolean {
  return ASKS.some((pattern) => pattern.test(question));
}

export function rowOrder(question: string, goldSql: string, goldColumns: readonly string[]): RowOrder {
  const keys = asksForOrder(question) ? sortKeys(goldSql) : [];
  if (keys.length === 0) return { kind: 'any' };
  const names = goldColumns.map((name) => name.toLowerCase());
  const columns: number[] = [];
  for (const key of keys) {
    const column = /^\d+$/.test(key) ? Number(key) - 1 : names.indexOf(nameOf(key));
    if (column < 0 || column >= names.length) break;
    columns.push(column);
  }
  return columns.length === 0 ? { kind: 'sequence' } : { kind: 'keys', columns };
}

/** The expressions of the outermost ORDER BY, without direction; none when there is none. */
export function sortKeys(sql: string): string[] {
  const masked = maskNested(sql);
  const clauses = [...masked.matchAll(/\border\s+by\b/gi)];
  const last = clauses.at(-1);
  if (last === undefined) return [];
  const from = last.index + last[0].length;
  const end = /\b(?:limit|offset|fetch|for)\b|;/i.exec(masked.slice(from));
  const to = end === null ? masked.length : from + end.index;
  const keys: string[] = [];
  let start = from;
  for (let index = from; index <= to; index += 1) {
    if (index < to && masked[index] !== ',') continue;
    keys.push(sql.slice(start, index));
    start = index + 1;
  }
  return keys.map(withoutDirection).filter((key) => key !== '');
}

function withoutDirection(key: string): string {
  return key
    .trim()
    .replace(/\s+nulls\s+(?:first|last)$/i, '')
    .replace(/\s+(?:asc|desc)$/i, '')
    .replace(/\s+collate\s+\S+$/i, '')
    .trim();
}

/** Lower-case name of a column reference, its qualifier and quotes removed; the text itself for any other expression. */
function nameOf(key: string): string {
  const found = /^(?:[\w"`]+\.)*["`]?(\w+(?: \w+)*)["`]?$/.exec(key);
  return (found?.[1] ?? key).toLowerCase();
}

const NESTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\//g;

/** The SQL at the same length, with literals, quoted names, comments and everything in parentheses replaced by blanks. */
function maskNested(sql: string): string {
  const flat = sql.replace(NESTED, (text) => '_'.repeat(text.length));
  let depth = 0;
  return Array.from({ length: flat.length }, (_, index) => {
    const char = flat.charAt(index);
    if (char === '(') depth += 1;
    const hidden = depth > 0;
    if (char === ')') depth = Math.max(0, depth - 1);
    return hidden ? '_' : char;
  }).join('');
}
