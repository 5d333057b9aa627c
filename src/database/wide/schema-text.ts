/**
 * The schema of a wide database for a prompt: a catalogue of all tables, the same for every question, then the places where
 * values stand that the question names, then the tables that it is likely to need with their profiles.
 */
import { counted } from '../../counted';
import { groupBy } from '../../group-by';
import type { DatabaseDescription, Dialect, TableDescription } from '../../domain';
import type { ChosenTables, SchemaContext } from '../context';
import type { TableProfile } from '../profile';
import { isOtherwise, otherwisePiece } from '../profile/joins';
import { pieceOf, percent } from '../profile/pieces';
import { renderProfiles } from '../profile/render';
import type { AskedOf } from '../relevance';
import { identifier, tableName } from '../table-text';
import { chosenTables } from './choose';
import type { Link } from './links';
import { placeText, type Place, type ValueIndex } from './value-index';

/** About 7,000 tokens. */
export const WIDE_CHARS = 28_000;
/** About 2,500 tokens. */
export const CATALOGUE_CHARS = 10_000;
const PLACES_CHARS = 1_600;
const MOST_PLACES = 12;
const MOST_ALSO = 4;

export interface Overview {
  readonly profiles: readonly TableProfile[];
  readonly links: readonly Link[];
  /** null: values may not be shown. */
  readonly index: ValueIndex | null;
}

/** A table takes at most this much of the room, a likely one more than one that comes late. */
const BLOCK_CHARS = [1_200, 700, 420] as const;
const LIKELY = 6;
const NEXT = 14;

export function wideSchema(
  description: DatabaseDescription,
  { profiles, links, index }: Overview,
  asked: AskedOf,
): SchemaContext {
  const { tables, dialect, version } = description;
  const profileOf = new Map(profiles.map((profile) => [profile.table, profile]));
  const tableOf = new Map(tables.map((table) => [table.name, table]));
  // The estimate of a table that was read whole may be of last week.
  const rows = new Map(
    profiles.map(({ table, read, whole }) => [
      table,
      whole ? read : Math.max(read, Math.round(tableOf.get(table)?.rowEstimate ?? 0)),
    ]),
  );
  const places = index?.find(asked.question ?? '') ?? [];
  const catalogue = catalogueText(description, rows);
  const found = placesText(places);
  const heading = `-- ${version}, ${counted(tables.length, 'table')}`;
  const room = WIDE_CHARS - heading.length - catalogue.length - found.length - NOTICE_CHARS;
  const named = new Set(places.flatMap(([best]) => (best === undefined ? [] : [best.table])));
  const linked = new Set(links.flatMap(({ table, to }) => [table, to]));
  const blocks = new Map<string, string>();
  let left = room;
  const sizes = sizesOf(profiles, () =>
    tables.map((table): [string, number] => {
      const text = blockText(table, profileOf.get(table.name), { links, dialect, most: BLOCK_CHARS[1] });
      return [table.name, text.length];
    }),
  );
  const order = chosenTables({ description, asked, links, places, rows }).map(({ name, score }) => {
    return { name, worth: score / Math.sqrt(LEAST_CHARS + (sizes.get(name) ?? 0)) };
  });
  order.sort((a, b) => b.worth - a.worth);
  for (const [rank, { name, worth }] of order.entries()) {
    const table = tableOf.get(name);
    // What nothing speaks for, or only a word of a log that nothing joins, is named in the catalogue.
    const isJoined = linked.has(name) || named.has(name);
    if (table === undefined || worth === 0 || (!isJoined && rank >= NEXT)) continue;
    const most = BLOCK_CHARS[rank < LIKELY ? 0 : rank < NEXT ? 1 : 2];
    const text = blockText(table, profileOf.get(name), { links, dialect, most });
    if (text.length > Math.min(left, WIDE_CHARS / 4)) continue;
    left -= text.length + 2;
    blocks.set(name, text);
  }
  const shown = tables.map(({ name }) => name).filter((name) => blocks.has(name));
  const frame = [heading, catalogue].join('\n\n');
  const chosen = { places: found, blocks: shown.map((name) => blocks.get(name) ?? '') };
  return { frame, shown, chosen, text: [frame, chosenText(chosen)].join('\n\n') };
}

export function chosenText({ places, blocks }: ChosenTables): string {
  const notice = `-- ${counted(blocks.length, 'table')} with their columns and what fits of their figures, chosen by the question's values, words and keys`;
  return [...(places === '' ? [] : [places]), notice, ...blocks].join('\n\n');
}

type Sizes = ReadonlyMap<string, number>;
const known = new WeakMap<readonly TableProfile[], Sizes>();

/** The length of each table's block: no question changes it. */
function sizesOf(profiles: readonly TableProfile[], measure: () => readonly (readonly [string, number])[]): Sizes {
  const sizes = known.get(profiles) ?? new Map(measure());
  known.set(profiles, sizes);
  return sizes;
}

/** A short table is worth its room sooner: code tables mostly are. */
const LEAST_CHARS = 200;
const NOTICE_CHARS = 160;

/** A small table stands whole, whatever its rank. */
const WHOLE_CHARS = 2_400;

function blockText(
  table: TableDescription,
  profile: TableProfile | undefined,
  { links, dialect, most }: { readonly links: readonly Link[]; readonly dialect: Dialect; readonly most: number },
): string {
  const own = profile === undefined ? [] : [{ ...profile, pieces: [...profile.pieces, ...linkPieces(profile, links)] }];
  const bare = renderProfiles([table], [], { dialect, maxChars: 0 }).length;
  const isWhole = profile?.pieces.some(
    ({ column, text }) => column === null && text.split('\n').length >= profile.read,
  );
  return renderProfiles([table], own, { dialect, maxChars: Math.max(isWhole ? WHOLE_CHARS : most - bare, most / 3) });
}

