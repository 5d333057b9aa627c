/**
 * `--docs`: files and folders that explain a database. Markdown and text become documents; column descriptions (CSV) and
 * dbt properties (YAML) become notes on tables and columns; so does what LiveSQLBench gives with a database. Whatever is
 * wrong is one line with file and line.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, relative, resolve } from 'node:path';
import {
  describesTables,
  DocumentationError,
  isColumnMeanings,
  isKnowledgeBase,
  notesOfColumnMeanings,
  notesOfCsv,
  notesOfDbt,
  textOfKnowledgeBase,
} from '../database/documentation';
import type { DocumentNote, Question } from '../domain';
import { UsageError } from './errors';

export interface Documentation {
  readonly documents: Question['documents'];
  readonly notes: readonly DocumentNote[];
}

const MAX_CHARS = 2_000_000;
const READ = ['.md', '.markdown', '.txt', '.csv', '.yml', '.yaml'];
/** What a dbt project holds besides its own documentation. */
const SKIPPED = new Set(['node_modules', 'target', 'dbt_packages', 'logs']);

/** `configured`: the documentation of the database, in place of which `--docs` can be given; false: none of either. */
export function documentationOf(
  docs: readonly string[] | false | undefined,
  cwd: string,
  configured: readonly string[],
): Documentation {
  if (docs === false) return { documents: [], notes: [] };
  if (docs !== undefined) return readDocumentation(docs, cwd);
  return readDocumentation(configured, cwd, 'docs of the configuration:');
}

/** `flag`: where the paths were given, for messages. */
export function readDocumentation(paths: readonly string[], cwd: string, flag = '--docs'): Documentation {
  const documents: Question['documents'] = [];
  const notes: DocumentNote[] = [];
  let total = 0;
  try {
    for (const { path, name, isFound } of paths.flatMap((given) => filesOf(given, cwd))) {
      const text = textOf(path, name);
      total += text.length;
      if (total > MAX_CHARS)
        throw new DocumentationError(
          name,
          null,
          `more than ${MAX_CHARS} characters in all; give the files that matter`,
        );
      const extension = extname(path).toLowerCase();
      if (extension === '.csv') notes.push(...notesOfCsv(name, text));
      else if (extension === '.yml' || extension === '.yaml') {
        if (!isFound || describesTables(text)) notes.push(...notesOfDbt(name, text));
      } else if (isColumnMeanings(name)) notes.push(...notesOfColumnMeanings(name, text));
      else documents.push({ name, text: isKnowledgeBase(name) ? textOfKnowledgeBase(text) : text });
    }
  } catch (error) {
    if (error instanceof DocumentationError) throw new UsageError(`${flag} ${error.message}`, { cause: error });
    throw error;
  }
  return { documents, notes };
}

interface DocFile {
  readonly path: string;
  /** As prompts and messages name it. */
  readonly name: string;
  /** In a folder that was given, and not given itself. */
  readonly isFound: boolean;
}

function filesOf(given: string, cwd: string): DocFile[] {
  const path = resolve(cwd, given);
  const info = given.trim() === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (info === undefined)
    throw new DocumentationError(
      given,
      null,
      'no such file or folder; correct the path, or give --no-docs to go without',
    );
  if (!info.isDirectory()) return [{ path, name: basename(path), isFound: false }];
  const found = walk(path).map((file) => ({ path: file, name: relative(path, file), isFound: true }));
  if (found.length === 0)
    throw new DocumentationError(given, null, `no file ending in ${READ.join(', ')} in that folder`);
  return found;
}

function walk(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  // LiveSQLBench's copy of the schema would be a second one.
  const isLiveSqlBench = entries.some(({ name }) => isColumnMeanings(name));
  return entries
    .filter(({ name }) => !name.startsWith('.') && !SKIPPED.has(name))
    .filter(({ name }) => !(isLiveSqlBench && name.endsWith('_schema.txt')))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return walk(path);
      return entry.isFile() && isRead(entry.name) ? [path] : [];
    });
}

const isRead = (name: string): boolean =>
  READ.includes(extname(name).toLowerCase()) || isColumnMeanings(name) || isKnowledgeBase(name);

function textOf(path: string, name: string): string {
  const bytes = readFileSync(path);
  if (bytes.includes(0))
    throw new DocumentationError(name, null, 'not a text file; convert it to text or Markdown first');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    text = bytes.toString('latin1'); // what spreadsheets write where it is not UTF-8
  }
  // Some published files were Windows-1252 read as Latin-1 before they became UTF-8.
  return text.replace(/[\u0080-\u009f]/g, (char) => WINDOWS_1252.charAt(char.charCodeAt(0) - 0x80));
}

/** Of 0x80 to 0x9f, which Node's own decoder reads as Latin-1 before version 23; a question mark where nothing is. */
const WINDOWS_1252 = '€?‚ƒ„…†‡ˆ‰Š‹Œ?Ž??‘’“”•–—˜™š›œ?žŸ';
