/**
 * `gate-bench data`: where the data of benchmarks come from, and how they get into a folder. A file whose hash is known beforehand
 * (`data-sources.ts`) is refused if it has another.
 */
import { createReadStream, createWriteStream, existsSync, mkdirSync, statSync } from 'node:fs';
import { copyFile, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { openPromise } from 'yauzl';
import { download as webDownload } from '../src/adapters/web/download';
import { QuestionFileError } from '../src/questions';
import { BenchmarkDataError } from './benchmark';
import { BENCHMARKS } from './boards';
import { DATA_SOURCES, type DataSource } from './data-sources';
import { each } from '../src/limiter';
import { counted } from '../src/report/printable';
import { sha256OfFile } from '../src/sha256';
import { GateError, UsageError } from '../src/app/errors';
import { EXIT, type ExitCode } from '../src/cli/exit';
import type { Io } from '../src/cli/io';

export interface DataFlags {
  readonly dir?: string;
  readonly from?: string;
  readonly json?: boolean;
}

export function listData({ json }: DataFlags, io: Io): void {
  if (json) {
    io.out(`${JSON.stringify(DATA_SOURCES, null, 2)}\n`);
    return;
  }
  for (const [name, { home, licence, downloads, byHand }] of Object.entries(DATA_SOURCES)) {
    const fetched = downloads.length === 0 ? [] : [`fetched: ${downloads.map(({ url }) => url).join(', ')}`];
    const lines = [`licence: ${licence}`, ...fetched, ...byHand.map((line) => `by hand: ${line}`)];
    io.out(`${name}  ${home}\n${lines.map((line) => `  ${line}\n`).join('')}`);
  }
}

export async function fetchData(name: string, flags: DataFlags, io: Io, download = webDownload): Promise<ExitCode> {
  const source = sourceOf(name);
  const folder = folderOf(name, flags, io);
  mkdirSync(folder, { recursive: true });
  const from = flags.from === undefined ? null : resolve(io.cwd, flags.from);
  if (from === null && source.downloads.length === 0)
    throw new GateError(`${name} cannot be downloaded: ${source.byHand.join('; ')}; then give its folder with --from`);
  io.err(`licence: ${source.licence}\n`);
  if (from === null) await downloaded(source, folder, io, download);
  else await copied(localFolder(source, from), folder);
  await unpackAll(source, folder);
  const wrong = await unexpected(source, folder);
  if (wrong.length > 0) throw new GateError(`${wrong.join('; ')}: not the published files`);
  io.out(`${folder}: ${counted((await filesIn(folder)).length, 'file')}\n`);
  for (const line of source.byHand) io.err(`by hand: ${line}\n`);
  const lacking = await lackIn(name, folder);
  if (lacking !== null) io.err(`it cannot be used yet: ${lacking}\n`);
  return EXIT.ok;
}

/** The reason why none of the benchmark's splits can be read there; null: one can. */
async function lackIn(name: string, folder: string): Promise<string | null> {
  const benchmark = await BENCHMARKS[name]?.();
  const reasons: string[] = [];
  for (const split of benchmark?.splits ?? [])
    try {
      await benchmark?.open(folder, { split });
      return null;
    } catch (error) {
      if (!(error instanceof BenchmarkDataError || error instanceof QuestionFileError)) throw error;
      reasons.push(error.message);
    }
  return reasons[0] ?? null;
}

function sourceOf(name: string): DataSource {
  const source = DATA_SOURCES[name];
  if (source === undefined) throw new UsageError(`no data of ${name} are known; gate-bench data list shows which are`);
  return source;
}

const folderOf = (name: string, { dir = name }: DataFlags, io: Io): string => resolve(io.cwd, dir);

async function downloaded(source: DataSource, folder: string, io: Io, download: typeof webDownload): Promise<void> {
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort(new GateError('stopped', 'cancelled')));
  try {
    for (const { url, path, sha256, maxMb } of source.downloads) {
      const to = join(folder, path);
      if (sha256 !== null && existsSync(to) && (await sha256OfFile(to)) === sha256) continue;
      mkdirSync(dirname(to), { recursive: true });
      io.err(`${url}\n`);
      await download(url, { to, maxBytes: maxMb * 1e6, signal: stop.signal });
    }
  } finally {
    stopListening();
  }
}

