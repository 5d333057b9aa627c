/**
 * Which database each name meant when it was last asked here. The store keeps it, so that a name that means another
 * database now (another folder, a changed URL, a replaced file) is said and never answered from what the one before was asked.
 */
import { z } from 'zod';
import type { ResolvedDatabase } from '../config/databases';
import type { ObjectStore } from '../ports';
import { sha256 } from '../sha256';
import { readEnvelope, writeEnvelope } from '../record/run-store';
import { identityChain, knownIdentity } from '../workers/database-aliases';
import { cut, visible } from '../report/printable';

const KIND = 'seen-database';
/** Of one name: whoever asks of many databases under one name adopts one of the last. */
const KEPT = 20;

const SeenDatabase = z.object({
  identity: z.string(),
  addressLabel: z.string(),
  /** Of its schema (`DatabaseDescription`). */
  fingerprint: z.string(),
  seenAt: z.string(),
});
export type SeenDatabase = z.infer<typeof SeenDatabase>;
/** Each identity once, the one that was asked last at the end. */
const Seen = z.object({ schemaVersion: z.literal(1), name: z.string(), databases: z.array(SeenDatabase) });

type Named = Pick<ResolvedDatabase, 'name' | 'identity' | 'addressLabel'>;

export async function seenUnder(store: ObjectStore, name: string): Promise<readonly SeenDatabase[]> {
  const key = keyOf(name);
  const text = await store.get(key);
  return text === null ? [] : readEnvelope(text, { key, kind: KIND, schema: Seen, hash: sha256 }).databases;
}

/** `fingerprint`: of the schema as it is; null where nobody looked, and then only a database that is known moves to the end. */
export async function noteSeen(
  store: ObjectStore,
  { name, identity, addressLabel }: Named,
  fingerprint: string | null,
  nowMs: number,
): Promise<void> {
  const before = await seenUnder(store, name);
  const known = before.find((one) => one.identity === identity);
  const schema = fingerprint ?? known?.fingerprint;
  if (schema === undefined) return;
  const last = before.at(-1);
  if (last?.identity === identity && last.addressLabel === addressLabel && last.fingerprint === schema) return;
  const now = { identity, addressLabel, fingerprint: schema, seenAt: new Date(nowMs).toISOString() };
  const databases = [...before.filter((one) => one !== known), now].slice(-KEPT);
  await store.put(keyOf(name), writeEnvelope(KIND, { schemaVersion: 1, name, databases }, sha256), { overwrite: true });
}

export interface Recognised {
  /** Itself, what it stands for, and so on: searches are known by the last one. */
  readonly chain: readonly [string, ...string[]];
  /** What it is known by. */
  readonly known: string;
  /** One line where the name meant another database when it was last asked; else null. */
  readonly notice: string | null;
}

export async function recognise(store: ObjectStore, database: Named): Promise<Recognised> {
  const [chain, seen] = await Promise.all([identityChain(store, database.identity), seenUnder(store, database.name)]);
  const known = chain.at(-1) ?? database.identity;
  const last = seen.at(-1);
  if (last === undefined || last.identity === database.identity) return { chain, known, notice: null };
  const isSame = (await knownIdentity(store, last.identity)) === known;
  return { chain, known, notice: isSame ? null : changedLine(last, database) };
}

/** By name. */
export async function recogniseAll(
  store: ObjectStore,
  databases: readonly Named[],
): Promise<ReadonlyMap<string, Recognised>> {
  return new Map(await Promise.all(databases.map(async (one) => [one.name, await recognise(store, one)] as const)));
}

function changedLine(before: SeenDatabase, now: Named): string {
  const id = 'if it moves often, give it an "id" in the configuration';
  return `'${now.name}' ${whatChanged(before, now)}; it counts as another database (if it only moved: gate db adopt ${now.name}; ${id})`;
}

const HASHED = /^d-[0-9a-f]{16}$/;

/** Follows on the name. */
export function whatChanged(before: SeenDatabase, now: Pick<Named, 'identity' | 'addressLabel'>): string {
  const [was, is] = [before, now].map(({ addressLabel }) => visible(cut(addressLabel, 200)));
  if (was !== is) return `was ${was ?? ''} and is now ${is ?? ''}`;
  if (!HASHED.test(now.identity)) return `(${is ?? ''}) has the id ${now.identity} now`;
  if (!HASHED.test(before.identity)) return `(${is ?? ''}) no longer has the id ${before.identity}`;
  if (/^[a-z]+:\/\//.test(now.addressLabel)) return `(${is ?? ''}) has other options in its URL now`;
  return `(${is ?? ''}) is another file now than on ${before.seenAt.slice(0, 10)}`;
}

function keyOf(name: string): string {
  return `databases/names/${encodeURIComponent(name)}.json`;
}
