/**
 * The model's sentence: words with places for result values, written before any value was known. The program fills it, and
 * drops it if anything in it is doubtful.
 *
 * Places: `{column}` of the only row; `{first:column}`, `{last:column}` and `{sum:column}` of several; `{rows}`, how many;
 * `{examined}`, what the control counted. A column that has one of these names wins. `{yes:column}`, which the program
 * writes itself, is `{column}` where the plan declares a boolean and the engine may say 1.
 */
import type { AnswerRecord, ResultColumn, SqlValue } from '../domain';
import { visible } from '../clip';
import { valueText } from './result-text';

/** The prompt asks for at most 200 characters; a slightly longer sentence is still used. */
const MAX_CHARS = 300;

export interface Filling extends Pick<AnswerRecord, 'columns' | 'rows' | 'truncated'> {
  /** The count of the control query. */
  readonly examined?: number | undefined;
}

type Place =
  | { readonly kind: 'rows' | 'examined' }
  | { readonly kind: 'only' | 'yes' | 'first' | 'last' | 'sum'; readonly at: number; readonly column: ResultColumn };

const PLACE = /\{([^{}]*)\}/g;

/** The sentence, tidied, if its words and places can be trusted for these columns; else null. */
export function soundSentence(
  sentence: string | null | undefined,
  columns: readonly ResultColumn[],
  question: string,
): string | null {
  if (sentence === null || sentence === undefined) return null;
  const text = sentence.replace(/ {2,}/g, ' ').trim();
  if (text.length > MAX_CHARS) return null;
  const places = [...text.matchAll(PLACE)].map(([, inner = '']) => placeOf(inner, columns));
  const sums = places.flatMap((place) => (place?.kind === 'sum' ? [place.column] : []));
  const isPlaced = places.length > 0 && places.every((place) => place !== null);
  const words = text.replace(PLACE, ' ');
  if (!isPlaced || !isPlain(words) || claims(words, question)) return null;
  return sums.every((column) => addsUp(column, question)) ? text : null;
}

/** The sentence with its values, or null if these rows have no value for a place. */
export function fillSentence(sentence: string, filling: Filling): string | null {
  const values = [...sentence.matchAll(PLACE)].map(([, inner = '']) => {
    const place = placeOf(inner, filling.columns);
    return place === null ? null : placeText(place, filling);
  });
  if (values.includes(null)) return null;
  const rest = values.values();
  return sentence.replace(PLACE, () => rest.next().value ?? '');
}

/** Uses `{yes:column}` for columns that the plan declares as boolean. Without a sentence: the value of a single such column. */
export function withYesNo(
  sentence: string | null,
  columns: readonly ResultColumn[],
  booleans: readonly string[],
): string | null {
  const isBoolean = (inner: string): boolean => {
    const named = columnNamed(inner, columns);
    return named !== null && booleans.some((name) => name.toLowerCase() === named.column.name.toLowerCase());
  };
  if (sentence !== null)
    return sentence.replace(PLACE, (place, inner: string) => (isBoolean(inner) ? `{yes:${inner}}` : place));
  const [only] = columns;
  return columns.length === 1 && only !== undefined && isBoolean(only.name) ? `{yes:${only.name}}` : null;
}

