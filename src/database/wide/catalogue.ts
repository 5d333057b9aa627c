/** The names of all tables of a wide database, the same for every question. */
import { counted } from '../../counted';
import { groupBy } from '../../group-by';
import type { DatabaseDescription, Dialect, TableDescription } from '../../domain';
import { identifier, tableName } from '../table-text';
import { nameParts } from '../../sql/dialects';
import type { TableKind } from './table-kinds';

/** About 2,500 tokens. */
export const CATALOGUE_CHARS = 10_000;

/**
 * Every table, at most `CATALOGUE_CHARS`: with its columns if they fit, else with its rows, else grouped by schema and the
 * beginning of the name. Tables that nothing leads to, and those without rows, are names only.
 */
export function catalogueText(
  { tables, dialect }: DatabaseDescription,
  known: ReadonlyMap<string, number>,
  kinds: readonly TableKind[],
): string {
  const isEmpty = ({ name, rowEstimate, kind }: TableDescription): boolean =>
    kind === 'table' && (known.get(name) ?? rowEstimate ?? 1) === 0;
  const filled = tables.filter((table) => !isEmpty(table));
  const aside = new Set(kinds.flatMap(({ table, kind }) => (kind === 'aside' ? [table] : [])));
  const nameOf = ({ name, rowEstimate }: TableDescription): string => {
    const rows = known.get(name) ?? Math.round(rowEstimate ?? 0);
    return `${tableName(name, dialect)}${rows === 0 ? '' : ` ${rows}`}`;
  };
  const listed = (title: string, own: readonly string[]): string =>
    own.length === 0 ? '' : `\n-- ${title}: ${own.join(', ')}`;
  const none = listed(
    'without rows',
    tables.filter(isEmpty).map(({ name }) => tableName(name, dialect)),
  );
  const apart = filled.filter(({ name }) => aside.has(name));
  const forms = [
    () =>
      `-- all tables: name rows: columns\n${filled
        .filter(({ name }) => !aside.has(name))
        .map((table) => `--   ${nameOf(table)}: ${columnNames(table, dialect)}`)
        .join('\n')}${listed('nothing leads to these', apart.map(nameOf))}${none}`,
    () => `-- all tables with their rows: ${filled.map(nameOf).join(', ')}${none}`,
    ...[1_000, 400, 150, 60, 25, 8].map((most) => () => `-- all tables: ${grouped(tables, dialect, most)}`),
  ];
  for (const form of forms) {
    const text = form();
    if (text.length <= CATALOGUE_CHARS) return text;
  }
  return `-- ${counted(tables.length, 'table')}: ${grouped(tables, dialect, 2)}`.slice(0, CATALOGUE_CHARS);
}

/** `vk_{nr, kd}` where all columns begin alike. */
function columnNames({ columns }: TableDescription, dialect: Dialect): string {
  const names = columns.map(({ name }) => identifier(name, dialect));
  const start = /^[^_"]+_/.exec(names[0] ?? '')?.[0] ?? '';
  const isShared = start !== '' && names.length > 2 && names.every((name) => name.startsWith(start));
  return isShared ? `${start}{${names.map((name) => name.slice(start.length)).join(', ')}}` : names.join(', ');
}

/** `sales.ord_{line, head, …}`; of a group of more than `most` tables the first ones and how many there are. */
function grouped(tables: readonly TableDescription[], dialect: Dialect, most: number): string {
  const table = (name: string): string => nameParts(name, dialect).at(-1) ?? name;
  const start = (name: string): string => /^.*?[a-z0-9](?=[_A-Z])_?/.exec(table(name))?.[0] ?? '';
  const groups = groupBy(tables, ({ name }) => `${name.slice(0, name.length - table(name).length)}${start(name)}`);
  return [...groups]
    .map(([prefix, own]) => {
      const rest = own.map(({ name }) => name.slice(prefix.length));
      if (rest.length === 1) return `${prefix}${rest[0] ?? ''}`;
      const shown = rest.slice(0, most).join(', ');
      return `${prefix}{${shown}${rest.length > most ? `, … ${rest.length} tables` : ''}}`;
    })
    .join('; ');
}
