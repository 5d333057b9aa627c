/**
 * Combines two rankings of the tables of a large schema: by the question's words, and by nearness in meaning to the
 * question. Pure: the same vectors give the same order.
 *
 * Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009), because word scores and cosines have no common scale:
 *
 *     score(table) = 1 / (60 + rank by words) + 1 / (60 + rank by meaning)
 *
 * with ranks from 1. A table that shares no word with the question has no rank by words, and that term is 0. If it is the
 * nearest in meaning, it still comes before tables beyond about rank 60 in both orders. Equal scores keep the order by words.
 */
import type { TableDescription } from '../domain';
import { oneLine } from '../text/clip';
import type { RankedTable } from './table-relevance';

const K = 60;

/** For each table name, the cosine of its vector and the question's. */
export type Nearness = ReadonlyMap<string, number>;

export interface FusedTable extends RankedTable {
  /** From 1; null: no word of the question matches it. */
  readonly byWords: number | null;
  /** From 1; null: it has no vector. */
  readonly byMeaning: number | null;
}

/** `lexical`: best first, as `rankedTables` gives it. */
export function fuseRanks(lexical: readonly RankedTable[], nearness: Nearness): readonly FusedTable[] {
  const near = [...lexical]
    .filter(({ table }) => nearness.has(table.name))
    .sort((a, b) => (nearness.get(b.table.name) ?? 0) - (nearness.get(a.table.name) ?? 0) || a.order - b.order);
  const meaning = new Map(near.map(({ table }, at) => [table.name, at + 1]));
  return lexical
    .map((ranked, at) => {
      const byWords = ranked.score > 0 ? at + 1 : null;
      const byMeaning = meaning.get(ranked.table.name) ?? null;
      return { ...ranked, byWords, byMeaning, score: reciprocal(byWords) + reciprocal(byMeaning), at };
    })
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .map(({ at: _at, ...fused }) => fused);
}

/** The cosine of two vectors of length 1. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

/** The vector in 32 bits, scaled to length 1. A zero vector stays zero. */
export function unitVector(vector: readonly number[]): Float32Array {
  const norm = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => (norm === 0 ? 0 : value / norm));
}

/** The most characters of one table's text: embedding models represent a few hundred tokens well. */
const TEXT_CHARS = 1_500;

/**
 * The text that is turned into a table's vector: name, comment, columns and their comments, as words. Without types, keys
 * and rows, so that a new key or new data needs no new vector.
 */
export function textOfTable({ name, comment, columns }: TableDescription): string {
  const said = comment === null ? '' : `: ${oneLine(comment)}`;
  const names = columns.map((column) => plain(column.name)).join(', ');
  const notes = columns.flatMap((column) =>
    column.comment === null ? [] : [`${plain(column.name)}: ${oneLine(column.comment)}`],
  );
  return [`${plain(name)}${said}`, `columns: ${names}`, ...notes].join('\n').slice(0, TEXT_CHARS);
}

/** `patientAdmission_ids` as `patient admission ids`: models know words better than identifiers. */
function plain(identifier: string): string {
  return identifier
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_.\s"]+/g, ' ')
    .trim();
}

function reciprocal(rank: number | null): number {
  return rank === null ? 0 : 1 / (K + rank);
}
