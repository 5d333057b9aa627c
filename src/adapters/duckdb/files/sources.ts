/**
 * Which files are read, and into which tables. No link is followed out of the folder, and no name is read by a rule that
 * the report does not tell: whatever is left out is named with the reason.
 */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SqlEngineError } from '../../../domain/ports/sql-engine';
import { dataFile, dataFolder, dataFormat, type DataFile, type DataFolder, type DataFormat } from '../../../data-file';

export interface SourceFile extends DataFile {
  /** Of folders such as `year=2024`; null: no value. */
  readonly partition: Readonly<Record<string, string | null>>;
}

export interface SourceTable {
  readonly name: string;
  readonly format: DataFormat;
  readonly files: readonly SourceFile[];
}

export interface Sources extends Pick<DataFolder, 'ignored'> {
  readonly root: string;
  readonly isFolder: boolean;
  readonly tables: readonly SourceTable[];
}

const KNOWN = '.csv, .tsv, .json, .jsonl, .ndjson (each also .gz) or .parquet';
const MAX_FILES = 10_000;

/** `given`: a file or a folder. Looks at names, sizes and times alone. */
export function listSources(given: string): Sources {
  const found = statSync(given, { throwIfNoEntry: false });
  if (found === undefined) throw unreadable(`there is no file or folder ${given}: check the path`);
  const root = realpathSync(given);
  if (!found.isDirectory()) {
    if (!found.isFile()) throw unreadable(`${given} is no ordinary file: name one that ends in ${KNOWN}`);
    if (dataFormat(root) === null) throw unreadable(`cannot read ${given}: name a file that ends in ${KNOWN}`);
    const file = { ...dataFile(root), name: basename(root) };
    return { root, isFolder: false, tables: tablesOf(root, [file]), ignored: [] };
  }
  const { files, ignored } = dataFolder(root);
  if (files.length > MAX_FILES)
    throw unreadable(`${given} holds more than ${MAX_FILES} files: name a folder with fewer`);
  if (files.length === 0)
    throw unreadable(`${given} holds nothing to read: name a folder with files that end in ${KNOWN}`);
  return { root, isFolder: true, tables: tablesOf(root, files), ignored };
}

/** `message`: one line that says what is wrong with the file. */
export const unreadable = (message: string, cause?: unknown): SqlEngineError =>
  new SqlEngineError('not-found', message, { cause });

/** A folder's name as its writer encoded it, if it did. */
function decoded(text: string): string | null {
  if (text === '__HIVE_DEFAULT_PARTITION__') return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function partitionOf(name: string): SourceFile['partition'] {
  const folders = name.matchAll(/([^=/]+)=([^/]*)[/]/g);
  return Object.fromEntries(Array.from(folders, ([, key = '', value = '']) => [key, decoded(value)]));
}

/** Files `part-*`, and all in folders such as `year=2024`, are one table for each folder; any other file is a table of its own. */
function tablesOf(root: string, files: readonly DataFile[]): SourceTable[] {
  const groups = new Map<string, { words: string[]; format: DataFormat; files: SourceFile[] }>();
  for (const file of files) {
    const folders = dirname(file.name)
      .split('/')
      .filter((part) => part !== '.' && !/^[^=]+=/.test(part));
    const partition = partitionOf(file.name);
    const isPart = /^part[-_.]/i.test(basename(file.name)) || Object.keys(partition).length > 0;
    const own = basename(file.name).replace(/\.[^.]+(\.gz)?$/i, '');
    const words = isPart ? (folders.length > 0 ? folders : [basename(root)]) : [...folders, own];
    const format = dataFormat(file.name) ?? 'csv';
    const key = JSON.stringify([isPart ? null : file.name, words, format]);
    const group = groups.get(key) ?? { words, format, files: [] };
    group.files.push({ ...file, partition });
    groups.set(key, group);
  }
  const tables = [...groups.values()];
  const names = unique(tables.map(({ words }) => tableName(words.join('_'))));
  return tables.map(({ format, files: members }, index) => ({ name: names[index] ?? '', format, files: members }));
}

function tableName(text: string): string {
  const word = text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  return /^\p{N}/u.test(word) || word === '' ? `t_${word}` : word;
}

/** Names that differ, also where case does not count. */
export function unique(names: readonly string[]): string[] {
  const taken = new Set<string>();
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return names.map((name) => {
    let own = name;
    // A number that makes another name of the list would only move the clash.
    for (let n = 2; taken.has(own.toLowerCase()) || (own !== name && wanted.has(own.toLowerCase())); n += 1)
      own = `${name}_${n}`;
    taken.add(own.toLowerCase());
    return own;
  });
}
