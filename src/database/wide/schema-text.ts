/**
 * The schema of a wide database for a prompt: a catalogue of all tables, the same for every question, then the places where
 * values stand that the question names, then the tables that it is likely to need with their profiles.
 */
import { counted } from '../../counted';
import { groupBy } from '../../group-by';
import type { DatabaseDescription, TableDescription } from '../../domain';
import type { ChosenTables, SchemaContext } from '../context';
import type { TableProfile } from '../profile';
import { add, ranked } from '../profile/column-facts';
import { isOtherwise, otherwisePiece } from '../profile/joins';
import { pieceOf, percent, shown as shownValue, type ProfilePiece } from '../profile/pieces';
import { renderProfiles, type RenderOptions } from '../profile/render';
import type { AskedOf } from '../relevance';
import { isShownWhole } from './overview';
import { chosenTables, TIERS, type Named, type Tier } from './choose';
import type { Link } from './links';
import { endOf, isEverywhere, type Everywhere, type TableKind } from './table-kinds';
import type { ValueIndex } from './value-index';
import { catalogueText } from './catalogue';
import { namedValues, placesText } from './places';
import { terseType } from '../table-text';

/** About 5,500 tokens, most of them for tables; fewer where the catalogue is short. */
export const WIDE_CHARS = 22_000;
const TABLES_CHARS = 13_500;

export interface Overview {
  readonly profiles: readonly TableProfile[];
  readonly links: readonly Link[];
  readonly kinds: readonly TableKind[];
  readonly everywhere: readonly Everywhere[];
  /** null: values may not be shown. */
  readonly index: ValueIndex | null;
}

/** The part of the room after which a tier waits for the others; what is left goes to all of them in their order. */
const SHARES: readonly (readonly [tiers: readonly Tier[], share: number])[] = [
  [['named'], 0.4],
  [['near'], 0.75],
  [['figures'], 0.95],
  [TIERS, 1],
];
/** The room of a table for each of its columns, and that of the tables nearest to what is named. */
const COLUMN_CHARS: Readonly<Record<Tier, number>> = { named: 50, near: 28, figures: 26, rest: 20 };
const NEAREST_CHARS: Partial<Record<Tier, readonly number[]>> = {
  near: [90, 90, 90, 90, 50, 50, 50, 50],
  figures: [45, 45, 45],
};

export function wideSchema(description: DatabaseDescription, overview: Overview, asked: AskedOf): SchemaContext {
  const { tables, dialect } = description;
  const { kinds, index } = overview;
  const { beginning, unsaid, profiles, rows, links, same } = preparedOf(description, overview);
  const tableOf = new Map(tables.map((table) => [table.name, table]));
  const places = namedValues(index?.find(asked.question ?? '') ?? [], kinds);
  const found = placesText(places);
  const room = Math.min(TABLES_CHARS, WIDE_CHARS - NOTICE_CHARS - beginning.length - found.length);
  const isCode = (name: string): boolean => profiles.get(name)?.isWhole === true;
  const always = same.map(({ to }): Named => ({ tables: [to], weight: 0 }));
  const order = chosenTables({ description, asked, links, kinds, places: [...places, ...always], rows, isCode });
  const blocks = new Map<string, string>();
  let used = 0;
  for (const [tiers, share] of SHARES) {
    const wanted = order.filter(({ tier }) => tiers.includes(tier));
    for (const [rank, { name, tier }] of wanted.entries()) {
      const table = tableOf.get(name);
      if (table === undefined || blocks.has(name) || used + leastChars(table) > room * share) continue;
      const line = NEAREST_CHARS[tier]?.[rank] ?? COLUMN_CHARS[tier];
      const most = line * (table.columns.length + 1);
      const text = blockText(table, profiles.get(name), { dialect, unsaid, most });
      const chars = text.length + (isCode(name) ? name.length : 0) + 4;
      if (used + chars > room * share) continue;
      used += chars;
      blocks.set(name, text);
    }
  }
  const shown = tables.map(({ name }) => name).filter((name) => blocks.has(name));
  const chosen = {
    places: found,
    whole: shown.filter(isCode),
    blocks: shown.map((name) => blocks.get(name) ?? ''),
  };
  return { frame: beginning, shown, chosen, text: [beginning, chosenText(chosen)].join('\n\n') };
}

