/**
 * `gate layer export`: a layer for people, and in formats of other tools. `gate layer import`: what a file claims of a
 * database is proved there, and only then kept.
 */
import { mkdirSync, writeFileSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Dialect } from '../domain';
import { dbtFiles, fileName, type CountedEntry, type DbtFile } from '../layer/dbt';
import { layerMarkdown } from '../layer/markdown';
import { ossieModel, claimedEntries, OssieError, type ClaimedEntry } from '../layer/ossie';
import { allHeld, isCounted, layerOf, type HeldEntry } from '../layer/state';
import { counted } from '../report/printable';
import { visibleLine } from '../text/clip';
import { GateError, UsageError } from '../app/errors';
import { EXIT, type ExitCode } from './exit';
import type { Io } from './io';
import { addRule, by, openLayer, type LayerFlags, type Opened } from './layer-run';
import { words } from './steer';
import { appendToLayer } from '../record/layer-store';
import { importEntries, type Imported } from '../roles/layer/import';
import { checkDatabase } from '../app/check-database';
import { onDatabase } from './interrupts';
import { sha256 } from '../app/services';

export interface ExportFlags extends LayerFlags {
  readonly format?: 'markdown' | 'ossie' | 'dbt';
  readonly out?: string;
}

export async function exportLayer(flags: ExportFlags, io: Io): Promise<void> {
  const { format = 'markdown', out } = flags;
  if (flags.json && (flags.format !== undefined || out !== undefined))
    throw new UsageError('--json prints everything as it is kept; give it without --format and --out');
  if (format === 'dbt' && out === undefined) throw new UsageError('dbt needs several files: give a folder with --out');
  const opened = await openLayer(flags, io);
  if (flags.json) {
    io.out(`${JSON.stringify(opened.layer, null, 2)}\n`);
    return;
  }
  const files = await filesOf(format, opened, io);
  if (out === undefined) {
    for (const { text } of files) io.out(text);
    return;
  }
  const folder = resolve(io.cwd, out);
  for (const { path, text } of files) {
    const file = join(folder, ...path.split('/'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  io.err(`${counted(files.length, 'file')} written to ${folder}\n`);
}

async function filesOf(format: 'markdown' | 'ossie' | 'dbt', opened: Opened, io: Io): Promise<readonly DbtFile[]> {
  const { layer, database } = opened;
  const name = fileName(database.name);
  if (format === 'markdown') return [{ path: `${name}.md`, text: layerMarkdown(database.name, layer) }];
  const active = allHeld(layer).filter(({ status }) => status === 'active');
  if (format === 'ossie') {
    if (active.length === 0) throw nothingToExport(database.name);
    const model = ossieModel(database.name, database.dialect, active);
    return [{ path: `${name}.ossie.json`, text: `${JSON.stringify(model, null, 2)}\n` }];
  }
  if (active.length === 0) throw nothingToExport(database.name);
  const entries = await withWidths(active.filter(isCounted), opened, io);
  return dbtFiles(database.name, database.schemas[0] ?? SCHEMA[database.dialect], active, entries);
}

/** Where names without a schema are looked up. */
const SCHEMA: Readonly<Record<Dialect, string>> = { postgresql: 'public', sqlite: 'main', snowflake: 'PUBLIC' };

function nothingToExport(name: string): GateError {
  return new GateError(`nothing kept of '${name}' is in use, so there is nothing to export; gate layer list --all`);
}

/** The checks run once, because only the database knows how many columns `SELECT *` gives. */
async function withWidths(entries: readonly HeldEntry[], opened: Opened, io: Io): Promise<readonly CountedEntry[]> {
  return onDatabase(opened, io, async ({ engines, signal }) => {
    const { engine } = await engines.engine(opened.database.name);
    const { results } = await engine.run(
      entries.map(({ entry }) => entry.check),
      { timeoutMs: 25_000, maxRows: 2, signal, tag: 'gate layer export' },
    );
    return entries.flatMap((held, at) => {
      const result = results[at];
      if (result?.kind === 'rows') return [{ held, width: result.columns.length }];
      const why = result === undefined || result.kind === 'timeout' ? 'no answer in time' : visibleLine(result.message);
      io.err(`${held.entry.entryId} is left out, its check does not run: ${why}\n`);
      return [];
    });
  });
}

const MAX_BYTES = 16 * 1024 * 1024;

export async function importLayer(file: string, flags: LayerFlags, io: Io): Promise<ExitCode> {
  const { claims, rules } = readClaims(file, io);
  const opened = await openLayer(flags, io);
  const told = await proveClaims(opened, claims, 'import', flags, io).catch((error: unknown) => {
    throw ofFile(file, error);
  });
  print(told, flags, io);
  if (rules > 0)
    io.err(
      `${counted(rules, 'rule')} that people stated ${rules === 1 ? 'is' : 'are'} left out: state here what holds here (gate layer add)\n`,
    );
  return told.every(({ outcome }) => outcome === 'kept' || outcome === 'known') ? EXIT.ok : EXIT.failed;
}

export interface AddFlags extends LayerFlags {
  readonly check?: string;
  readonly rival?: readonly string[];
  readonly rows?: string;
}

/** A person's statement: with a check it is a claim, and kept only if the rows show it; without one it is what they said. */
export async function addStatement(said: string, flags: AddFlags, io: Io): Promise<ExitCode> {
  const { check, rival = [], rows = '' } = flags;
  if (check === undefined) {
    if (rival.length > 0 || rows !== '')
      throw new UsageError('--rival and --rows say what --check counts: give it, too');
    await addRule(said, flags, io);
    return EXIT.ok;
  }
  const statement = words(said, 'statement');
  if (rival.length === 0)
    throw new UsageError(
      '--check proves nothing without a reading that could lose: give --rival for each that it counts',
    );
  const rivals = rival.map((reading) => ({ reading, refuted: true }));
  const claim = { entryId: 'new', statement, rows, scope: null, check, rivals, operator: null, restsOn: [] };
  const opened = await openLayer(flags, io);
  const told = await proveClaims(opened, [claim], 'add', flags, io);
  const [proved] = told;
  // Whoever states it stands behind its words; the rows stand behind its figures.
  if (proved?.outcome === 'kept' && proved.entryId !== null)
    await appendToLayer(opened.place, [{ kind: 'confirmed', entryId: proved.entryId, ...by(flags, io) }]);
  print(told, flags, io);
  return proved?.status === 'active' ? EXIT.ok : EXIT.failed;
}

async function proveClaims(
  opened: Opened,
  claims: readonly ClaimedEntry[],
  source: 'import' | 'add',
  flags: LayerFlags,
  io: Io,
): Promise<readonly Told[]> {
  const { database, events: before, place } = opened;
  return onDatabase(opened, io, async ({ engines, signal }) => {
    const description = await checkDatabase(engines, database.name);
    const { engine, inspector } = await engines.engine(database.name);
    const { imported, events } = await importEntries(claims, layerOf(before).entries, {
      ...{ engine, inspector, description, source, hash: sha256, signal, now: () => io.now() },
      timeoutMs: Math.round((flags.timeout ?? 25) * 1000),
    });
    await appendToLayer(place, events);
    const { entries } = layerOf([...before, ...events]);
    return imported.map((each) => {
      const isHeld = each.outcome === 'kept' || each.outcome === 'known';
      const held = isHeld ? entries.find(({ entry }) => entry.entryId === each.entryId) : undefined;
      return { ...each, status: held?.status ?? null, why: each.why ?? held?.why ?? null };
    });
  });
}

function readClaims(file: string, io: Io): ReturnType<typeof claimedEntries> {
  const path = resolve(io.cwd, file);
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined || !info.isFile()) throw new GateError(`${file}: there is no such file`);
  if (info.size > MAX_BYTES) throw new GateError(`${file}: larger than ${MAX_BYTES / 1024 / 1024} MiB`);
  try {
    const read = claimedEntries(readFileSync(path, 'utf8'));
    if (read.claims.length > 0) return read;
  } catch (error) {
    throw ofFile(file, error);
  }
  throw new GateError(`${file}: it has no entry with a check; what it says otherwise proves nothing`);
}

function ofFile(file: string, error: unknown): unknown {
  return error instanceof OssieError
    ? new GateError(`${file}: ${error.message}; nothing was imported`, 'failed', { cause: error })
    : error;
}

interface Told extends Imported {
  /** In the layer, if it is kept. */
  readonly status: string | null;
}

function print(told: readonly Told[], flags: LayerFlags, io: Io): void {
  if (flags.json) {
    io.out(`${JSON.stringify({ entries: told }, null, 2)}\n`);
    return;
  }
  for (const { entryId, statement, outcome, status, why, counts } of told) {
    const figures = counts === null ? [] : [`${counts.matching ?? '?'} of ${counts.examined ?? '?'}`];
    const more = [
      ...figures,
      ...(status === null || status === 'active' ? [] : [status]),
      ...(why === null ? [] : [why]),
    ];
    const line = `${entryId?.slice(0, 9) ?? 'no check'} ${outcome.replace('-', ' ')}: ${statement} (${more.join('; ')})`;
    io.out(`${visibleLine(line)}\n`);
  }
  const kept = told.filter(({ outcome }) => outcome === 'kept').length;
  io.out(`${kept} of ${counted(told.length, 'entry', 'entries')} kept\n`);
}
