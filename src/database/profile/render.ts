/**
 * Tables with their profiles as text for a prompt: a line a column, the most telling pieces first to get room. What a
 * table is made of (names, types, keys) always stands; pieces are added by weight until the room is used.
 */
import type { DatabaseDescription, Dialect, TableDescription } from '../../domain';
import type { SchemaContext } from '../context';
import { fitting } from '../relevance';
import { BARE, columnText, headOf, keyLines, withEscapedBreaks, type Detail } from '../table-text';
import { isFigures } from './control-table';
import type { TableProfile } from './index';
import type { ProfilePiece } from './pieces';

export interface RenderOptions {
  readonly dialect: Dialect;
  /** The room for the pieces; names, types and keys come on top. */
  readonly maxChars: number;
  /** The type of columns that are shown without one. */
  readonly unsaid?: string | undefined;
}

const TERSE: Detail = { ...BARE, terse: true };

export function renderProfiles(
  tables: readonly TableDescription[],
  profiles: readonly TableProfile[],
  { dialect, maxChars, unsaid }: RenderOptions,
): string {
  const byTable = new Map(profiles.map((profile) => [profile.table, profile]));
  const pieces = tables.flatMap(({ name }) => byTable.get(name)?.pieces ?? []);
  const kept = fitting(
    pieces.sort((a, b) => b.weight - a.weight),
    maxChars,
    costOf,
  );
  const detail = { ...TERSE, unsaid };
  return tables.map((table) => tableText(table, byTable.get(table.name), kept, { dialect, detail })).join('\n\n');
}

/** The length of a piece with what stands before it: `; ` or ` -- ` behind a column, a line's beginning for rows. */
function costOf({ column, text }: ProfilePiece): number {
  return column === null ? text.length + 8 * text.split('\n').length : text.length + 3;
}

function tableText(
  table: TableDescription,
  profile: TableProfile | undefined,
  kept: ReadonlySet<ProfilePiece>,
  { dialect, detail }: { readonly dialect: Dialect; readonly detail: Detail },
): string {
  const pieces = (profile?.pieces ?? []).filter((piece) => kept.has(piece));
  // The estimate of a table that was read whole may be of last week.
  const exact = profile?.whole === true ? { ...table, rowEstimate: profile.read } : table;
  const counted = profile === undefined || profile.whole ? '' : ` -- figures of ${profile.read} rows read`;
  const figures = pieces.filter(isFigures).map(({ text }) => ` -- ${text}`);
  const rows = pieces
    .filter((piece) => piece.column === null && !isFigures(piece))
    .flatMap(({ text }) => text.split('\n'));
  return [
    `${headOf(exact, detail, dialect)}${counted}${figures.map(withEscapedBreaks).join('')}`,
    ...table.columns.map((column) => {
      const said = pieces.filter((piece) => piece.column === column.name).map(({ text }) => withEscapedBreaks(text));
      const head = columnText(column, table, detail, dialect);
      return said.length === 0 ? head : `${head}${column.comment === null ? ' --' : ';'} ${said.join('; ')}`;
    }),
    ...keyLines(table, dialect, detail),
    ...rows.map((row) => `  row: ${withEscapedBreaks(row)}`),
    ')',
  ].join('\n');
}

/** About 3,000 tokens for names and profiles of an ordinary schema. */
const TERSE_CHARS = 8_200;
/** The least room for the profiles, where names and types take more than that. */
const LEAST_CHARS = 4_000;
const SHARE = 0.6;

/** The schema of a prompt with what rows tell of each table: names, types and keys, and the profile as room allows. */
export function profiledText(
  { tables, dialect }: DatabaseDescription,
  { frame, shown }: Pick<SchemaContext, 'frame' | 'shown'>,
  profiles: readonly TableProfile[],
): string {
  const wanted = new Set(shown ?? tables.map(({ name }) => name));
  const kept = tables.filter(({ name }) => wanted.has(name));
  const bare = renderProfiles(kept, [], { dialect, maxChars: 0 }).length;
  const maxChars = Math.max(TERSE_CHARS - bare, LEAST_CHARS, bare * SHARE);
  return [frame, renderProfiles(kept, profiles, { dialect, maxChars })].join('\n\n');
}
