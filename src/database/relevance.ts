/**
 * Lexical relevance of names to a question. Needs no model and no index, because it only decides what is shown first.
 *
 * 1. Identifiers are split; plural endings and words that every question has are dropped.
 * 2. Words need not be equal: `prescribed` matches `prescriptions`, `lab` `labevents`, `transaction` `sbtransaction`,
 *    `quantity` `qty`. The weaker the similarity, the lower the weight.
 * 3. A word that matches few tables weighs more than one that matches most of them.
 */
import type { ColumnDescription, DatabaseDescription, TableDescription } from '../domain';
import { groupBy } from '../group-by';

const COMMON = new Set(
  'a an and are as at be by did do does each for from give had has have how i in is it its list many me more most much of on or per show than that the their there these they this to was were what when where which who whose will with you id name'.split(
    ' ',
  ),
);

/** `patientAdmission_ids` gives `patient`, `admission`. */
export function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9\u00c0-\uffff]+/)
    .filter((word) => word.length > 1 && !COMMON.has(word))
    .map(stem);
}

function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && /(sses|shes|ches|xes)$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

export interface Relevance {
  table(table: TableDescription): number;
  column(column: ColumnDescription): number;
}

/** The most characters read of one text: a comment may be very long. */
const READ_CHARS = 4_000;
const NAME = 5;
const COLUMN = 3;
const SAID = 1;
const VALUE = 3;

/** `said`: the documentation of a table. */
export function relevanceTo(
  question: string,
  tables: readonly TableDescription[],
  said: (table: TableDescription) => string = () => '',
): Relevance {
  const asked = [...new Set(wordsOf(question))];
  const reach = remembered(reachOf(asked));
  const reaches = new Map(
    tables.map((table) => {
      const { name, comment, columns } = table;
      const texts = [comment ?? '', said(table), ...columns.map((column) => column.comment ?? '')];
      const ofAll = (each: readonly string[]): number[] => best(asked.length, each.map(reach));
      return [
        name,
        { byName: reach(name), byColumns: ofAll(columns.map((column) => column.name)), bySaid: ofAll(texts) },
      ];
    }),
  );
  const all = [...reaches.values()];
  const weigh = weighing(
    asked,
    all.map(({ byName, byColumns, bySaid }) => best(asked.length, [byName, byColumns, bySaid])),
  );
  // Weighs like a word that matches almost no other table.
  const value = VALUE * Math.log(1 + all.length / 1.5);
  const quoted = quotedIn(question);
  const values = ({ samples }: ColumnDescription): number => samples.filter(quoted).length;
  return {
    column: (column) =>
      COLUMN * weigh(reach(column.name)) + SAID * weigh(reach(column.comment ?? '')) + value * values(column),
    table: ({ name, columns }) => {
      const found = reaches.get(name);
      if (found === undefined) return 0;
      const named = NAME * weigh(found.byName) + COLUMN * weigh(found.byColumns) + SAID * weigh(found.bySaid);
      return named + (columns.some((column) => values(column) > 0) ? value : 0);
    },
  };
}

/** The relevance of each text to a question, by the same rules. */
export function textRelevance(question: string, texts: readonly string[]): number[] {
  const asked = [...new Set(wordsOf(question))];
  const reaches = texts.map(reachOf(asked));
  return reaches.map(weighing(asked, reaches));
}

/** For each word of the question, how well a text matches it. */
function reachOf(asked: readonly string[]): (text: string) => number[] {
  const likenesses = remembered((word: string) => asked.map((each) => likeness(each, word)));
  return (text) => best(asked.length, [...new Set(wordsOf(text.slice(0, READ_CHARS)))].map(likenesses));
}

/** The fewer texts match a word, the more it weighs. */
function weighing(asked: readonly string[], all: readonly (readonly number[])[]) {
  const weights = asked.map((_, at) => Math.log(1 + all.length / (all.filter((each) => each[at]).length + 0.5)));
  return (reached: readonly number[]): number =>
    reached.reduce((sum, strength, at) => sum + strength * (weights[at] ?? 0), 0);
}

/** Whether the question names a value of the database, as whole words. Bare numbers do not count: they occur everywhere. */
function quotedIn(question: string): (sample: string) => boolean {
  const text = spaced(question);
  return remembered((sample) => {
    if (UNSPACED.test(sample)) return sample.length > 1 && text.includes(spaced(sample).trim());
    return sample.length > 2 && /\p{L}/u.test(sample) && text.includes(spaced(sample));
  });
}

const spaced = (text: string): string =>
  ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;

function best(length: number, strengths: readonly (readonly number[])[]): number[] {
  return Array.from({ length }, (_, at) => strengths.reduce((most, each) => Math.max(most, each[at] ?? 0), 0));
}

