/**
 * An index of the texts that a wide database holds, so that a question finds the tables whose values it names. It is made of
 * the rows that the profile reads anyway, within a budget, small domains first: code tables and names before documents.
 *
 * 1. Words are compared without case, accents, punctuation, plural endings and leading zeros. A word that nothing holds is
 *    compared by its trigrams.
 * 2. A word that few columns hold weighs more, and so does a value of which the question names more.
 * 3. Only columns of the description are read: what is kept from models is not in the index.
 */
import * as z from 'zod';
import { isoNames } from '../../iso-names';
import { wordsOf } from '../relevance';
import type { ColumnFacts } from '../profile/column-facts';
import { shown } from '../profile/pieces';
import { keyOf, type TableRows } from '../profile/table-rows';

export const IndexedColumn = z.object({
  table: z.string(),
  column: z.string(),
  /** The column of the same table whose value stands for the text. */
  code: z.string().nullable(),
  values: z.array(z.string()),
  /** Those of each value; none where there are many. */
  codes: z.array(z.array(z.string())),
});
export type IndexedColumn = Readonly<z.infer<typeof IndexedColumn>>;

const COLUMN_VALUES = 5_000;
const ALL_VALUES = 200_000;
const VALUE_CHARS = 80;
const CODE_CHARS = 20;

export function indexedColumns(
  tables: readonly { readonly rows: TableRows; readonly facts: readonly ColumnFacts[] }[],
): IndexedColumn[] {
  const found = tables
    .flatMap(({ rows, facts }) => facts.filter(isIndexed).map((fact) => ({ rows, facts, fact })))
    .sort((a, b) => a.fact.distinct - b.fact.distinct);
  let left = ALL_VALUES;
  return found.flatMap(({ rows, facts, fact }): IndexedColumn[] => {
    const values = fact.values.flatMap(({ value }) => (value.length <= VALUE_CHARS ? [value] : []));
    const kept = values.slice(0, Math.min(COLUMN_VALUES, left));
    left -= kept.length;
    if (kept.length === 0) return [];
    const code = codeOf(fact, facts);
    return [
      {
        ...{ table: rows.table.name, column: fact.column.name, code: code?.column.name ?? null, values: kept },
        codes: code === null ? [] : codesOf(kept, fact, code),
      },
    ];
  });
}

function isIndexed({ column, filled, distinct }: ColumnFacts): boolean {
  return column.kind === 'text' && filled > 0 && distinct > 0;
}

/** The column of short values without spaces that tells the rows of a text apart best. */
function codeOf(text: ColumnFacts, facts: readonly ColumnFacts[]): ColumnFacts | null {
  const isWordy = text.values.slice(0, 50).some(({ value }) => /\p{L}{3}/u.test(value));
  if (!isWordy) return null;
  const isCode = (each: ColumnFacts): boolean =>
    each !== text &&
    (each.column.kind === 'text' || each.column.kind === 'number') &&
    each.filled === each.rows &&
    each.distinct > 1 &&
    each.values.slice(0, 50).every(({ value }) => value.length <= CODE_CHARS && !/[\s.]/.test(value));
  const [best] = facts.filter(isCode).sort((a, b) => b.distinct - a.distinct);
  return best !== undefined && best.distinct >= text.distinct * 0.3 ? best : null;
}

const MOST_CODES = 3;

function codesOf(values: readonly string[], text: ColumnFacts, code: ColumnFacts): string[][] {
  const codes = new Map<string, Set<string>>();
  for (const [row, value] of text.column.values.entries()) {
    const [key, own] = [keyOf(value), keyOf(code.column.values[row] ?? null)];
    if (key === null || own === null) continue;
    codes.set(key, (codes.get(key) ?? new Set()).add(own));
  }
  return values.map((value) => {
    const own = [...(codes.get(value) ?? [])];
    return own.length > MOST_CODES ? [] : own;
  });
}

/** A value that a question names. */
export interface Place {
  readonly table: string;
  readonly column: string;
  readonly value: string;
  readonly code: { readonly column: string; readonly values: readonly string[] } | null;
  readonly score: number;
}