export function chosenText({ places, whole, blocks }: ChosenTables): string {
  const notice = `-- ${counted(blocks.length, 'table')} with their columns; ${whole.length === 0 ? 'none' : whole.join(', ')} with all rows, the others with what fits of their figures`;
  return [...(places === '' ? [] : [places]), notice, ...blocks].join('\n\n');
}

/** For a lesson, which takes all tables: what is said of the database as a whole, and each table in at most so many characters. */
export function tableBlocks(description: DatabaseDescription, overview: Overview, most: number) {
  const { beginning, unsaid, profiles, rows, links } = preparedOf(description, overview);
  const options = { dialect: description.dialect, unsaid, most };
  const blocks = description.tables.map(
    (table) => [table.name, blockText(table, profiles.get(table.name), options)] as const,
  );
  return { beginning, rows, links, blocks: new Map(blocks) };
}

/** A profile with its links, and without what is told once. */
type Shown = TableProfile & { readonly isWhole: boolean };

/** What no question changes. */
interface Prepared {
  readonly beginning: string;
  readonly unsaid: string;
  readonly profiles: ReadonlyMap<string, Shown>;
  readonly rows: ReadonlyMap<string, number>;
  readonly links: readonly Link[];
  /** Links of columns that most tables have. */
  readonly same: readonly Link[];
}

const prepared = new WeakMap<Overview, Prepared>();

function preparedOf(description: DatabaseDescription, overview: Overview): Prepared {
  const known = prepared.get(overview);
  if (known !== undefined) return known;
  const { tables, version } = description;
  const { kinds, everywhere } = overview;
  const estimates = new Map(tables.map(({ name, rowEstimate }) => [name, Math.round(rowEstimate ?? 0)]));
  // The estimate of a table that was read whole may be of last week.
  const rows = new Map(
    overview.profiles.map(({ table, read, whole }) => [
      table,
      whole ? read : Math.max(read, estimates.get(table) ?? 0),
    ]),
  );
  const isSame = isEverywhere(everywhere);
  const links = overview.links.filter((link) => !isSame(link));
  const same = overview.links.filter(isSame);
  const copied = new Set(everywhere.flatMap(({ copies }) => copies.map(({ table }) => table)));
  const isTold = (table: string, piece: ProfilePiece): boolean => {
    const { column, text, weight } = piece;
    if (column === null) return copied.has(table) && text.startsWith('! ');
    const isInRow = weight <= SAID_BY_ROW && /^(like |0\d.* to |\d+ distinct$)/.test(text);
    return isSame({ table, column }) || isOtherwise(piece) || isInRow;
  };
  const from = groupBy(links, ({ table }) => table);
  const aside = new Set(kinds.flatMap(({ table, kind }) => (kind === 'aside' ? [table] : [])));
  const to = groupBy(
    links.filter(({ table }) => !aside.has(table)),
    (link) => link.to,
  );
  const profiles = overview.profiles.map((profile): [string, Shown] => {
    const { table } = profile;
    const own = profile.pieces.filter((piece) => !isTold(table, piece));
    const pieces = [...own, ...linkPieces(own, from.get(table) ?? [], to.get(table) ?? [])];
    const weighed = pieces.map((piece) => ({ ...piece, weight: weightOf(piece) }));
    return [table, { ...profile, pieces: weighed, isWhole: isShownWhole(profile) }];
  });
  const unsaid = commonType(tables);
  const types = unsaid === '' ? '' : `; columns without a type are ${unsaid}`;
  const heading = `-- ${version}, ${counted(tables.length, 'table')}${types}; ~> meets only without padding, punctuation and leading zeros`;
  const beginning = [
    [heading, ...everywhere.map((each) => everywhereLine(each, same))].join('\n'),
    catalogueText(description, rows, kinds),
  ].join('\n\n');
  const made = { beginning, unsaid, profiles: new Map(profiles), rows, links, same };
  prepared.set(overview, made);
  return made;
}

