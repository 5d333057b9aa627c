/**
 * `results.jsonl` of a batch: one line per question, appended as each ends.
 *
 * 1. The file is replaced in one step, never emptied: a killed run leaves what was there.
 * 2. What a run found stored is written whole before anything is appended, so a second run adds no doubles.
 * 3. One process at a time writes a folder.
 */
import { appendFileSync, accessSync, constants, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withFileLock } from '../workers/file-lock';
import type { ResultLine } from './batch-score';
import { UsageError } from './errors';

export const RESULTS = 'results.jsonl';
export const SUMMARY = 'summary.json';

/** The folder exists, can be written and is this process's own while `work` runs. */
export async function withResultFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  checkWritable(folder);
  return withFileLock(join(folder, '.gate-batch.lock'), work, {
    onWait: (holder) => {
      throw new UsageError(`--out ${folder}: process ${holder} is writing there; wait for it or give another folder`);
    },
  });
}

export class ResultFile {
  private readonly lines = new Map<string, ResultLine>();
  private appending = false;
  private readonly path: string;

  /** `order`: the ids of the questions, as the file lists them. */
  constructor(
    folder: string,
    private readonly order: readonly string[],
  ) {
    this.path = join(folder, RESULTS);
  }

  /** The later line of a question replaces the earlier one. */
  add(line: ResultLine): void {
    const known = this.lines.has(line.id);
    this.lines.set(line.id, line);
    if (!this.appending) return;
    if (known) this.rewrite();
    else appendFileSync(this.path, `${JSON.stringify(line)}\n`);
  }

  /** Writes all lines in the file's order; from now on each new one is appended. */
  rewrite(): void {
    replaceFile(
      this.path,
      this.all()
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    this.appending = true;
  }

  all(): ResultLine[] {
    return this.order.flatMap((id) => this.lines.get(id) ?? []);
  }
}

export function replaceFile(path: string, text: string): void {
  const fresh = `${path}.${String(process.pid)}.new`;
  writeFileSync(fresh, text);
  renameSync(fresh, path);
}

function checkWritable(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    const why = isFile(folder) || isFile(dirname(folder)) ? 'a file is in the way' : `it cannot be written (${code})`;
    throw new UsageError(`--out ${folder}: ${why}; give a folder that can be written`);
  }
}

/** One folder at a time: the recursive form of `mkdirSync` never returns where nothing can be made (`/proc`). */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}
