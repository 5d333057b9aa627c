/**
 * Pairs of updates that a judge called contradictory, and what a person decided about them: `audits/pairs/<id>.json` and
 * `audits/decisions/<id>.json`. A decision is somebody's work, so nothing removes it.
 */
import { z } from 'zod';
import type { ObjectStore } from '../src/ports';
import type { Hash } from '../src/sql/body';
import { readStored, writeStored } from '../src/record/run-store';

export const FlaggedPair = z.object({
  schemaVersion: z.literal(1),
  pairId: z.string(),
  searchId: z.string(),
  updates: z.tuple([z.string(), z.string()]),
});
export type FlaggedPair = z.infer<typeof FlaggedPair>;

export const DECISIONS = ['contradiction', 'consistent'] as const;
export const Decision = z.object({
  schemaVersion: z.literal(1),
  pairId: z.string(),
  decision: z.enum(DECISIONS),
  note: z.string().nullable(),
  author: z.string(),
  at: z.string(),
});
export type Decision = z.infer<typeof Decision>;

interface Place {
  readonly store: ObjectStore;
  readonly hash: Hash;
}

const PAIRS = 'audits/pairs/';
const pairAt = (id: string) => ({ key: `${PAIRS}${id}.json`, kind: 'flagged-pair' });
const decisionAt = (id: string) => ({ key: `audits/decisions/${id}.json`, kind: 'pair-decision' });

export function storeFlagged({ store, hash }: Place, pair: FlaggedPair): Promise<void> {
  return writeStored(store, { ...pairAt(pair.pairId), hash }, pair);
}

/** Those whose ids begin so. */
export async function flaggedPairs({ store, hash }: Place, beginning: string): Promise<FlaggedPair[]> {
  const keys = await store.list(`${PAIRS}${beginning}`);
  const ids = keys.map((key) => key.slice(PAIRS.length, -'.json'.length));
  const pairs = await Promise.all(ids.map((id) => readStored(store, { ...pairAt(id), hash, schema: FlaggedPair })));
  return pairs.filter((pair) => pair !== null);
}

/** The last one counts. */
export function storeDecision({ store, hash }: Place, decision: Decision): Promise<void> {
  return writeStored(store, { ...decisionAt(decision.pairId), hash }, decision);
}

export function decisionOf({ store, hash }: Place, pairId: string): Promise<Decision | null> {
  return readStored(store, { ...decisionAt(pairId), hash, schema: Decision });
}
