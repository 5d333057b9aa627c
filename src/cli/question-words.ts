/**
 * A question without quotes comes as one argument a word. Bare words are joined. Anything else that may be no part of the
 * question (a quoted text among them, a file, an address, `-`) is an error that says how to write the question.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from './errors';

export function joinedWords(words: readonly string[], cwd: string): string {
  const [first = ''] = words;
  if (words.length <= 1) return first;
  if (words.some((word) => /\s/.test(word) || word === '' || word === '-')) throw quoteIt('these are several texts');
  const address = words.find((word) => word.includes('://'));
  if (address !== undefined) throw quoteIt(`an address is among the words; a database is given with --db`);
  // The shell puts file names in place of * and ?, too.
  const file = words.find((word) => /[./*]/.test(word.slice(0, -1)) && existsSync(resolve(cwd, word)));
  if (file !== undefined) throw quoteIt(`${file} is a file; a database is given with --db`);
  return words.join(' ');
}

function quoteIt(why: string): UsageError {
  return new UsageError(`which words are the question? ${why}: write the question in one pair of quotes`);
}