export interface ValueIndex {
  /** The best places of each column, the best column first. */
  find(question: string): readonly (readonly Place[])[];
}

/** `isName`: its values are names of the codes that the column holds. */
type HeldColumn = IndexedColumn & { readonly isName?: boolean };

interface Posting {
  readonly column: number;
  readonly at: number;
}

/** A word in more values than this tells none of them. */
const MOST_POSTINGS = 2_000;
const NEAR = 0.5;
const NEAR_WEIGHT = 0.6;
/** Part of the weight of all words of a value that a question has to name; less if it writes them as a name, or several. */
const LEAST_NAMED = 0.5;
const LEAST_OF_NAME = 0.3;
const LEAST_WORD = 4;

export function valueIndex(indexed: readonly IndexedColumn[]): ValueIndex {
  const columns: readonly HeldColumn[] = [...indexed, ...indexed.flatMap(namedCodes)];
  const postings = new Map<string, Posting[]>();
  const spread = new Map<string, Set<number>>();
  const singles = new Set<string>();
  const wordsAt = (posting: Posting): string[] => indexWords(columns[posting.column]?.values[posting.at] ?? '');
  const put = (word: string, posting: Posting): void => {
    const own = postings.get(word) ?? [];
    if (own.length === 0) postings.set(word, own);
    if (own.length <= MOST_POSTINGS) own.push(posting);
    const held = spread.get(word) ?? new Set();
    if (held.size === 0) spread.set(word, held);
    held.add(posting.column);
  };
  for (const [column, { values }] of columns.entries())
    for (const [at, value] of values.entries()) {
      const words = indexWords(value);
      for (const word of new Set(words)) {
        singles.add(word);
        put(word, { column, at });
      }
      if (words.length > 1 && words.length <= 4) put(words.join(''), { column, at });
    }
  const weight = (word: string): number => Math.log(1 + columns.length / (spread.get(word)?.size ?? 1));
  const grams = gramsOf(singles);

  /** Each word of the question with the words of values that it stands for. */
  const askedOf = (question: string): Map<string, number> => {
    const words = indexWords(question);
    const wanted = new Map<string, number>();
    for (const [at, word] of words.entries()) {
      for (const whole of [word, word + (words[at + 1] ?? ' '), word + (words[at + 1] ?? ' ') + (words[at + 2] ?? ' ')])
        if (postings.has(whole) && !isYear(whole)) wanted.set(whole, 1);
      if (!postings.has(word) && word.length > LEAST_WORD && /^\p{L}+$/u.test(word))
        for (const near of nearest(word, grams)) if (!wanted.has(near)) wanted.set(near, NEAR_WEIGHT);
    }
    return wanted;
  };

  return {
    find: (question) => {
      const wanted = askedOf(question);
      // Numbers find no value on their own, but tell those apart that a word finds: `NKS 80-200`.
      const numbers = new Set(indexWords(question).filter(isYear));
      // The first word of a sentence begins with a capital whatever it is.
      const names = new Set(
        [...question.matchAll(/(?<=[\p{L}\p{N},;:'"(] *)['"(]?(?=\p{Lu}|\p{L}*\d)[\p{L}\p{N}]+/gu)].flatMap(([word]) =>
          indexWords(word),
        ),
      );
      const best = new Map<number, Place[]>();
      const seen = new Set<string>();
      for (const [word] of wanted) {
        const own = postings.get(word) ?? [];
        if (own.length > MOST_POSTINGS) continue;
        for (const posting of own) {
          const id = `${posting.column}\n${posting.at}`;
          if (seen.has(id)) continue;
          seen.add(id);
          const place = placeOf(posting);
          if (place !== null) best.set(posting.column, [...(best.get(posting.column) ?? []), place]);
        }
      }
      return [...best.values()]
        .map((places) => places.sort((a, b) => b.score - a.score || (a.value < b.value ? -1 : 1)))
        .sort((a, b) => (b[0]?.score ?? 0) - (a[0]?.score ?? 0));

      function placeOf(posting: Posting): Place | null {
        const held = columns[posting.column];
        const value = held?.values[posting.at];
        if (held === undefined || value === undefined) return null;
        const words = wordsAt(posting);
        const joined = words.join('');
        const all = words.reduce((sum, word) => sum + weight(word), 0);
        const named =
          wanted.has(joined) && words.length > 1
            ? all
            : words.reduce((sum, word) => sum + weight(word) * (wanted.get(word) ?? Number(numbers.has(word))), 0);
        const share = all === 0 ? 0 : named / all;
        // Codes of one or two letters are words of a question by chance.
        const isLong = (word: string): boolean => /[\p{L}\p{N}]{3}/u.test(word);
        const long = words.filter((word) => wanted.has(word) && isLong(word));
        const isOfName = long.length > 1 || words.some((word) => names.has(word));
        const least = held.isName === true ? 1 : isOfName ? LEAST_OF_NAME : LEAST_NAMED;
        const isByChance = long.length === 0 && !wanted.has(joined);
        if (share < least || isByChance || !isLong(value)) return null;
        const codes = held.codes[posting.at] ?? [];
        return {
          ...{ table: held.table, column: held.column, value, score: named * share },
          code: held.code === null || codes.length === 0 ? null : { column: held.code, values: codes },
        };
      }
    },
  };
}

/** ISO codes of lands and currencies by their names, of a column in which all values are such codes. */
function namedCodes({ table, column, values }: IndexedColumn): HeldColumn[] {
  if (values.length < 2) return [];
  const codes = values.map((code) => [code]);
  return isoNames(values).map((names) => ({ table, column, code: column, values: [...names], codes, isName: true }));
}

function indexWords(text: string): string[] {
  return wordsOf(text.normalize('NFKD').replace(/\p{M}/gu, '')).map((word) => word.replace(/^0+(?=\d)/, ''));
}

const isYear = (word: string): boolean => /^((19|20)\d\d|\d{1,3})$/.test(word);

type Grams = ReadonlyMap<string, readonly string[]>;

function trigrams(word: string): Set<string> {
  const padded = ` ${word} `;
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)));
}

