/**
 * A profile is a list of pieces: short texts about a table or one of its columns, each with a weight. When the room is
 * short the weightiest stay (`render.ts`).
 */
import { z } from 'zod';

export const ProfilePiece = z.object({
  /** null: of the table as a whole, on a line of its own. */
  column: z.string().nullable(),
  /** Higher is more telling. */
  weight: z.number(),
  text: z.string(),
});
export type ProfilePiece = z.infer<typeof ProfilePiece>;

/** What settles a reading weighs more than what only describes. */
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
