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
export const ENTRY_CHARS = 2_000;
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
  const usable = Uint8Array.from(entries, (entry) => (isUsable(entry) ? 1 : 0));
  const all = usable.reduce((sum, one) => sum + one, 0);
  const { scores, words } = scoresOf(index, { usable, all }, { question, tables });
  const best = scores.reduce((most, score) => Math.max(most, score), 0);
  const least = Math.max(NEAR * best, WEAK * rarity(1, all));
  const ranked = [...scores.keys()]
    .filter((at) => (scores[at] ?? 0) > 0)
    .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || compareText(idAt(entries, a), idAt(entries, b)));
  const isNear = (at: number): boolean => (scores[at] ?? 0) > least;
  const near = ranked.filter(isNear).slice(0, CONSIDERED);
  const unsaid = words.filter((said) => !near.some((at) => saysIt(said, at)));
  const only = unsaid.flatMap((said) => ranked.find((at) => saysIt(said, at)) ?? []);
  const taken: HeldEntry[] = [];
  const counted = new Set<string>();
  let left = ENTRY_CHARS;
  for (const at of new Set([...near, ...only])) {
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

interface Usable {
  /** 1 at the places of entries that count. */
  readonly usable: Uint8Array;
  readonly all: number;
}

function idAt(entries: readonly HeldEntry[], at: number): string {
  return entries[at]?.entry.entryId ?? '';
}

/** In its statement or the question that it comes from, and the word itself or nearly so. */
function saysIt(said: Float64Array, at: number): boolean {
  return (said[at] ?? 0) >= FROM_QUESTION * ALIKE;
}

interface Scores {
  /** By the place of the entry; 0 for those that do not count. */
  readonly scores: Float64Array;
  /** Of each word that says what the question is about, how much each entry says it. */
  readonly words: readonly Float64Array[];
}

function scoresOf(index: Index, { usable, all }: Usable, { question, tables }: Asked): Scores {
  const scores = new Float64Array(usable.length);
  const words: Float64Array[] = [];
  for (const asked of new Set(wordsOf(question))) {
    const said = new Float64Array(usable.length);
    let spread = 0;
    for (const { alike, saidBy } of postingsOf(index, asked))
      for (const { at, strength } of saidBy) {
        if (usable[at] !== 1) continue;
        if (said[at] === 0) spread += 1;
        said[at] = Math.max(said[at] ?? 0, alike * strength);
      }
    const weight = askedWeight(asked) * rarity(spread, all);
    if (spread > 0 && askedWeight(asked) === 1 && spread <= all * FEW) words.push(said);
    if (spread > 0)
      for (let at = 0; at < said.length; at += 1) scores[at] = (scores[at] ?? 0) + weight * (said[at] ?? 0);
  }
  const highest = Math.max(...tables.map(({ score }) => score), Number.MIN_VALUE);
  const byTable = new Float64Array(usable.length);
  for (const { name, score } of tables) {
    const reading = (index.readers.get(name.toLowerCase()) ?? []).filter((at) => usable[at] === 1);
    const worth = TABLE * (score / highest) * rarity(reading.length, all);
    for (const at of reading) byTable[at] = Math.max(byTable[at] ?? 0, worth);
  }
  return { scores: scores.map((score, at) => score + (byTable[at] ?? 0)), words };
}

function rarity(count: number, all: number): number {
  return Math.log(1 + all / Math.max(count, 1));
}

function askedWeight(word: string): number {
  if (/^\d+$/.test(word)) return NUMBER_WEIGHT;
  return ASKING.has(word) ? ASKING_WEIGHT : 1;
}

/** An entry, by its place, that says a word, and how much. */
interface Posting {
  readonly at: number;
  readonly strength: number;
}

interface Index {
  /** By their first letter, words and who says them. */
  readonly byLetter: ReadonlyMap<string, ReadonlyMap<string, readonly Posting[]>>;
  /** By the name of a table in small letters, the places of the entries that read it. */
  readonly readers: ReadonlyMap<string, readonly number[]>;
}

/** Of the words that are like one of the question. They begin with the same letter. */
function postingsOf(
  { byLetter }: Index,
  asked: string,
): readonly { readonly alike: number; readonly saidBy: readonly Posting[] }[] {
  const words = byLetter.get(asked[0] ?? '') ?? new Map<string, readonly Posting[]>();
  if (/\d/.test(asked)) return [{ alike: 1, saidBy: words.get(asked) ?? [] }];
  return [...words].flatMap(([word, saidBy]) => {
    const alike = word === asked ? 1 : ALIKE * likeness(asked, word);
    return alike === 0 ? [] : [{ alike, saidBy }];
  });
}

const INDEXES = new WeakMap<readonly HeldEntry[], Index>();

function indexOf(held: readonly HeldEntry[]): Index {
  const known = INDEXES.get(held);
  if (known !== undefined) return known;
  const byLetter = new Map<string, Map<string, Posting[]>>();
  const readers = new Map<string, number[]>();
  for (const [at, entry] of held.entries()) {
    for (const [word, strength] of saidBy(entry)) {
      const letter = word[0] ?? '';
      const words = byLetter.get(letter) ?? new Map<string, Posting[]>();
      byLetter.set(letter, words);
      added(words, word, { at, strength });
    }
    for (const table of new Set(entry.entry.tables.map((name) => name.toLowerCase()))) added(readers, table, at);
  }
  const index = { byLetter, readers };
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
