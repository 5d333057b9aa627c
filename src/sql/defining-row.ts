/** The row of a code table that says in words what a value stands for. Pure. */
import { cut } from '../clip';
import type { SqlValue } from '../domain';

type Row = readonly SqlValue[];

/**
 * `rows`: all that have the value in the column `key`; `aside`: columns by which a table holds its rows once for each client.
 * null where the value is no key of theirs, or none has words.
 */
export function definingRow(rows: readonly Row[], key: number, aside: ReadonlySet<number> = new Set()): string | null {
  const told = rows.map((row) => JSON.stringify(row.filter((_, at) => !aside.has(at))));
  const different = rows.filter((_, at) => told.indexOf(told[at] ?? '') === at);
  const row = different.length === 1 ? different[0] : ofOneLanguage(different, key, aside);
  const words = (row ?? [])
    .filter((cell, at) => at !== key && isWords(cell))
    .map((cell) => cut(String(cell).trim(), CHARS));
  return row === undefined || words.length === 0
    ? null
    : [String(row[key]).trim(), ...words.slice(0, MOST_WORDS)].join(' | ');
}

const MOST_WORDS = 2;
const CHARS = 60;

/** Of rows that differ in their language and in what they say, the English one, else the first. */
function ofOneLanguage(rows: readonly Row[], key: number, aside: ReadonlySet<number>): Row | undefined {
  const columns = (rows[0] ?? []).map((_, at) => at).filter((at) => at !== key && !aside.has(at));
  const cells = (at: number): string[] => rows.map((row) => String(row[at] ?? '').trim());
  const language = columns.find((at) => {
    const own = cells(at);
    return new Set(own).size === own.length && own.every((cell) => LANGUAGES.test(cell));
  });
  if (language === undefined) return undefined;
  const isText = (at: number): boolean => new Set(cells(at)).size === 1 || cells(at).every((cell) => !/^\d/.test(cell));
  if (!columns.every(isText)) return undefined;
  return rows.find((row) => /^\s*e(?:n|$|\s)/i.test(String(row[language]))) ?? rows[0];
}

/** As ISO 639 writes them, with or without a country, or as one letter. */
const LANGUAGES =
  /^(?:[DEFINPSJ]|(?:bg|cs|da|de|el|en|es|et|fi|fr|hr|hu|it|ja|ko|lt|lv|nb|nl|nn|no|pl|pt|ro|ru|sk|sl|sv|tr|uk|zh)(?:[-_][a-z]{2,4})?)$/i;

/** A name or a text; not a code, a number or an id. */
export function isWords(cell: SqlValue | undefined): boolean {
  if (typeof cell !== 'string' || /^[\da-f-]{16,}$/i.test(cell)) return false;
  const text = cell.trim();
  return /(?<![\p{L}\p{N}_])\p{L}{3,}(?![\p{L}\p{N}_])/u.test(text) && (text.length > 4 || /[\p{Ll}\s]/u.test(text));
}
