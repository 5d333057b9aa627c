/** The record of a search for a person: its trace, its report, how it differs from another one. Temporal is not asked. */
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  loadSide,
  loadTrace,
  renderReport,
  searchDiff,
  tokensOf,
  type SearchDiff,
  type SearchTokens,
  type Trace,
} from '../report';
import { createRunStore } from '../record/run-store';
import { replaceFile } from '../replace-file';
import type { App } from './app';
import { findSearch, unknownSearch } from './searches';

/** Everything that the store holds of a search. */
export async function traceOf(wanted: string, { store }: Pick<App, 'store'>): Promise<Trace> {
  const id = await findSearch(store, wanted);
  const trace = await loadTrace(store, id);
  if (trace === null) throw unknownSearch(id);
  return trace;
}

/** What its calls cost by part of their prompts. */
export async function tokensBy(
  wanted: string,
  { store }: Pick<App, 'store'>,
): Promise<SearchTokens & { readonly id: string }> {
  const id = await findSearch(store, wanted);
  const run = createRunStore(store, id);
  const [intents, replies] = await Promise.all([run.all('intent'), run.all('reply')]);
  return { id, ...tokensOf(intents, replies) };
}

/** How two searches differ: settings, the first iteration that differs, answers. */
export async function difference(wantedA: string, wantedB: string, { store }: Pick<App, 'store'>): Promise<SearchDiff> {
  const side = async (wanted: string) => {
    const id = await findSearch(store, wanted);
    const found = await loadSide(store, id);
    if (found === null) throw unknownSearch(id);
    return found;
  };
  return searchDiff(...(await Promise.all([side(wantedA), side(wantedB)])));
}

/** The report of a search as one HTML file. `db`: where an unconfigured database is. */
export async function reported(
  wanted: string,
  { config, store }: Pick<App, 'config' | 'store'>,
  db: string | null = null,
): Promise<{ readonly text: string; readonly searchId: string }> {
  const trace = await traceOf(wanted, { store });
  const name = trace.record?.database ?? trace.input?.question.database ?? '';
  const database = config.databases[name] === undefined ? db : name;
  return { text: renderReport(trace, { database }), searchId: trace.searchId };
}

/**
 * Writes the report of a search, one HTML file that works offline, and gives its path. `out`: default the folder `reports`
 * beside the store. `db`: where an unconfigured database is, for the commands of the report; the store remembers it where it
 * is not given.
 */
export async function writeReport(
  wanted: string,
  { config, store, cwd }: Pick<App, 'config' | 'store' | 'cwd'>,
  { out, db = null }: { readonly out?: string; readonly db?: string | null } = {},
): Promise<string> {
  const { text, searchId } = await reported(wanted, { config, store }, db);
  const { store: at, folders } = config;
  const folder = join(at.kind === 'directory' ? dirname(at.directory) : folders.data, 'reports');
  const path = out === undefined ? join(folder, `${searchId}.html`) : resolve(cwd, out);
  mkdirSync(dirname(path), { recursive: true });
  // It holds rows: beside the store it is its owner's, as the store's own files are.
  replaceFile(path, text, out === undefined ? { mode: 0o600 } : {});
  return path;
}
