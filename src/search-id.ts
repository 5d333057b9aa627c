/**
 * The search id (design D4): the same question, database name, settings, seed and namespace always give the same id, so
 * that asking twice joins the search that runs or reads the answer that is stored. `nonce` (`--fresh`) makes a new one.
 */
import { createHash } from 'node:crypto';
import type { SearchInput } from './domain';
import { canonical } from './search/canonical';

export const SEARCH_ID = /^q-[0-9a-f]{16}$/;

export function searchIdOf(input: Pick<SearchInput, 'question' | 'settings' | 'namespace'>, nonce?: string): string {
  const { question, settings, namespace } = input;
  return named(canonical({ question, settings, namespace, nonce: nonce ?? null }));
}

/** A fork is named by its parent, by where it begins and by what is different: the same fork twice is one search. */
export function forkIdOf(
  fork: {
    readonly searchId: string;
    readonly iteration: number;
    readonly settings: SearchInput['settings'];
    readonly hint: { readonly author: string; readonly text: string } | null;
  },
  nonce?: string,
): string {
  const { searchId, iteration, settings, hint } = fork;
  return named(canonical({ fork: { searchId, iteration }, settings, hint, nonce: nonce ?? null }));
}

function named(identity: string): string {
  return `q-${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`;
}
