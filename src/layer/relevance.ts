/**
 * Which entries of a layer a question needs (docs/layer.md): those that share its words, or speak of the tables that it is
 * most likely about. Pure; ten thousand entries take some milliseconds, because the words of an entry are taken once.
 */
import type { LayerEntry } from '../domain';
import { wordsOf } from '../schema/lexical';
import type { HeldEntry } from './state';

/** Characters of all entries that a prompt shows. */
export const ENTRY_CHARS = 3_000;
/** The most entries that a prompt shows. */
export const MOST_ENTRIES = 12;
/** Of the best one's score: what is further off only costs room. */
const NEAR = 0.25;

export interface Asked {
  readonly question: string;
  /** Tables with their scores for the question, best first (`rankedTables`). */
  readonly tables: readonly { readonly name: string; readonly score: number }[];
}

/** Best first, within the budget; `chars`: how long an entry is in the prompt. */
export function relevantEntries(
  entries: readonly HeldEntry[],
  { question, tables }: Asked,
  chars: (entry: HeldEntry) => number,
): readonly HeldEntry[] {
  const asked = [...new Set(wordsOf(question))];
  const wordsOfAll = entries.map(wordsOfEntry);
  const spread = asked.map((word) => wordsOfAll.reduce((count, words) => count + (words.has(word) ? 1 : 0), 0));
  const weights = spread.map((count) => Math.log(1 + entries.length / Math.max(count, 1)));
  const highest = Math.max(...tables.map(({ score }) => score), Number.MIN_VALUE);
  const byTable = new Map(tables.map(({ name, score }) => [name.toLowerCase(), score / highest]));
  const scored = entries.map((entry, which) => {
    const words = wordsOfAll[which];
    const said = asked.reduce((sum, word, at) => sum + (words?.has(word) === true ? (weights[at] ?? 0) : 0), 0);
    const read = entry.entry.tables.reduce((best, name) => Math.max(best, byTable.get(name.toLowerCase()) ?? 0), 0);
    return { entry, score: said + TABLE * read };
  });
  scored.sort((a, b) => b.score - a.score || (a.entry.entry.entryId < b.entry.entry.entryId ? -1 : 1));
  const taken: HeldEntry[] = [];
  let left = ENTRY_CHARS;
  for (const { entry, score } of scored) {
    if (score <= NEAR * (scored[0]?.score ?? 0) || taken.length === MOST_ENTRIES) break;
    const length = chars(entry);
    if (length > left) continue;
    left -= length;
    taken.push(entry);
  }
  return taken;
}

/** What the best table is worth beside a rare word. */
const TABLE = 2;

const WORDS = new WeakMap<LayerEntry, ReadonlySet<string>>();

function wordsOfEntry({ entry, statement }: HeldEntry): ReadonlySet<string> {
  const known = WORDS.get(entry);
  if (known !== undefined && statement === entry.statement) return known;
  const { rows, scope, tables, columns, operator, from } = entry;
  const words = new Set(
    wordsOf(
      [statement, rows, scope ?? '', operator?.intent ?? '', from.question ?? '', ...tables, ...columns].join(' '),
    ),
  );
  if (statement === entry.statement) WORDS.set(entry, words);
  return words;
}