/** The type of most columns. */
function commonType(tables: readonly TableDescription[]): string {
  const counts = new Map<string, number>();
  for (const { columns } of tables) for (const { type } of columns) add(counts, terseType(type));
  return ranked(counts)[0]?.value ?? '';
}

const MOST_COPIES = 12;

/** What is the same in most tables is told once. */
function everywhereLine({ values, columns, copies }: Everywhere, links: readonly Link[]): string {
  const names = new Map(columns);
  const [name = ''] = names.values();
  const isOne = new Set(names.values()).size === 1;
  const own = links.find(({ table, column }) => names.get(table) === column);
  const leads = own === undefined ? '' : `; -> ${own.to}.${own.key}`;
  const copied = copies.slice(0, MOST_COPIES).map(({ table, value, rows }) => `${table} (${value}: ${rows})`);
  const more = copies.length > MOST_COPIES ? ` and ${copies.length - MOST_COPIES} more tables` : '';
  const copy = copies.length === 0 ? '' : `; a copy repeats other rows of ${copied.join(', ')}${more}`;
  const list = values.length === 0 ? 'the same few values' : values.map((value) => shownValue(value)).join(', ');
  return `-- ${isOne ? name : `*_${endOf(name)}`} of ${columns.length} tables: ${list}${leads}${copy}`;
}

const NOTICE_CHARS = 160;

/** Names alone take so much. */
const leastChars = ({ name, columns }: TableDescription): number =>
  columns.reduce((sum, column) => sum + column.name.length + 3, name.length + 20);

/** A code table stands whole, whatever its rank. */
const WHOLE_CHARS = 2_400;

function blockText(
  table: TableDescription,
  profile: Shown | undefined,
  { most, ...options }: { readonly most: number } & Omit<RenderOptions, 'maxChars'>,
): string {
  const bare = renderProfiles([table], [], { ...options, maxChars: 0 });
  if (profile === undefined) return bare;
  const maxChars = profile.isWhole ? WHOLE_CHARS : most - bare.length;
  return renderProfiles([table], [profile], { ...options, maxChars });
}

/** The weight of a range, and of the form that all values of a column have. */
const SAID_BY_ROW = 5;
/** Where room is short, keys come first, then codes and a row, which tells the form of all columns at once. */
function weightOf({ column, text, weight }: ProfilePiece): number {
  if (column === null) return text.startsWith('! ') ? FILL : weight === FIRST_ROW ? DOMAIN + 0.5 : weight;
  if (/^[-~]> /.test(text)) return KEY;
  if (text.startsWith('has a value ')) return FILL;
  return weight;
}
const FIRST_ROW = 6;
const FILL = 6.5;
const DOMAIN = 7;
const KEY = 9.5;

/** What leads where; a key that meets only after padding or punctuation is gone is marked at both of its ends. */
function linkPieces(known: readonly ProfilePiece[], from: readonly Link[], to: readonly Link[]): ProfilePiece[] {
  const told = new Set(known.filter(({ text }) => text.startsWith('-> ')).map(({ column }) => column));
  const leading = from.flatMap((link) => {
    if (told.has(link.column)) return [];
    told.add(link.column);
    const meets = link.share < 1 ? ` (${percent(link.share, 1)} of its values)` : '';
    const arrow = link.exact < LOOSE ? '~>' : '->';
    return [pieceOf(link.column, 'join', `${arrow} ${link.to}.${link.key}${meets}`)];
  });
  const led = [
    ...groupBy(
      to.filter(({ exact }) => exact < LOOSE),
      ({ key }) => key,
    ),
  ].map(([key, ends]) =>
    otherwisePiece(
      key,
      ends.map(({ table, column }) => `${table}.${column}`),
    ),
  );
  return [...leading, ...led];
}

/** Below this share of values that meet as they stand, a key is said to be written in two ways. */
const LOOSE = 0.5;
