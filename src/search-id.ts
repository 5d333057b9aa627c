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
  const identity = canonical({ question, settings, namespace, nonce: nonce ?? null });
  return `q-${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`;
}