/** The folder itself, or the one that a collection keeps for this benchmark. */
function localFolder({ folders }: DataSource, from: string): string {
  if (!isFolder(from)) throw new UsageError(`--from ${from}: it is no folder`);
  return folders.map((name) => join(from, name)).find(isFolder) ?? from;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

async function copied(from: string, to: string): Promise<void> {
  if (to === from || to.startsWith(from + sep))
    throw new UsageError(`--dir ${to} lies in --from ${from}: give another`);
  for (const file of await filesIn(from)) {
    const target = join(to, relative(from, file));
    mkdirSync(dirname(target), { recursive: true });
    await copyFile(file, target);
  }
}

/** All files of a folder, without links, which could lead anywhere. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

/** An archive may hold archives, as BIRD's holds that of its databases, but not one in another for ever. */
const MOST_LAYERS = 3;

async function unpackAll({ downloads }: DataSource, folder: string): Promise<void> {
  for (let layer = 0; layer < MOST_LAYERS; layer += 1) {
    const files = await filesIn(folder);
    for (const file of files) {
      if (/\.(?:sqlite|db|jsonl?|csv)\.gz$/.test(file)) {
        const limit = limited(MOST_UNPACKED_BYTES, file);
        await pipeline(createReadStream(file), createGunzip(), limit, createWriteStream(file.slice(0, -'.gz'.length)));
        await rm(file);
      } else if (file.endsWith('.zip')) {
        const isWhole = files.length === 1 || downloads.some(({ path }) => join(folder, path) === file);
        await unzip(file, dirname(file), isWhole);
        await rm(file);
      }
    }
  }
}

const MOST_UNPACKED_BYTES = 40e9;

/** A pipeline's step that lets so many bytes through. */
function limited(maxBytes: number, file: string) {
  let bytes = 0;
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new GateError(`${file} unpacks to more than ${maxBytes / 1e9} GB`);
      yield chunk;
    }
  };
}

/** Files that macOS adds to an archive. */
const isAdded = (name: string): boolean => name.startsWith('__MACOSX/') || name.split('/').at(-1) === '.DS_Store';

/** Names that lead out of the folder are refused by yauzl. `isWhole`: it holds all the data, so a folder around them is left out. */
async function unzip(file: string, folder: string, isWhole: boolean): Promise<void> {
  const names: string[] = [];
  for await (const { fileName } of (await openPromise(file)).eachEntry()) if (!isAdded(fileName)) names.push(fileName);
  const [root = ''] = names[0]?.split('/') ?? [];
  const strip = isWhole && names.every((name) => name.startsWith(`${root}/`)) ? root.length + 1 : 0;
  const zip = await openPromise(file);
  let left = MOST_UNPACKED_BYTES;
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName.slice(strip);
    if (isAdded(entry.fileName) || name === '' || name.endsWith('/')) continue;
    left -= entry.uncompressedSize;
    if (left < 0) throw new GateError(`${file} unpacks to more than ${MOST_UNPACKED_BYTES / 1e9} GB`);
    const target = join(folder, name);
    mkdirSync(dirname(target), { recursive: true });
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target));
  }
}

async function unexpected({ downloads }: DataSource, folder: string): Promise<string[]> {
  const found = await each(downloads, async ({ path, sha256 }) => {
    const file = join(folder, path);
    const isOther = sha256 !== null && existsSync(file) && (await sha256OfFile(file)) !== sha256;
    return isOther ? [`${path} has another hash than published`] : [];
  });
  return found.flat();
}
