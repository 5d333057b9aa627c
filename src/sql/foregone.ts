/**
 * Finds claims whose result does not depend on the probe and that therefore prove nothing (rule S1): a constant, a count
 * compared with a value that no count can have, an agreement of a number with itself. Only certain forms are recognised. So
 * an honest claim that also holds for no rows, such as `count(*) FILTER (WHERE bad) = 0`, still counts.
 */
import { normaliseSql, plainSql } from './body';
import { closing, namesSomething, wholeQuery } from './expression';

/** Whether a predicate is certainly true, or certainly false, before the probe has run. */
export function isForegone(predicate: string): boolean {
  const text = plainSql(normaliseSql(predicate));
  const query = wholeQuery(text);
  if (query === null) return !namesSomething(text) || isForegoneComparison(text);
  const [list, rest] = selectList(query);
  if (rest === null) return false;
  if (/^ from observation(?: limit \d+)?$/.test(rest) && !namesSomething(list)) return true;
  return !SHAPES_ROWS.test(rest) && isForegoneComparison(list);
}

/** Whether both counts of an agreement are the same expression. */
export function isWithItself({
  matching,
  examined,
}: {
  readonly matching: string;
  readonly examined: string;
}): boolean {
  return counted(matching) === counted(examined);
}

/** A count in a query with one of these words may give no row or several, instead of one. */
const SHAPES_ROWS = /\b(?:group|having|limit|offset|fetch|union|intersect|except|over)\b/;

function counted(expression: string): string {
  const text = plainSql(normaliseSql(expression));
  return wholeQuery(text) ?? `select ${text} from observation`;
}

/** The text between SELECT and its FROM, and the rest; null without FROM. */
function selectList(query: string): readonly [list: string, rest: string | null] {
  const text = query.replace(/^select /, '');
  const from = / from /g;
  for (let found = from.exec(text); found !== null; found = from.exec(text)) {
    const list = text.slice(0, found.index);
    if (isBalanced(list)) return [list, text.slice(found.index)];
  }
  return [text, null];
}

function isBalanced(text: string): boolean {
  return closing(`(${text})`) === text.length + 1;
}

function isForegoneComparison(text: string): boolean {
  const nullness = /^(.+?) is (?:not )?null$/.exec(text);
  if (nullness?.[1] !== undefined) return isCount(nullness[1]);
  const right = /^(.+?) ?(>=|<=|<>|!=|>|<|=) ?(-?\d+)$/.exec(text);
  if (right?.[1] !== undefined && isCount(right[1])) return isDecided(right[2] ?? '', Number(right[3]));
  const left = /^(-?\d+) ?(>=|<=|<>|!=|>|<|=) ?(.+)$/.exec(text);
  if (left?.[3] === undefined || !isCount(left[3])) return false;
  return isDecided(
    (left[2] ?? '').replace(/[<>](?=$|=)/, (sign) => (sign === '<' ? '>' : '<')),
    Number(left[1]),
  );
}

/** Whether the comparison has the same result for every count, that is every whole number from 0. */
function isDecided(operator: string, limit: number): boolean {
  return limit < 0 || (limit === 0 && (operator === '>=' || operator === '<'));
}

/** `count(…)`, with or without FILTER, or a subquery that returns only that. */
function isCount(text: string): boolean {
  const query = wholeQuery(text);
  if (query !== null) {
    const [list, rest] = selectList(query);
    return rest !== null && !SHAPES_ROWS.test(rest) && isCount(list.replace(/ as \w+$/, ''));
  }
  if (text.startsWith('(') && closing(text) === text.length - 1) return isCount(text.slice(1, -1));
  const call = /^count ?\(/.exec(text)?.[0];
  if (call === undefined) return false;
  const filter = text.slice(call.length + closing(text.slice(call.length - 1)));
  if (filter === '') return true;
  const bracket = /^ ?filter ?\(/.exec(filter)?.[0];
  return bracket !== undefined && closing(filter.slice(bracket.length - 1)) === filter.length - bracket.length;
}