/** What leads where; a key that meets only after padding or punctuation is gone is marked at both of its ends. */
function linkPieces({ table, pieces }: TableProfile, links: readonly Link[]) {
  const marked = new Set(pieces.filter(isOtherwise).map(({ column }) => column));
  const told = new Set(pieces.filter(({ text }) => text.startsWith('-> ')).map(({ column }) => column));
  return links
    .flatMap((link) => {
      const meets = link.share < 1 ? ` (${percent(link.share, 1)} of its values)` : '';
      const loose = link.exact < LOOSE ? ' without padding, punctuation and leading zeros' : '';
      if (link.table === table && !told.has(link.column)) {
        told.add(link.column);
        return [pieceOf(link.column, 'join', `-> ${link.to}.${link.key}${meets}${loose}`)];
      }
      return [];
    })
    .concat(
      [
        ...groupBy(
          links.filter(({ to, key, exact }) => to === table && exact < LOOSE && !marked.has(key)),
          ({ key }) => key,
        ),
      ].map(([key, from]) =>
        otherwisePiece(
          key,
          from.map((link) => `${link.table}.${link.column}`),
        ),
      ),
    );
}

/** Below this share of values that meet as they stand, a key is said to be written in two ways. */
const LOOSE = 0.5;

function placesText(places: readonly (readonly Place[])[]): string {
  const least = (places[0]?.[0]?.score ?? 0) * 0.25;
  const lines: string[] = [];
  let left = PLACES_CHARS;
  // One value of many columns is one line; a code beside a value says more than another place of it.
  const likely = places.filter(([best]) => best !== undefined && best.score >= least);
  const lead = groupBy(likely, ([best]) => best?.value.toLowerCase() ?? '');
  for (const same of [...lead.values()].slice(0, MOST_PLACES)) {
    const each = same.find(([best]) => best?.code !== null) ?? same[0] ?? [];
    const others = same
      .filter((other) => other !== each)
      .flatMap(([best]) => (best === undefined ? [] : [`${best.table}.${best.column}`]));
    const also =
      others.length === 0
        ? ''
        : `; also in ${others.slice(0, MOST_ALSO).join(', ')}${others.length > MOST_ALSO ? ` and ${others.length - MOST_ALSO} more` : ''}`;
    const line = `--   ${placeText(each)}${also}`;
    if (line.length > left) continue;
    left -= line.length + 1;
    lines.push(line);
  }
  return lines.length === 0 ? '' : ["-- where the question's words stand:", ...lines].join('\n');
}

/**
 * Every table, at most `CATALOGUE_CHARS`: with its columns if they fit, else with its rows, else grouped by schema and the
 * beginning of the name. Tables without rows come last, by name.
 */
export function catalogueText({ tables, dialect }: DatabaseDescription, known: ReadonlyMap<string, number>): string {
  const isEmpty = ({ name, rowEstimate, kind }: TableDescription): boolean =>
    kind === 'table' && (known.get(name) ?? rowEstimate ?? 1) === 0;
  const filled = tables.filter((table) => !isEmpty(table));
  const rowsOf = ({ name, rowEstimate }: TableDescription): string => {
    const rows = known.get(name) ?? Math.round(rowEstimate ?? 0);
    return rows === 0 ? '' : ` ${rows}`;
  };
  const empty = tables.filter(isEmpty).map(({ name }) => tableName(name, dialect));
  const none = empty.length === 0 ? '' : `\n-- without rows: ${empty.join(', ')}`;
  const forms = [
    () =>
      `-- all tables: name rows: columns\n${filled
        .map((table) => `--   ${tableName(table.name, dialect)}${rowsOf(table)}: ${columnNames(table, dialect)}`)
        .join('\n')}${none}`,
    () =>
      `-- all tables with their rows: ${filled.map((table) => `${tableName(table.name, dialect)}${rowsOf(table)}`).join(', ')}${none}`,
    ...[1_000, 400, 150, 60, 25, 8].map((most) => () => `-- all tables: ${grouped(tables, dialect, most)}`),
  ];
  for (const form of forms) {
    const text = form();
    if (text.length <= CATALOGUE_CHARS) return text;
  }
  return `-- ${counted(tables.length, 'table')}: ${grouped(tables, dialect, 2)}`.slice(0, CATALOGUE_CHARS);
}

function columnNames({ columns }: TableDescription, dialect: Dialect): string {
  return columns.map(({ name }) => identifier(name, dialect)).join(', ');
}

/** `sales.ord_{line, head, …}`; of a group of more than `most` tables the first ones and how many there are. */
function grouped(tables: readonly TableDescription[], dialect: Dialect, most: number): string {
  const dot = (name: string): number => (dialect === 'sqlite' ? -1 : name.indexOf('.'));
  const start = (name: string): string => /^.*?[a-z0-9](?=[_A-Z])_?/.exec(name.slice(dot(name) + 1))?.[0] ?? '';
  const groups = groupBy(tables, ({ name }) => `${name.slice(0, dot(name) + 1)}${start(name)}`);
  return [...groups]
    .map(([prefix, own]) => {
      const rest = own.map(({ name }) => name.slice(prefix.length));
      if (rest.length === 1) return `${prefix}${rest[0] ?? ''}`;
      const shown = rest.slice(0, most).join(', ');
      return `${prefix}{${shown}${rest.length > most ? `, … ${rest.length} tables` : ''}}`;
    })
    .join('; ');
}
