/** The DuckDB file that is opened: the given one, or the one that was made of data files (`index.ts`), newly where they changed. */
import { existsSync, rmSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { DataFiles } from '../../../domain';
import { dataFormat } from '../../../data-file';
import { checkDatabaseFile } from '../../kit/file-check';
import type { FileSource } from '../../kit/file-engine';
import { duckdb } from '../errors';
import { importFiles, type Imported } from '.';
import { howRead } from './report';

export interface Source extends FileSource {
  /** What was read how; null: it is a database. */
  files(signal: AbortSignal): Promise<DataFiles | null>;
}

/** `cacheFolder` null: what is made of data files is kept in a temporary folder, until it is closed. */
export function openSource(shown: string, cacheFolder: string | null): Source {
  const path = resolve(shown);
  let temporary: Promise<string> | null = null;

  /** Null: it is a database. */
  async function imported(signal: AbortSignal): Promise<Imported | null> {
    if (dataFormat(path) === null && !isFolder(path)) return null;
    return importFiles(path, { cacheFolder: cacheFolder ?? (await (temporary ??= temporaryFolder())), signal });
  }

  return {
    async path(signal) {
      const made = await imported(signal);
      if (made === null) await checkDatabaseFile(duckdb, shown, path);
      return made?.path ?? path;
    },
    pathAgain: async (signal) => (await imported(signal))?.path ?? path,
    async files(signal) {
      const made = await imported(signal);
      if (made === null) return null;
      const tables = made.tables.map((table) => ({ name: table.name, text: howRead(table) }));
      const ignored = made.ignored.map(({ file, reason }) => ({ name: file, text: `not read: ${reason}` }));
      return { asOf: made.asOf, tables: [...tables, ...ignored] };
    },
    async close() {
      const folder = await temporary;
      temporary = null;
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What is wrong with a path that is not there is said by whoever reads it. */
const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/** Removed at the end of this process, if nobody does before. */
async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gate-files-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
