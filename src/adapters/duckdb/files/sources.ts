/**
 * Which files are read, and into which tables. No link is followed out of the folder, and no name is read by a rule that
 * the report does not tell: whatever is left out is named with the reason.
 */
import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { SqlEngineError } from '../../../domain/ports/sql-engine';
import { dataFormat, type DataFormat } from '../../../data-file';
import type { Ignored } from './report';

export interface SourceFile {
  /** Real path. */
  readonly path: string;
  /** Relative to the source, with `/`. */
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  /** Of folders such as `year=2024`. */
  readonly partition: Readonly<Record<string, string>>;
}

export interface SourceTable {
  readonly name: string;
  readonly format: DataFormat;
  readonly files: readonly SourceFile[];
}

export interface Sources {
  readonly root: string;
  readonly isFolder: boolean;
  readonly tables: readonly SourceTable[];
  readonly ignored: readonly Ignored[];
}

const KNOWN = '.csv, .tsv, .json, .jsonl, .ndjson (each also .gz) or .parquet';
const MAX_FILES = 10_000;

/** `given`: a file or a folder. Looks at names, sizes and times alone. */
export async function listSources(given: string): Promise<Sources> {
  const root = await realpath(given).catch((error: unknown) => {
    throw new SqlEngineError('not-found', `there is no file or folder ${given}: check the path`, { cause: error });
  });
  const found = await stat(root);
  if (!found.isDirectory()) {
    if (!found.isFile())
      throw new SqlEngineError('not-found', `${given} is no ordinary file: name one that ends in ${KNOWN}`);
    if (dataFormat(root) === null)
      throw new SqlEngineError('not-found', `cannot read ${given}: name a file that ends in ${KNOWN}`);
    const file = { path: root, name: basename(root), bytes: found.size, modifiedMs: found.mtimeMs, partition: {} };
    return { root, isFolder: false, tables: tablesOf(root, [file]), ignored: [] };
  }
  const files: SourceFile[] = [];
  const ignored: Ignored[] = [];
  await walk(root, root, files, ignored);
  if (files.length > MAX_FILES)
    throw new SqlEngineError('not-found', `${given} holds more than ${MAX_FILES} files: name a folder with fewer`);
  if (files.length === 0)
    throw new SqlEngineError(
      'not-found',
      `${given} holds nothing to read: name a folder with files that end in ${KNOWN}`,
    );
  return { root, isFolder: true, tables: tablesOf(root, files), ignored };
}

async function walk(root: string, folder: string, files: SourceFile[], ignored: Ignored[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const at = join(folder, entry.name);
    const name = relative(root, at).split(sep).join('/');
    const found = await look(root, at, entry);
    if (typeof found === 'string') ignored.push({ file: name, reason: found });
    else if (found === null) await walk(root, at, files, ignored);
    else files.push({ ...found, name, partition: partitionOf(name) });
    if (files.length > MAX_FILES) return;
  }
}

/** The file; null: a folder to walk through; or the reason why it is left out. */
async function look(root: string, at: string, entry: Dirent) {
  if (entry.name.startsWith('.')) return 'hidden';
  if (entry.isDirectory()) return null;
  if (dataFormat(entry.name) === null) return 'its ending is not one of data';
  const path = await realpath(at).catch(() => null);
  if (path === null) return 'a link to nothing';
  // A link to a folder is no file either: it may lead round in a circle.
  if (!path.startsWith(root + sep)) return 'a link that leads out of the folder';
  const found = await stat(path);
  return found.isFile() ? { path, bytes: found.size, modifiedMs: found.mtimeMs } : 'no ordinary file';
}

const PARTITION = /^([^=/]+)=([^/]*)$/;

/** A folder's name as its writer encoded it, if it did. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function partitionOf(name: string): Record<string, string> {
  const parts = name.split('/').slice(0, -1);
  return Object.fromEntries(
    parts.flatMap((part) => {
      const found = PARTITION.exec(part);
      return found === null ? [] : [[found[1] ?? '', decoded(found[2] ?? '')]];
    }),
  );
}

/** Files `part-*`, and all in folders such as `year=2024`, are one table for each folder; any other file is a table of its own. */
function tablesOf(root: string, files: readonly SourceFile[]): SourceTable[] {
  const groups = new Map<string, SourceFile[]>();
  for (const file of files) {
    const folders = dirname(file.name)
      .split('/')
      .filter((part) => part !== '.' && !PARTITION.test(part));
    const isPart = /^part[-_.]/i.test(basename(file.name)) || Object.keys(file.partition).length > 0;
    const own = basename(file.name)
      .replace(/(\.gz)?$/i, '')
      .replace(/\.[^.]+$/, '');
    const words = isPart ? (folders.length > 0 ? folders : [basename(root)]) : [...folders, own];
    const key = JSON.stringify([isPart ? null : file.name, words, dataFormat(file.name)]);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const named = [...groups].map(([key, members]) => ({ words: (JSON.parse(key) as [unknown, string[]])[1], members }));
  const names = unique(named.map(({ words }) => tableName(words.join('_'))));
  return named.map(({ members }, index) => ({
    name: names[index] ?? '',
    format: dataFormat(members[0]?.path ?? '') ?? 'csv',
    files: members,
  }));
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
