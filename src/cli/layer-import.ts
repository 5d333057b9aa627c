/** `gate layer import`: what a file claims of a database is proved there, and only then kept. */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { claimedEntries, OssieError, type ClaimedEntry } from '../layer/ossie';
import { layerOf } from '../layer/state';
import { appendToLayer } from '../record/layer-store';
import { counted } from '../report/printable';
import { importEntries, type Imported } from '../steps/import-entries';
import { visibleLine } from '../text/visible';
import { checkDatabase } from './check-database';
import { CommandFailed, EXIT, type ExitCode } from './errors';
import type { Io } from './io';
import { onDatabase, openLayer, type LayerFlags } from './layer-run';
import { sha256 } from './services';

const MAX_BYTES = 16 * 1024 * 1024;

export async function importLayer(file: string, flags: LayerFlags, io: Io): Promise<ExitCode> {
  const claims = readClaims(file, io);
  const opened = await openLayer(flags, io);
  const { database, events: before, place } = opened;
  return onDatabase(opened, io, async ({ engines, signal }) => {
    const description = await checkDatabase(engines, database.name);
    const { engine, inspector } = await engines.engine(database.name);
    const { imported, events } = await importEntries(claims, layerOf(before).entries, {
      ...{ engine, inspector, description, hash: sha256, signal, now: () => io.now() },
      timeoutMs: Math.round((flags.timeout ?? 25) * 1000),
    }).catch((error: unknown) => {
      throw ofFile(file, error);
    });
    await appendToLayer(place, events);
    const { entries } = layerOf([...before, ...events]);
    const told = imported.map((each) => {
      const held = each.outcome === 'kept' ? entries.find(({ entry }) => entry.entryId === each.entryId) : undefined;
      return { ...each, status: held?.status ?? null, why: each.why ?? held?.why ?? null };
    });
    print(told, flags, io);
    return told.every(({ outcome }) => outcome === 'kept' || outcome === 'known') ? EXIT.ok : EXIT.failed;
  });
}

function readClaims(file: string, io: Io): readonly ClaimedEntry[] {
  const path = resolve(io.cwd, file);
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined || !info.isFile()) throw new CommandFailed(`${file}: there is no such file`);
  if (info.size > MAX_BYTES) throw new CommandFailed(`${file}: larger than ${MAX_BYTES / 1024 / 1024} MiB`);
  try {
    const claims = claimedEntries(readFileSync(path, 'utf8'));
    if (claims.length > 0) return claims;
  } catch (error) {
    throw ofFile(file, error);
  }
  throw new CommandFailed(`${file}: it has no entry with a check; what it says otherwise proves nothing`);
}

function ofFile(file: string, error: unknown): unknown {
  return error instanceof OssieError
    ? new CommandFailed(`${file}: ${error.message}; nothing was imported`, EXIT.failed, { cause: error })
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
