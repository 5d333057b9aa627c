/**
 * A profile is a list of pieces: short texts about a table or one of its columns, each with a weight. When the room is
 * short the weightiest stay (`render.ts`). Values, counts and shares are written short, on one line, and never to be mistaken
 * for one another.
 */
import * as z from 'zod';
import type { SqlValue } from '../../domain';
import type { Counted } from './column-facts';

export const ProfilePiece = z.object({
  /** null: of the table as a whole, on a line of its own. */
  column: z.string().nullable(),
  /** Higher is more telling. */
  weight: z.number(),
  text: z.string(),
});
export type ProfilePiece = z.infer<typeof ProfilePiece>;

/** A piece that settles a reading weighs more than one that only describes. */
const WEIGHT = {
  control: 9,
  placeholder: 9,
  repeated: 9,
  fill: 8,
  derived: 8,
  join: 8,
  json: 8,
  smallTable: 8,
  domain: 7,
  magnitude: 7,
  formats: 6,
  firstRow: 6,
  range: 5,
  frequent: 4,
  order: 4,
  secondRow: 3,
  thirdRow: 2,
  unique: 2,
} as const;

export function pieceOf(column: string | null, tells: keyof typeof WEIGHT, text: string): ProfilePiece {
  return { column, weight: WEIGHT[tells], text };
}

const VALUE_CHARS = 32;

/** Quoted where a reader could not tell where it begins or ends, or would take it for NULL. */
export function shown(value: SqlValue, chars = VALUE_CHARS): string {
  if (value === null) return 'NULL';
  const line = String(value)
    .slice(0, chars + 1)
    .replace(/\s/g, ' ');
  const cut = line.length > chars ? `${line.slice(0, chars - 1)}…` : line;
  const bare = typeof value !== 'string' || /^[^\s,;|()'"](?:[^,;|()'"]*[^\s,;|()'"])?$/.test(cut);
  return bare && cut !== 'NULL' ? cut : `'${cut}'`;
}

export const list = (values: readonly Counted[], most = 9): string =>
  `${values
    .slice(0, most)
    .map(({ value, count }) => `${shown(value)} (${count})`)
    .join(', ')}${values.length > most ? ', …' : ''}`;

/** Never rounded to all or to none. */
export function percent(part: number, whole: number): string {
  const share = whole === 0 ? 0 : (part / whole) * 100;
  if (share > 0 && share < 1) return '<1%';
  if (share > 99 && share < 100) return '>99%';
  return `${Math.round(share)}%`;
}

/** A number with at most four significant digits. */
export const short = (value: number): string => String(Number(value.toPrecision(4)));

export function of(part: number, whole: number): string {
  return part === whole ? `all ${whole} rows` : `${part} of ${whole} rows`;
}
