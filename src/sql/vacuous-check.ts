/**
 * Finds checks of claims that could not fail (S1 for claims): a count that is a constant, one that is the same expression as
 * what was examined, or one whose condition the check's own WHERE already demands. Only plain forms are recognised, so a
 * check that nothing is said about here may still be weak; that a rival has to lose is the stronger guard.
 */
import { normaliseSql, plainSql } from './body';
import { closing, namesSomething, wholeQuery } from './expression';

/** What is wrong with the check, for its author; null if nothing is seen. `side`: counts beside examined and matching. */
export function vacuousCheck(check: string, side: number): string | null {
  const select = mainSelect(plainSql(normaliseSql(check)));
  if (select === null) return null;
  const items = splitList(select.list).map(countOf);
  const [examined, matching, ...others] = items;
  if (examined === undefined || matching === undefined || others.length !== side) return null;
  if (matching === examined) return 'matching is the same expression as examined: it cannot fail';
  const constant = items.findIndex((item) => !namesSomething(item));
  if (constant >= 0)
    return `its column ${constant + 1} is the constant ${items[constant] ?? ''}: count what the rows show`;
  const own = conditionOf(matching);
  if (own === null) return null;
  // One alternative that always holds is enough.
  const alternatives = parts(own, 'or');
  const sure = alternatives.find((each) => !namesSomething(each));
  if (sure !== undefined) return `it counts ${sure}, which says nothing about the rows: it cannot fail`;
  const filters = conjuncts(select.where);
  const filtered = [own, ...alternatives].find((each) => filters.includes(each));
  if (filtered !== undefined)
    return `it counts ${filtered} among rows that were filtered by just that: leave it out of WHERE`;
  return null;
}

/** The count without its alias, in one form: `count(1)` is `count(*)`, and a sum of a constant is that constant. */
function countOf(item: string): string {
  const bare = item.replace(/ as "?\w+"?$/, '').replace(/\) "?\w+"?$/, ')');
  const constant = /^(?:sum|min|max|avg)\((\d+)\)$/.exec(bare)?.[1];
  return constant ?? bare.replace(/^count\(\d+\)/, 'count(*)');
}

export interface Select {
  readonly list: string;
  readonly where: string;
}

/** The outermost SELECT, after its CTEs; null for a union and the like. */
export function mainSelect(text: string): Select | null {
  const query = wholeQuery(text) ?? text;
  const at = topLevel(query, /^select /);
  if (at.length !== 1) return null;
  const [start = 0] = at;
  const rest = query.slice(start + 'select '.length);
  const [from] = topLevel(rest, /^ from(?= |\()/);
  if (from === undefined) return { list: rest, where: '' };
  const [where] = topLevel(rest, /^ where(?= |\()/);
  const [end = rest.length] = topLevel(rest, /^ (?:group by|having|order by|limit|window) /);
  return {
    list: rest.slice(0, from),
    where: where === undefined ? '' : rest.slice(where + ' where'.length, end).trim(),
  };
}

/** Where the pattern matches outside all brackets and quotes. */
function topLevel(text: string, pattern: RegExp): number[] {
  const found: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '(') {
      const end = closing(text.slice(at));
      if (end < 0) return found;
      at += end;
    } else if (sign === "'" || sign === '"') {
      const end = text.indexOf(sign, at + 1);
      if (end < 0) return found;
      at = end;
    } else if (pattern.test(text.slice(at, at + 40))) found.push(at);
  }
  return found;
}

export function splitList(list: string): string[] {
  return split(list, /^,/, 1);
}

export function conjuncts(where: string): string[] {
  return parts(where, 'and');
}

/** The conditions that a keyword joins, outside all brackets. */
export function parts(condition: string, keyword: 'and' | 'or'): string[] {
  const whole = unwrapped(condition);
  const at = keyword === 'and' ? /^ and(?= |\()/ : /^ or(?= |\()/;
  return whole === '' ? [] : split(whole, at, keyword.length + 1).map(unwrapped);
}

function split(text: string, separator: RegExp, width: number): string[] {
  const cuts = topLevel(text, separator);
  return [...cuts, text.length].map((end, at) => text.slice(at === 0 ? 0 : (cuts[at - 1] ?? 0) + width, end).trim());
}

/** The condition whose rows are counted: `count(a)`, `count(*) filter(where c)`, `sum(c)`, `sum(case when c then 1 …)`. */
export function conditionOf(count: string): string | null {
  const counted = /^count\(([\w.]+)\)$/.exec(count)?.[1];
  if (counted !== undefined) return `${counted} is not null`;
  const inner = [
    /^count\(\*\) ?filter ?\(where (.*)\)$/,
    /^(?:sum|count)\(case when (.*?) then 1(?: else (?:0|null))? end\)$/,
    /^sum\(\((.*)\)::int(?:eger)?\)$/,
    /^count_if\((.*)\)$/,
    /^sum\((.*)\)$/,
  ]
    .map((form) => form.exec(count)?.[1])
    .find((condition) => condition !== undefined);
  return inner === undefined ? null : unwrapped(inner);
}

function unwrapped(text: string): string {
  const trimmed = text.trim();
  return trimmed.startsWith('(') && closing(trimmed) === trimmed.length - 1 ? unwrapped(trimmed.slice(1, -1)) : trimmed;
}
