/**
 * Which entries of a layer a question needs (docs/layer.md). An entry scores by the words that it shares with the question and by
 * the likeliest table that it reads.
 *
 * 1. A word of its statement weighs more than one of the question that it comes from, and that more than one of a rival reading.
 * 2. A word or table of few entries weighs more than one of most. Words of how one asks, and numbers, weigh little.
 * 3. Words need not be equal (`database/relevance.ts`): `weighed` matches `weighings`.
 * 4. Entries that score far less than the best, or little by any measure, are left out, unless they are the best that say a word
 *    of the question which none of the others says. Of those that count the same, one is shown.
 *
 * Pure. The words of a layer are indexed once, so ten thousand entries take some milliseconds.
 */
import type { LayerEntry } from '../domain';
import { compareText } from '../domain/canonical';
import { likeness, wordsOf } from '../database/relevance';
import type { HeldEntry } from './state';

/** Characters of all entries that a prompt shows. */
export const ENTRY_CHARS = 3_000;
/** The most entries that a prompt shows. */
export const MOST_ENTRIES = 12;
/** Some are too long, or say what another one says. */
const CONSIDERED = 4 * MOST_ENTRIES;
/** Of the best one's score: what is further off only costs room. */
const NEAR = 0.2;
/** Of the weight of a word that one entry alone has: what scores less is there by chance. */
const WEAK = 0.4;
/** Of the likeliest table, beside a word that as many entries have. */
const TABLE = 0.5;
/** A word that more of the entries say tells little about any of them. */
const FEW = 0.5;
const FROM_QUESTION = 0.8;
const RIVAL = 0.5;
/** How much more a word weighs that an entry repeats. */
const REPEATED = 0.3;
/** Of a word that is only like the one asked for. */
const ALIKE = 0.7;
const ASKING_WEIGHT = 0.2;
const NUMBER_WEIGHT = 0.1;

/** How one asks, whatever it is about. */
const ASKING = new Set(
  wordsOf(
    `total overall sum average mean median number count amount highest lowest longest shortest largest smallest most least
     maximum minimum top first last second third fourth different distinct decimal round percent percentage share rate give
     show list return please year quarter month week day date time during before after between since until above below over
     under any all only one two three four five six seven eight nine ten half january february march april may june july
     august september october november december monday tuesday wednesday thursday friday saturday sunday yyyy mm dd began
     begin start end long whole not no`,
  ),
);

export interface Asked {
  readonly question: string;
  /** Tables with their scores for the question, best first (`rankedTables`). */
  readonly tables: readonly { readonly name: string; readonly score: number }[];
}

interface Chosen {
  /** How long an entry is in the prompt. */
  readonly chars: (entry: HeldEntry) => number;
  /** Others are as if they did not exist; default: all. */
  readonly isUsable?: (entry: HeldEntry) => boolean;
}

/** Best first, within the budget. `entries`: the same array gives the same index, so pass all of a layer. */
export function relevantEntries(
  entries: readonly HeldEntry[],
  { question, tables }: Asked,
  { chars, isUsable = () => true }: Chosen,
): readonly HeldEntry[] {
  const index = indexOf(entries);
  const usable = new Set([...entries.keys()].filter((at) => isUsable(entries[at] as HeldEntry)));
  const rarity = (count: number): number => Math.log(1 + usable.size / Math.max(count, 1));
  const scores = new Map<number, number>();
  /** Of each word that says what the question is about, how much each entry says it. */
  const words: ReadonlyMap<number, number>[] = [];
  for (const asked of new Set(wordsOf(question))) {
    const said = saidOf(index, asked, usable);
    const weight = askedWeight(asked) * rarity(said.size);
    if (said.size > 0 && askedWeight(asked) === 1 && said.size <= usable.size * FEW) words.push(said);
    for (const [at, strength] of said) scores.set(at, (scores.get(at) ?? 0) + weight * strength);
  }
  const highest = Math.max(...tables.map(({ score }) => score), Number.MIN_VALUE);
  const byTable = new Map<number, number>();
  for (const { name, score } of tables) {
    const reading = (index.readers.get(name.toLowerCase()) ?? []).filter((at) => usable.has(at));
    const worth = TABLE * (score / highest) * rarity(reading.length);
    for (const at of reading) byTable.set(at, Math.max(byTable.get(at) ?? 0, worth));
  }
  for (const [at, worth] of byTable) scores.set(at, (scores.get(at) ?? 0) + worth);
  const idOf = (at: number): string => entries[at]?.entry.entryId ?? '';
  const ranked = [...scores]
    .filter(([, score]) => score > 0)
    .sort(([a, one], [b, other]) => other - one || compareText(idOf(a), idOf(b)));
  const least = Math.max(NEAR * (ranked[0]?.[1] ?? 0), WEAK * rarity(1));
  const near = ranked.filter(([, score]) => score > least).slice(0, CONSIDERED);
  // In its statement or the question that it comes from, and the word itself or nearly so.
  const says = (said: ReadonlyMap<number, number>, at: number) => (said.get(at) ?? 0) >= FROM_QUESTION * ALIKE;
  const unsaid = words.filter((said) => !near.some(([at]) => says(said, at)));
  const only = unsaid.flatMap((said) => ranked.filter(([at]) => says(said, at)).slice(0, 1));
  const taken: HeldEntry[] = [];
  const counted = new Set<string>();
  let left = ENTRY_CHARS;
  for (const at of new Set([...near, ...only].map(([place]) => place))) {
    const entry = entries[at];
    if (entry === undefined || taken.length === MOST_ENTRIES) break;
    const what = whatItCounts(entry.entry);
    const length = chars(entry);
    if (length > left || counted.has(what)) continue;
    left -= length;
    counted.add(what);
    taken.push(entry);
  }
  return taken;
}

