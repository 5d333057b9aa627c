/**
 * The search id (design D4): the same question, database, settings, seed and namespace always give the same id, so that
 * asking twice joins the search that runs or reads the answer that is stored. `nonce` (`--fresh`) makes a new one. A database
 * counts by its identity and not by its name.
 */
import type { SearchInput } from '../domain';
import { canonical } from '../domain/canonical';
import { sha256 } from '../sha256';

type Asked = Pick<SearchInput, 'question' | 'identity' | 'settings' | 'namespace'>;

export function searchIdOf({ question, identity, settings, namespace }: Asked, nonce?: string): string {
  const { database: _, ...asked } = question;
  return named(canonical({ question: asked, identity, settings, namespace, nonce: nonce ?? null }));
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

/** A child is named by its parent and its place there, so that a parent that is asked again finds it. */
export function childIdOf({ searchId, position }: { readonly searchId: string; readonly position: string }): string {
  return named(canonical({ child: { searchId, position } }));
}

function named(identity: string): string {
  return `q-${sha256(identity).slice(0, 16)}`;
}

/** The key under which the store keeps caches and the layer of a database. */
export function identityKey(identity: string): string {
  return `@${identity}`;
}
