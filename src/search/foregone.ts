/**
 * Claims that come out the same whatever the probe finds, and so establish nothing (rule S1): a constant, a count held
 * against what no count can be, an agreement of a number with itself. Only forms that are sure are named, so that an honest
 * claim that happens to hold for no rows too, such as `count(*) FILTER (WHERE bad) = 0`, keeps its weight.
 */
import { normaliseSql, plainSql } from './body';
import { closing, namesSomething, wholeQuery } from './expression';

/** Of a predicate: true, or false, before the probe has run. */
export function isForegone(predicate: string): boolean {
  const text = plainSql(normaliseSql(predicate));
  const query = wholeQuery(text);
  if (query === null) return !namesSomething(text) || isForegoneComparison(text);
  const [list, rest] = selectList(query);
  if (rest === null) return false;
  if (/^ from observation(?: limit \d+)?$/.test(rest) && !namesSomething(list)) return true;
  return !SHAPES_ROWS.test(rest) && isForegoneComparison(list);
}

/** Of an agreement: both counts are one and the same. */
export function isWithItself({
  matching,
  examined,
}: {
  readonly matching: string;
  readonly examined: string;
}): boolean {
  return counted(matching) === counted(examined);
}

/** A query with one of these may have no row, or several, where a plain count has one. */
const SHAPES_ROWS = /\b(?:group|having|limit|offset|fetch|union|intersect|except|over)\b/;

function counted(expression: string): string {
  const text = plainSql(normaliseSql(expression));
  return wholeQuery(text) ?? `select ${text} from observation`;
}

/** The text between SELECT and its own FROM, and what follows; null where it has none. */
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

/** Whether every count, a whole number from 0 on, gives the same. */
function isDecided(operator: string, limit: number): boolean {
  return limit < 0 || (limit === 0 && (operator === '>=' || operator === '<'));
}

/** `count(…)`, with or without FILTER, or a subquery that gives nothing else. */
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
