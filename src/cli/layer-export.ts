/** `gate layer export`: a layer for people, and in formats of other tools. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Dialect } from '../domain';
import { dbtFiles, fileName, type CountedEntry, type DbtFile } from '../layer/dbt';
import { layerMarkdown } from '../layer/markdown';
import { ossieModel } from '../layer/ossie';
import type { HeldEntry } from '../layer/state';
import { counted } from '../report/printable';
import { visibleLine } from '../text/visible';
import { CommandFailed, UsageError } from './errors';
import type { Io } from './io';
import { onDatabase, openLayer, type LayerFlags, type Opened } from './layer-run';

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
  const active = layer.entries.filter(({ status }) => status === 'active');
  if (format === 'ossie') {
    if (active.length === 0) throw nothingToExport(database.name);
    const model = ossieModel(database.name, database.dialect, active);
    return [{ path: `${name}.ossie.json`, text: `${JSON.stringify(model, null, 2)}\n` }];
  }
  if (active.length === 0) throw nothingToExport(database.name);
  const entries = await withWidths(active, opened, io);
  return dbtFiles(database.name, database.schemas[0] ?? SCHEMA[database.dialect], entries);
}

/** Where names without a schema are looked up. */
const SCHEMA: Readonly<Record<Dialect, string>> = { postgresql: 'public', sqlite: 'main', snowflake: 'PUBLIC' };

function nothingToExport(name: string): CommandFailed {
  return new CommandFailed(`no entry of '${name}' is in use, so there is nothing to export; gate layer list --all`);
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