/** Whether the sentence itself shows rows of a list. */
export function showsRows(sentence: string): boolean {
  return /\{\s*(?:first|last)\s*:/i.test(sentence);
}

/** Whether it has a place for each column of one row. */
export function showsColumns(sentence: string, columns: readonly ResultColumn[]): boolean {
  const places = [...sentence.matchAll(PLACE)].map(([, inner = '']) => placeOf(inner, columns));
  return columns.every((_, at) => places.some((place) => place !== null && 'at' in place && place.at === at));
}

function placeOf(inner: string, columns: readonly ResultColumn[]): Place | null {
  const only = columnNamed(inner, columns);
  if (only !== null) return { kind: 'only', ...only };
  const [, word = '', rest] = /^\s*(\w+)\s*(?::(.*))?$/.exec(inner) ?? [];
  const kind = word.toLowerCase();
  if (rest === undefined) return kind === 'rows' || kind === 'examined' ? { kind } : null;
  const named = columnNamed(rest, columns);
  return named !== null && isFunction(kind) ? { kind, ...named } : null;
}

function isFunction(word: string): word is 'yes' | 'first' | 'last' | 'sum' {
  return ['yes', 'first', 'last', 'sum'].includes(word);
}

/** The column with this name in any case; null if there is none, or two. */
function columnNamed(name: string, columns: readonly ResultColumn[]): { at: number; column: ResultColumn } | null {
  const wanted = name.trim().toLowerCase();
  const found = columns.flatMap((column, at) => (column.name.trim().toLowerCase() === wanted ? [{ at, column }] : []));
  return found.length === 1 ? (found[0] ?? null) : null;
}

function placeText(place: Place, { rows, truncated, examined }: Filling): string | null {
  const value = (row: readonly SqlValue[] | undefined, at: number, { kind }: ResultColumn): string | null =>
    row === undefined ? null : valueText(row[at] ?? null, kind);
  switch (place.kind) {
    case 'rows':
      return `${truncated ? 'more than ' : ''}${rows.length}`;
    case 'examined':
      return examined === undefined ? null : valueText(examined, 'number');
    case 'only':
      return rows.length === 1 && !truncated ? value(rows[0], place.at, place.column) : null;
    case 'yes':
      return rows.length === 1 && !truncated ? yesNo(rows[0]?.[place.at] ?? null) : null;
    case 'first':
      return value(rows[0], place.at, place.column);
    case 'last':
      return truncated ? null : value(rows.at(-1), place.at, place.column);
    case 'sum':
      return truncated ? null : sumText(rows.map((row) => row[place.at] ?? null));
    default:
      return place satisfies never;
  }
}

function yesNo(value: SqlValue): string | null {
  if (value === null) return valueText(value, 'boolean');
  const truth = { true: true, '1': true, false: false, '0': false }[String(value).toLowerCase()];
  return truth === undefined ? null : valueText(truth, 'boolean');
}

/** Adds whole numbers exactly. Null if there are no values, or one is not a number. */
function sumText(values: readonly SqlValue[]): string | null {
  const given = values.filter((value) => value !== null).map((value) => String(value));
  if (given.length === 0) return null;
  if (given.every((text) => /^-?\d+$/.test(text)))
    return given.reduce((total, text) => total + BigInt(text), 0n).toString();
  if (!given.every((text) => /^-?\d+(?:\.\d+)?(?:e[-+]\d+)?$/.test(text))) return null;
  return valueText(
    given.reduce((total, text) => total + Number(text), 0),
    'number',
  );
}

/** Words in column names whose values should not be added. */
const NO_TOTAL =
  /^(?:ids?|keys?|codes?|no|nr|num|number|years?|months?|weeks?|days?|quarters?|hours?|dates?|time|rank|position|place|age|rate|ratio|share|pct|percent|percentage|avg|average|mean|median|min|max|minimum|maximum|distinct|unique|cumulative|running|price|version|lat|lon|latitude|longitude|zip|phone)$/;

/** Whether a sum of the column makes sense by its name, or the question asks for one. */
function addsUp({ name, kind }: ResultColumn, question: string): boolean {
  if (kind !== 'number' && kind !== 'other') return false;
  if (/\b(?:totals?|sum|altogether|combined)\b/i.test(question)) return true;
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return !words.some((word) => NO_TOTAL.test(word));
}

/** Whether the words are plain: no control or invisible characters, no markup, no address, no stray brace. */
function isPlain(words: string): boolean {
  return visible(words) === words && !/[\p{C}\p{Zl}\p{Zp}{}<>`\\|*~]|__|\]\(|:\/\//u.test(words);
}

/**
 * Whether the words claim something that the model cannot know: a number that is not in the question, or that something
 * is proved. Both come from the program only.
 */
function claims(words: string, question: string): boolean {
  const known = numbersIn(question);
  const proof = /\b(?:proved|proven|verified|confirmed|guaranteed)\b/gi;
  const said = (text: string): string[] => (text.match(proof) ?? []).map((word) => word.toLowerCase());
  return (
    [...numbersIn(words)].some((number) => !known.has(number) && number !== 'one') ||
    said(words).some((word) => !said(question).includes(word))
  );
}

const NUMBER_WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const SPELLED = new RegExp(
  String.raw`\b(${NUMBER_WORDS.join('|')}|eleven|twelve|dozen|twenty|fifty|hundred|thousand|million|billion)s?\b`,
  'gi',
);

/** Numbers of a text, as digits and as words: "five" is 5, 1,000 is 1000. */
function numbersIn(text: string): Set<string> {
  const plain = text.normalize('NFKC');
  const digits = [...plain.matchAll(/\p{N}+(?:[.,]\p{N}+)*/gu)].flatMap(([number]) => {
    const ungrouped = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(number) ? number.replaceAll(',', '') : number;
    const value = ungrouped.replace(/^0+(?=\d)/, '').replace(/\.0+$/, '');
    return [value, NUMBER_WORDS[Number(value)] ?? value];
  });
  const words = [...plain.matchAll(SPELLED)].flatMap(([, word = '']) => {
    const at = NUMBER_WORDS.indexOf(word.toLowerCase());
    return at < 0 ? [word.toLowerCase()] : [word.toLowerCase(), String(at)];
  });
  return new Set([...digits, ...words]);
}
