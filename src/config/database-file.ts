/**
 * What kind of database a path is, by what stands there: an SQLite or DuckDB file, or data files (CSV, Parquet, JSON; one, or a
 * folder of them), which DuckDB reads.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import type { Dialect } from '../domain/question';
import { dataFile, dataFolder, dataFormat, isSpreadsheet, SPREADSHEET } from '../data-file';
import { ConfigError } from './file';

export interface DatabaseFile {
  readonly dialect: Extract<Dialect, 'sqlite' | 'duckdb'>;
  /** A real path. */
  readonly path: string;
  /** Changes when another file takes its place, or when data files change. */
  readonly version: string;
}

const isData = (path: string): boolean => dataFormat(path) !== null;

/** What is taken for a path although no such file exists. */
export const isFileName = (path: string): boolean => isData(path) || /\.(?:db|db3|sqlite|sqlite3|duckdb)$/i.test(path);

/** Of a file that need not exist. */
export const dialectOfName = (path: string): DatabaseFile['dialect'] =>
  isData(path) || /\.duckdb$/i.test(path) ? 'duckdb' : 'sqlite';

const HEADERS = [
  { dialect: 'sqlite', at: 0, text: 'SQLite format 3\0' },
  { dialect: 'duckdb', at: 8, text: 'DUCK' },
] as const;

/** Throws `ConfigError` with one line that says what to change. */
export function databaseFile(given: string): DatabaseFile {
  try {
    const path = realpathSync(given);
    const info = statSync(path, { bigint: true });
    if (info.isDirectory()) {
      if (dataFolder(path).files.length === 0)
        throw fail(
          `${given} is a folder without CSV, Parquet or JSON files; name a database file in it, or another folder`,
        );
      return file(path, 'duckdb');
    }
    if (!info.isFile()) throw fail(`${given} is not a regular file; name a database file`);
    const found = dialectIn(path, info.ino);
    if (found !== undefined) return file(path, found);
    if (isData(path)) return file(path, 'duckdb');
    // An empty file is an SQLite database without tables.
    if (info.size === 0n) return file(path, 'sqlite');
    if (isSpreadsheet(path)) throw fail(`${given} is ${SPREADSHEET}`);
    throw fail(
      `${given} is neither an SQLite nor a DuckDB database, and by its name no CSV, Parquet or JSON file; if it holds a table as text, name it .csv`,
    );
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code = 'error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw fail(`no file ${given.replace(/:[^@]*@/, ':***@')}; correct the path of the database`);
    throw fail(`cannot read ${given} (${code}); check its permissions`);
  }
}

const file = (path: string, dialect: DatabaseFile['dialect']): DatabaseFile => ({
  dialect,
  path,
  version: fileVersion(path),
});

/** `path` exists. A database changes by its own means, so only another file at its place counts; data files by size and time. */
export function fileVersion(path: string): string {
  const info = statSync(path, { bigint: true });
  if (!info.isDirectory() && !isData(path)) return `${info.ino} ${info.birthtimeNs}`;
  const files = info.isDirectory() ? dataFolder(path).files : [dataFile(path)];
  const hash = createHash('sha256');
  for (const each of files) hash.update(`${each.path} ${each.bytes} ${each.modifiedMs}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** Those asked for last are last. */
const held = new Map<string, { readonly ino: bigint; readonly open: number }>();
/** A process may have few files open, 1,024 or less. */
const MOST_HELD = 100;

/**
 * A database stays open until another file is at its place, or many others were asked for: closing it would drop the locks
 * (POSIX) that this process has on it, where it writes it itself.
 */
function dialectIn(path: string, ino: bigint): DatabaseFile['dialect'] | undefined {
  const before = held.get(path);
  const open = before?.ino === ino ? before.open : openSync(path, 'r');
  const buffer = Buffer.alloc(20);
  const head = buffer.toString('latin1', 0, readSync(open, buffer, 0, buffer.length, 0));
  const found = HEADERS.find(({ at, text }) => head.startsWith(text, at));
  held.delete(path);
  if (before !== undefined && before.open !== open) closeSync(before.open);
  if (found === undefined) closeSync(open);
  else held.set(path, { ino, open });
  const [oldest] = held;
  if (oldest !== undefined && held.size > MOST_HELD) {
    held.delete(oldest[0]);
    closeSync(oldest[1].open);
  }
  return found?.dialect;
}

function fail(message: string): ConfigError {
  return new ConfigError([`database: ${message}`]);
}