function gramsOf(words: Iterable<string>): Grams {
  const found = new Map<string, string[]>();
  for (const word of words) {
    if (word.length < LEAST_WORD || !/^\p{L}+$/u.test(word)) continue;
    for (const gram of trigrams(word)) {
      const own = found.get(gram);
      if (own === undefined) found.set(gram, [word]);
      else own.push(word);
    }
  }
  return found;
}

const MOST_NEAR = 3;

function nearest(word: string, grams: Grams): string[] {
  const own = trigrams(word);
  const shared = new Map<string, number>();
  for (const gram of own) for (const other of grams.get(gram) ?? []) shared.set(other, (shared.get(other) ?? 0) + 1);
  return [...shared]
    .map(([other, count]) => ({ other, likeness: (2 * count) / (own.size + other.length) }))
    .filter(({ likeness }) => likeness >= NEAR)
    .sort((a, b) => b.likeness - a.likeness || (a.other < b.other ? -1 : 1))
    .slice(0, MOST_NEAR)
    .map(({ other }) => other);
}

const SHOWN_PLACES = 3;

/** `'Norway' is land.name where land.code = 'NO'`: a fact of the rows that were read. */
export function placeText(places: readonly Place[]): string {
  const [first] = places;
  if (first === undefined) return '';
  const told = places.slice(0, SHOWN_PLACES).map(({ value, code, table }, at) => {
    const [only, second] = code?.values ?? [];
    const list = second === undefined ? `= '${only ?? ''}'` : `in ('${code?.values.join("', '") ?? ''}')`;
    const isName = code !== null && code.column === first.column;
    const where =
      code === null ? '' : isName ? ` ${list}` : ` where ${at === 0 ? `${table}.` : ''}${code.column} ${list}`;
    return at === 0
      ? `'${shown(value, 60).replace(/^'|'$/g, '')}' is ${first.table}.${first.column}${where}`
      : `'${shown(value, 60).replace(/^'|'$/g, '')}'${where}`;
  });
  const more = places.length > told.length ? `; and ${places.length - told.length} more values` : '';
  return `${told.join(', ')}${more}`;
}