/** Two entries that read the same columns, name the same values and examine as many rows say nearly the same. */
function whatItCounts({ tables, columns, examined, check }: LayerEntry): string {
  const literals = [...new Set(check.match(/'[^']*'/g) ?? [])].sort();
  return JSON.stringify([[...tables].sort(), [...columns].sort(), examined, literals]);
}

function askedWeight(word: string): number {
  if (/^\d+$/.test(word)) return NUMBER_WEIGHT;
  return ASKING.has(word) ? ASKING_WEIGHT : 1;
}

interface Index {
  /** By word, the places of the entries that say it, and how much. */
  readonly words: ReadonlyMap<string, readonly (readonly [at: number, strength: number])[]>;
  /** By the name of a table in small letters, the places of the entries that read it. */
  readonly readers: ReadonlyMap<string, readonly number[]>;
}

/** By place, how much each usable entry says a word of the question, or one like it: they begin with the same letter. */
function saidOf({ words }: Index, asked: string, usable: ReadonlySet<number>): ReadonlyMap<number, number> {
  const said = new Map<number, number>();
  for (const [word, saidBy] of words) {
    if (word[0] !== asked[0] || (/\d/.test(asked) && word !== asked)) continue;
    const alike = word === asked ? 1 : ALIKE * likeness(asked, word);
    if (alike === 0) continue;
    for (const [at, strength] of saidBy)
      if (usable.has(at)) said.set(at, Math.max(said.get(at) ?? 0, alike * strength));
  }
  return said;
}

const INDEXES = new WeakMap<readonly HeldEntry[], Index>();

function indexOf(held: readonly HeldEntry[]): Index {
  const known = INDEXES.get(held);
  if (known !== undefined) return known;
  const words = new Map<string, (readonly [number, number])[]>();
  const readers = new Map<string, number[]>();
  for (const [at, entry] of held.entries()) {
    for (const [word, strength] of saidBy(entry)) added(words, word, [at, strength]);
    for (const table of new Set(entry.entry.tables.map((name) => name.toLowerCase()))) added(readers, table, at);
  }
  const index = { words, readers };
  INDEXES.set(held, index);
  return index;
}

function added<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Each word of an entry, and how much it says it. Not of its operator, which this reader may not see. */
function saidBy({ entry, statement }: HeldEntry): ReadonlyMap<string, number> {
  const { rows, scope, tables, columns, rivals, from } = entry;
  const parts: readonly [share: number, text: string][] = [
    [1, [statement, rows, scope ?? '', ...tables, ...columns].join(' ')],
    [FROM_QUESTION, from.question ?? ''],
    [RIVAL, rivals.map(({ reading }) => reading).join(' ')],
  ];
  const said = new Map<string, number>();
  for (const [share, text] of parts) {
    const counts = new Map<string, number>();
    for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts)
      said.set(word, Math.max(said.get(word) ?? 0, share * (1 + REPEATED * Math.log(count))));
  }
  return said;
}
