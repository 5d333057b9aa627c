/**
 * The index of searches: one small object each, written when it is asked and replaced when it has ended. Newest first by key, so
 * that a page of `gate list` is the beginning of the folder, however many there are.
 */
import { z } from 'zod';
import { oneLine } from '../clip';
import type { SearchInput } from '../domain';
import { AnswerStatus } from '../domain/answer-status';
import { presetOf } from '../domain/question';
import type { ObjectStore } from '../domain/ports';
import { each } from '../limiter';
import type { Hash } from '../sql/body';
import { readStored, writeStored } from './envelope';

const FOLDER = 'index/';
const KIND = 'index';
const TEXT_CHARS = 300;

/** What is known of a search without reading its record. */
export const Listed = z.object({
  id: z.string(),
  question: z.string(),
  database: z.string(),
  method: z.string(),
  preset: z.string().nullable(),
  /** When it was asked. */
  startedAt: z.string(),
  /** null: it has not ended. */
  status: AnswerStatus.nullable(),
  /** In one line; else the reason why there is none. */
  answer: z.string().nullable(),
  costUsd: z.number().nullable(),
});
export type Listed = z.infer<typeof Listed>;

interface Deps {
  readonly store: ObjectStore;
  readonly hash: Hash;
}

type Ended = Pick<Listed, 'status' | 'answer' | 'costUsd'>;

/** `ended`: how it did, if it has. A part of another search has no entry. */
export async function writeIndex({ store, hash }: Deps, input: SearchInput, ended: Ended | null = null): Promise<void> {
  if (input.childOf !== undefined) return;
  const { question, settings, searchId: id } = input;
  const { status, answer, costUsd } = ended ?? { status: null, answer: null, costUsd: null };
  const entry: Listed = {
    id,
    question: oneLine(question.text, TEXT_CHARS),
    database: question.database,
    method: settings.spec,
    preset: presetOf(settings.method),
    startedAt: askedAt(input),
    ...{ status, costUsd, answer: answer === null ? null : oneLine(answer, TEXT_CHARS) },
  };
  await writeStored(store, { key: indexKey(input), kind: KIND, hash }, entry);
}

/** The newest searches. */
export async function newestSearches({ store, hash }: Deps, limit: number): Promise<readonly Listed[]> {
  const keys = await store.list(FOLDER, { limit });
  const found = await each(keys, (key) => readStored(store, { key, kind: KIND, schema: Listed, hash }));
  // One may have been removed meanwhile.
  return found.filter((entry) => entry !== null);
}

export async function removeFromIndex(store: ObjectStore, input: SearchInput, unmodifiedSinceMs = Infinity) {
  await store.delete(indexKey(input), { unmodifiedSinceMs });
}

function askedAt({ askedAt: at = new Date(0).toISOString() }: SearchInput): string {
  return at;
}

const LAST_MS = 9_999_999_999_999;
/** Leading digits of the time that name a folder: one for 28 hours. */
const FOLDER_DIGITS = 5;

function indexKey(input: SearchInput): string {
  const left = String(LAST_MS - Date.parse(askedAt(input))).padStart(13, '0');
  return `${FOLDER}${left.slice(0, FOLDER_DIGITS)}/${left.slice(FOLDER_DIGITS)}-${input.searchId}.json`;
}