/** Caches results: a large schema repeats most of its names and words, and its rows their days. */
export function remembered<K, T>(find: (of: K) => T): (of: K) => T {
  const known = new Map<K, T>();
  return (of) => {
    if (!known.has(of)) known.set(of, find(of));
    return known.get(of) as T;
  };
}

/** Chinese, Japanese, Korean, Thai: a question has few spaces, and two characters count as a word. */
const UNSPACED = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** 1 for the same word, 0 for words that have nothing in common. */
export function likeness(asked: string, word: string): number {
  if (asked === word) return 1;
  const [short, long] = asked.length < word.length ? [asked, word] : [word, asked];
  if (UNSPACED.test(short)) return short.length >= 2 && long.includes(short) ? 0.8 : 0;
  if (short.length >= 4 && long.startsWith(short)) return 0.8;
  if (short.length >= 4 && long.includes(short)) return 0.6;
  if (short.length === 3 && long.startsWith(short)) return 0.5;
  if (isAbbreviation(word, asked)) return 0.5;
  const common = commonStart(short, long);
  return common >= 5 && common >= short.length * 0.65 ? 0.6 : 0;
}

/** Whether `short` is the first letter and some consonants of `long` in order: `qty`, `amt`, `acct`. */
function isAbbreviation(short: string, long: string): boolean {
  if (short.length < 3 || short.length >= long.length || short[0] !== long[0] || !/^.[b-df-hj-np-tv-z]+$/.test(short))
    return false;
  let at = 0;
  for (const letter of long) if (letter === short[at]) at += 1;
  return at === short.length;
}

function commonStart(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** Tables ranked by how likely a question needs them: by its words, then by keys to tables that match its words. */
export interface RankedTable {
  readonly table: TableDescription;
  readonly order: number;
  readonly score: number;
}

export interface AskedOf {
  readonly question?: string;
  /** Notes from documentation, each with the name of its table. */
  readonly notes?: readonly { readonly table: string; readonly text: string }[];
}

/** The share of its neighbours' scores that a table gets: of the best, and of the second, since it may join the two. */
const BY_NEIGHBOURS = [0.4, 0.3] as const;
/** If more tables than this have a key of the same name, the name does not tell which table it refers to. */
const SHARED_KEY = 3;

export function rankedTables(
  { tables }: Pick<DatabaseDescription, 'tables'>,
  { question = '', notes = [] }: AskedOf,
): readonly RankedTable[] {
  const said = groupBy(notes, ({ table }) => table);
  const saidOf = (name: string): string => (said.get(name) ?? []).map(({ text }) => text).join(' ');
  const relevance = relevanceTo(question, tables, ({ name }) => saidOf(name));
  const own = new Map(tables.map((table) => [table.name, relevance.table(table)]));
  const near = neighboursOf(tables);
  const byNeighbours = (name: string): number => {
    const scores = [...(near.get(name) ?? [])].map((other) => own.get(other) ?? 0).sort((a, b) => b - a);
    return BY_NEIGHBOURS.reduce((sum, share, at) => sum + share * (scores[at] ?? 0), 0);
  };
  return tables
    .map((table, order) => ({ table, order, score: (own.get(table.name) ?? 0) + byNeighbours(table.name) }))
    .sort((a, b) => b.score - a.score || a.order - b.order);
}

/** Neighbours by declared foreign keys, and by columns named like another table's key. */
function neighboursOf(tables: readonly TableDescription[]): ReadonlyMap<string, ReadonlySet<string>> {
  const near = new Map<string, Set<string>>(tables.map(({ name }) => [name, new Set()]));
  const link = (one: string, other: string): void => {
    if (one === other) return;
    near.get(one)?.add(other);
    near.get(other)?.add(one);
  };
  const single = tables.flatMap(({ name, primaryKey, uniqueKeys }) =>
    [primaryKey, ...uniqueKeys].flatMap(([column, more]) => (column === undefined || more ? [] : [{ name, column }])),
  );
  const keys = groupBy(single, ({ column }) => column);
  for (const { name, foreignKeys, columns } of tables) {
    for (const key of foreignKeys) link(name, key.table);
    for (const column of columns) {
      const targets = keys.get(column.name) ?? [];
      if (targets.length <= SHARED_KEY) for (const target of targets) link(name, target.name);
    }
  }
  return near;
}

/** The items that fit into a prompt's room, most wanted first: one that is too long leaves its room to shorter ones. */
export function fitting<T>(
  items: readonly T[],
  room: number,
  costOf: (item: T, kept: ReadonlySet<T>) => number,
): ReadonlySet<T> {
  const kept = new Set<T>();
  let left = room;
  for (const item of items) {
    const cost = costOf(item, kept);
    if (cost > left) continue;
    left -= cost;
    kept.add(item);
  }
  return kept;
}
