/**
 * Tables with their profiles as text for a prompt: a line a column, the most telling pieces first to get room. What a
 * table is made of (names, types, keys) always stands; pieces are added by weight until the room is used.
 */
import type { Dialect, TableDescription } from '../../domain';
import { BARE, columnText, headOf, keyLines, withEscapedBreaks, type Detail } from '../table-text';
import type { TableProfile } from './index';
import type { ProfilePiece } from './piece';

export interface RenderOptions {
  readonly dialect: Dialect;
  /** For the pieces; names, types and keys come on top. */
  readonly maxChars: number;
}

const TERSE: Detail = { ...BARE, terse: true };

export function renderProfiles(
  tables: readonly TableDescription[],
  profiles: readonly TableProfile[],
  { dialect, maxChars }: RenderOptions,
): string {
  const byTable = new Map(profiles.map((profile) => [profile.table, profile]));
  const kept = weightiest(
    tables.flatMap(({ name }) => byTable.get(name)?.pieces ?? []),
    maxChars,
  );
  return tables.map((table) => tableText(table, byTable.get(table.name), kept, dialect)).join('\n\n');
}

/** By weight; a piece that does not fit leaves its room to lighter ones. */
function weightiest(pieces: readonly ProfilePiece[], maxChars: number): ReadonlySet<ProfilePiece> {
  const ranked = pieces
    .map((piece, order) => ({ piece, order }))
    .sort((a, b) => b.piece.weight - a.piece.weight || a.order - b.order);
  const kept = new Set<ProfilePiece>();
  let left = maxChars;
  for (const { piece } of ranked) {
    const cost = costOf(piece);
    if (cost > left) continue;
    left -= cost;
    kept.add(piece);
  }
  return kept;
}

/** With what stands before it: `; ` or ` -- ` behind a column, a line's beginning for rows. */
function costOf({ column, text }: ProfilePiece): number {
  return column === null ? text.length + 8 * text.split('\n').length : text.length + 3;
}

function tableText(
  table: TableDescription,
  profile: TableProfile | undefined,
  kept: ReadonlySet<ProfilePiece>,
  dialect: Dialect,
): string {
  const pieces = (profile?.pieces ?? []).filter((piece) => kept.has(piece));
  // The estimate of a table that was read whole may be of last week.
  const exact = profile?.whole === true ? { ...table, rowEstimate: profile.read } : table;
  const counted = profile === undefined || profile.whole ? '' : ` -- figures of ${profile.read} rows read`;
  const rows = pieces.filter(({ column }) => column === null).flatMap(({ text }) => text.split('\n'));
  return [
    `${headOf(exact, TERSE, dialect)}${counted}`,
    ...table.columns.map((column) => {
      const said = pieces.filter((piece) => piece.column === column.name).map(({ text }) => withEscapedBreaks(text));
      const head = columnText(column, table, TERSE, dialect);
      return said.length === 0 ? head : `${head}${column.comment === null ? ' --' : ';'} ${said.join('; ')}`;
    }),
    ...keyLines(table, dialect, TERSE),
    ...rows.map((row) => `  row: ${withEscapedBreaks(row)}`),
    ')',
  ].join('\n');
}
