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

const MAX_DOCUMENT_CHARS = 200_000;
const MAX_TOTAL_CHARS = 2_000_000;
const MAX_FILES = 500;
const MAX_DEPTH = 6;
const TEXTS = ['.md', '.markdown', '.txt'];
const READ = [...TEXTS, '.csv', '.yml', '.yaml'];
/** What a dbt project holds besides its own documentation. */
const SKIPPED = new Set(['node_modules', 'target', 'dbt_packages', 'logs']);

/** `flag`: where the paths were given, for messages. */
export function readDocumentation(paths: readonly string[], cwd: string, flag = '--docs'): Documentation {
  const files = paths.flatMap((path) => filesOf(path, cwd, flag));
  if (files.length > MAX_FILES)
    throw new UsageError(`${flag}: ${files.length} files; give at most ${MAX_FILES}, the ones that matter`);
  const documents: Question['documents'] = [];
  const notes: DocumentNote[] = [];
  let total = 0;
  for (const file of files) {
    const text = textOf(file, flag);
    total += text.length;
    if (total > MAX_TOTAL_CHARS)
      throw new UsageError(`${flag}: more than ${MAX_TOTAL_CHARS} characters in all; give the files that matter`);
    const extension = extname(file.path).toLowerCase();
    if (extension === '.csv') notes.push(...parsed(flag, () => notesOfCsv(file.name, text)));
    else if (extension === '.yml' || extension === '.yaml') {
      if (file.found && !describesTables(text)) continue;
      notes.push(...parsed(flag, () => notesOfDbt(file.name, text)));
    } else if (isColumnMeanings(file.name)) notes.push(...parsed(flag, () => notesOfColumnMeanings(file.name, text)));
    else {
      const shown = isKnowledgeBase(file.name) ? textOfKnowledgeBase(text) : text;
      documents.push({ name: file.name, text: shortEnough(file, shown, flag) });
    }
  }
  return { documents, notes };
}

interface DocFile {
  readonly path: string;
  /** As prompts and messages name it. */
  readonly name: string;
  /** In a folder that was given, and not given itself. */
  readonly found: boolean;
}

function filesOf(given: string, cwd: string, flag: string): DocFile[] {
  if (given.trim() === '') throw new UsageError(`${flag} is empty; give a file or a folder`);
  const path = resolve(cwd, given);
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) throw unreadable(given, 'ENOENT', flag);
  if (!info.isDirectory()) return [{ path, name: basename(path), found: false }];
  const found = walk(path, 0).map((file) => ({ path: file, name: relative(path, file), found: true }));
  if (found.length === 0) throw new UsageError(`${flag} ${given}: no file ending in ${READ.join(', ')} in that folder`);
  return found;
}

function walk(folder: string, depth: number): string[] {
  if (depth > MAX_DEPTH) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  // LiveSQLBench's copy of the schema would be a second one.
  const isLiveSqlBench = entries.some(({ name }) => isColumnMeanings(name));
  return entries
    .filter(({ name }) => !name.startsWith('.') && !SKIPPED.has(name))
    .filter(({ name }) => !(isLiveSqlBench && name.endsWith('_schema.txt')))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return walk(path, depth + 1);
      return entry.isFile() && isRead(entry.name) ? [path] : [];
    });
}

const isRead = (name: string): boolean =>
  READ.includes(extname(name).toLowerCase()) || isColumnMeanings(name) || isKnowledgeBase(name);

function textOf({ path, name }: DocFile, flag: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw unreadable(name, (error as NodeJS.ErrnoException).code ?? 'error', flag);
  }
  if (bytes.includes(0)) throw new UsageError(`${flag} ${name}: not a text file; convert it to text or Markdown first`);
  try {
    // Some published files were Windows-1252 read as Latin-1 before they became UTF-8.
    return fromWindows1252(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return fromWindows1252(bytes.toString('latin1')); // what spreadsheets write where it is not UTF-8
  }
}

/** Of 0x80 to 0x9f, which Node's own decoder reads as Latin-1 before version 23; a question mark where nothing is. */
const WINDOWS_1252 = '€?‚ƒ„…†‡ˆ‰Š‹Œ?Ž??‘’“”•–—˜™š›œ?žŸ';

function fromWindows1252(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (char) => WINDOWS_1252.charAt(char.charCodeAt(0) - 0x80));
}

function shortEnough({ name }: DocFile, text: string, flag: string): string {
  if (text.length > MAX_DOCUMENT_CHARS)
    throw new UsageError(`${flag} ${name}: longer than ${MAX_DOCUMENT_CHARS} characters; give the parts that matter`);
  return text;
}

function parsed<T>(flag: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof DocumentationError) throw new UsageError(`${flag} ${error.message}`, { cause: error });
    throw error;
  }
}

function unreadable(name: string, code: string, flag: string): UsageError {
  if (code === 'ENOENT')
    return new UsageError(`${flag} ${name}: no such file or folder; correct the path, or give --no-docs to go without`);
  return new UsageError(
    `${flag} ${name}: cannot read it (${code}); give a text, CSV or YAML file, or a folder of them`,
  );
}
