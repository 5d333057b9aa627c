/** Data files: which they are by their names, and those of a folder. What an import reads and what the version of a folder counts is one list. */
import { readdirSync, realpathSync, statSync, type Dirent } from 'node:fs';
import { join, relative, sep } from 'node:path';

export type DataFormat = 'csv' | 'json' | 'parquet';

const ENDINGS: readonly (readonly [RegExp, DataFormat])[] = [
  [/\.(csv|tsv)(\.gz)?$/i, 'csv'],
  [/\.(json|jsonl|ndjson|geojson)(\.gz)?$/i, 'json'],
  [/\.parquet$/i, 'parquet'],
];

/** Null: it is none. */
export function dataFormat(path: string): DataFormat | null {
  return ENDINGS.find(([ending]) => ending.test(path))?.[1] ?? null;
}

export const isSpreadsheet = (path: string): boolean => /\.(xls|xls[xmb]|ods|numbers)$/i.test(path);
export const SPREADSHEET = 'a spreadsheet: save each sheet of it as CSV (in Excel: CSV UTF-8)';

export interface DataFile {
  /** Real path. */
  readonly path: string;
  /** Relative to the folder, with `/`. */
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

export interface DataFolder {
  readonly files: readonly DataFile[];
  readonly ignored: readonly { readonly file: string; readonly reason: string }[];
}

/** Beside data files it is none of them. */
const CONFIG_FILE = 'gate.config.json';

/** In a folder and below it, in the order of their names. `folder` is a real path. Looks at names, sizes and times alone. */
export function dataFolder(folder: string): DataFolder {
  const files: DataFile[] = [];
  const ignored: { file: string; reason: string }[] = [];
  const walk = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(at, entry.name);
      const name = relative(folder, path).split(sep).join('/');
      const found = look(folder, path, entry);
      if (typeof found === 'string') ignored.push({ file: name, reason: found });
      else if (found === null) walk(path);
      else files.push({ ...found, name });
    }
  };
  walk(folder);
  return { files, ignored };
}

export function dataFile(path: string): Omit<DataFile, 'name'> {
  const { size, mtimeMs } = statSync(path);
  return { path, bytes: size, modifiedMs: mtimeMs };
}

/** The file; null: a folder to walk through; or the reason why it is left out. */
function look(folder: string, at: string, entry: Dirent): Omit<DataFile, 'name'> | string | null {
  if (entry.name.startsWith('.')) return 'hidden';
  if (entry.isDirectory()) return null;
  if (entry.name === CONFIG_FILE) return 'the configuration of gate';
  if (dataFormat(entry.name) === null) return isSpreadsheet(entry.name) ? SPREADSHEET : 'its ending is not one of data';
  let path = at;
  if (entry.isSymbolicLink()) {
    if (statSync(at, { throwIfNoEntry: false }) === undefined) return 'a link to nothing';
    path = realpathSync(at);
  }
  // A link to a folder is no file either: it may lead round in a circle.
  if (!path.startsWith(folder + sep)) return 'a link that leads out of the folder';
  return statSync(path).isFile() ? dataFile(path) : 'no ordinary file';
}
