/**
 * Aliases of database identities: `gate db adopt` records one when a database only moved (docs/databases.md). Searches, caches
 * and memory are kept under the oldest identity of a database, so that all of them are found again.
 *
 * 1. An alias is written once and never changed: an identity has at most one.
 * 2. Two simultaneous adoptions could make a cycle of aliases. Following it stops where it began.
 */
import { z } from 'zod';
import type { ObjectStore } from '../ports';
import { sha256 } from '../sha256';
import { readStored, writeEnvelope } from '../record/run-store';

const KIND = 'database-alias';
const Alias = z.object({
  schemaVersion: z.literal(1),
  identity: z.string(),
  standsFor: z.string(),
  /** What it was called when it was adopted. */
  name: z.string(),
  adoptedAt: z.string(),
});
export type Alias = z.infer<typeof Alias>;

/** The identity itself, what it stands for, and so on; searches are known by the last one. */
export async function identityChain(store: ObjectStore, identity: string): Promise<readonly [string, ...string[]]> {
  const chain: [string, ...string[]] = [identity];
  for (;;) {
    const alias = await aliasOf(store, chain.at(-1) ?? identity);
    if (alias === null || chain.includes(alias.standsFor)) return chain;
    chain.push(alias.standsFor);
  }
}

/** The one that searches and caches are kept under. */
export async function knownIdentity(store: ObjectStore, identity: string): Promise<string> {
  return (await identityChain(store, identity)).at(-1) ?? identity;
}

/** A `conflict` of the store: it stands for another one already. */
export async function addAlias(store: ObjectStore, alias: Omit<Alias, 'schemaVersion'>): Promise<void> {
  await store.put(keyOf(alias.identity), writeEnvelope(KIND, { schemaVersion: 1, ...alias }, sha256));
}

function aliasOf(store: ObjectStore, identity: string): Promise<Alias | null> {
  return readStored(store, { key: keyOf(identity), kind: KIND, schema: Alias, hash: sha256 });
}

function keyOf(identity: string): string {
  return `databases/aliases/${encodeURIComponent(identity)}.json`;
}
