/** Renders a search's report into a file and says where it is. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { loadTrace, renderReport } from '../report';
import { knownIdentity } from '../workers/database-aliases';
import { seenUnder } from './seen-databases';
import { sha256, type Services } from './services';

/**
 * Null when the store knows no such search. `db`: where an unconfigured database is, for the commands of the report; the
 * store remembers it where it is not given.
 */
export async function writeReport(
  { config, store }: Services,
  searchId: string,
  place: { readonly out?: string; readonly cwd?: string; readonly db?: string } = {},
): Promise<string | null> {
  const trace = await loadTrace(store, searchId, sha256);
  if (trace === null) return null;
  const name = trace.record?.database ?? trace.input?.question.database ?? '';
  const database =
    config.databases[name] === undefined ? (place.db ?? (await addressSeen(store, name, trace.input?.identity))) : name;
  const path =
    place.out === undefined ? join(reportsBeside(config), `${searchId}.html`) : resolve(place.cwd ?? '.', place.out);
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}.tmp`;
  // It holds rows: beside the store it is its owner's, as the store's own files are.
  await writeFile(fresh, renderReport(trace, { database }), place.out === undefined ? { mode: 0o600 } : {});
  await rename(fresh, path);
  return path;
}

/** The last address of the database that was asked, without a secret; null where the store does not remember it. */
async function addressSeen(
  store: Services['store'],
  name: string,
  identity: string | undefined,
): Promise<string | null> {
  for (const seen of (await seenUnder(store, name)).toReversed()) {
    if (identity === undefined || (await knownIdentity(store, seen.identity)) === identity) return seen.addressLabel;
  }
  return null;
}

function reportsBeside({ store, folders }: Services['config']): string {
  return join(store.kind === 'directory' ? dirname(store.directory) : folders.data, 'reports');
}
