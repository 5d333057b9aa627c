/** The schema of a prompt with what rows tell of each table: names, types and keys, and the profile as room allows. */
import type { DatabaseDescription } from '../../domain';
import type { SchemaContext } from '../context';
import type { TableProfile } from './index';
import { renderProfiles } from './render';

/** About 3,000 tokens for names and profiles of an ordinary schema. */
const TERSE_CHARS = 8_200;
/** For the profiles alone, where names and types take more than that. */
const LEAST_CHARS = 4_000;
const SHARE = 0.6;

export function profiledText(
  { tables, dialect }: DatabaseDescription,
  { frame, shown }: Pick<SchemaContext, 'frame' | 'shown'>,
  profiles: readonly TableProfile[],
): string {
  const wanted = new Set(shown ?? tables.map(({ name }) => name));
  const kept = tables.filter(({ name }) => wanted.has(name));
  const bare = renderProfiles(kept, [], { dialect, maxChars: 0 }).length;
  const maxChars = Math.max(TERSE_CHARS - bare, LEAST_CHARS, bare * SHARE);
  return [frame, renderProfiles(kept, profiles, { dialect, maxChars })].join('\n\n');
}
