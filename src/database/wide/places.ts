/** Where the values stand that a question names: what a prompt says of them, and which tables hold them. */
import { groupBy } from '../../group-by';
import type { Named } from './choose';
import type { TableKind } from './table-kinds';
import { placeText, type Place } from './value-index';

const PLACES_CHARS = 1_200;
const MOST_PLACES = 10;
const MOST_ALSO = 3;

/** A value that the question names, where it stands with its code, and in which other columns. */
export interface NamedValue extends Named {
  readonly places: readonly Place[];
  readonly also: readonly string[];
}

/**
 * One value of many columns is one; the place that has a code beside it says more than another. A value of very many columns
 * tells none of them, and values that few words of the question name say little beside those that it spells out.
 */
export function namedValues(found: readonly (readonly Place[])[], kinds: readonly TableKind[]): NamedValue[] {
  const top = found[0]?.[0]?.score ?? 0;
  const aside = new Set(kinds.flatMap(({ table, kind }) => (kind === 'aside' ? [table] : [])));
  const likely = found.filter(([best]) => best !== undefined && best.score >= top * 0.25);
  const lead = groupBy(likely, ([best]) => best?.value.toLowerCase() ?? '');
  return [...lead.values()].slice(0, MOST_PLACES).flatMap((same): NamedValue[] => {
    const inCore = same.filter(([best]) => best !== undefined && !aside.has(best.table));
    const written = inCore.filter(([best]) => best?.code?.column !== best?.column);
    const kept = [written, inCore, same].find(({ length }) => length > 0) ?? [];
    const main = kept.find(([best]) => best?.code !== null) ?? kept[0];
    const [first] = main ?? [];
    if (main === undefined || first === undefined || kept.length > MOST_COLUMNS) return [];
    const also = new Set(kept.flatMap(([best]) => (best === undefined ? [] : [`${best.table}.${best.column}`])));
    also.delete(`${first.table}.${first.column}`);
    const tables = [...new Set(kept.flatMap(([best]) => best?.table ?? []))];
    const places = main.filter(({ score }) => score >= first.score * LIKE_FIRST);
    return [{ places, also: [...also], tables, weight: first.score / top }];
  });
}

/** A value that columns of more tables than this have is part of none of them. */
const MOST_COLUMNS = 6;
/** Values of the same column that the question names almost as well. */
const LIKE_FIRST = 0.75;

export function placesText(values: readonly NamedValue[]): string {
  const lines: string[] = [];
  let left = PLACES_CHARS;
  for (const { places, also } of values) {
    const others = also.slice(0, MOST_ALSO);
    const more = also.length > MOST_ALSO ? ` and ${also.length - MOST_ALSO} more` : '';
    const line = `--   ${placeText(places)}${others.length === 0 ? '' : `; also in ${others.join(', ')}${more}`}`;
    if (line.length > left) continue;
    left -= line.length + 1;
    lines.push(line);
  }
  return lines.length === 0 ? '' : ["-- where the question's words stand:", ...lines].join('\n');
}
