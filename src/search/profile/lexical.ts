/**
 * Lexical relevance of names to a question: shared words after splitting identifiers, dropping plural endings and words
 * that every question has. No model and no index: it only decides what is shown first.
 */
import type { ColumnDescription, TableDescription } from '../../domain';

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
  text(text: string): number;
}

/** Names weigh most, then comments, then sample values that the question quotes. */
export function relevanceTo(question: string): Relevance {
  const asked = new Set(wordsOf(question));
  const text = question.toLowerCase();
  const isAsked = remembered((word) => asked.has(word) || [...asked].some((other) => contains(other, word)));
  const shared = remembered((words) => new Set(wordsOf(words).filter(isAsked)).size);
  const share = (words: string, weight: number): number => shared(words) * weight;
  const column = ({ name, comment, samples }: ColumnDescription): number =>
    share(name, 3) +
    share(comment ?? '', 1) +
    samples.filter((sample) => sample.length > 2 && text.includes(sample.toLowerCase())).length * 2;
  return {
    column,
    text: (words) => share(words, 1),
    table: ({ name, comment, columns }) =>
      share(name, 5) +
      share(comment ?? '', 1) +
      columns
        .map(column)
        .sort((a, b) => b - a)
        .slice(0, 5)
        .reduce((sum, score) => sum + score, 0),
  };
}

/** A large schema repeats most of its names and words. */
function remembered<T>(find: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text) ?? find(text);
    known.set(text, found);
    return found;
  };
}

/** One word is the start of the other (`hospital`, `hospitalization`). */
const contains = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= 4 && (one.startsWith(other) || other.startsWith(one));
