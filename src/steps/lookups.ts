/**
 * Lookups on the web as contents: what a reply asks for is an action each, what came of it an observation. Prompts of the
 * search show all of them; the record and the report cite them.
 */
import { clip } from '../clip';
import type { PromptContext, LookupsReply } from '../prompts';
import type { Lookup, MemoryRef } from '../search/steps';
import type { StepContext } from './context';

/** How texts of models name an observation of the web. */
const CITED = /\bi\d+\.t\d+(?:-\d+)?\.w\d+\b/g;

export async function storeLookups(
  context: StepContext,
  id: string,
  { note, lookups }: LookupsReply,
): Promise<Lookup[]> {
  const named = lookups.map((web, at) => ({ web, actionId: `${id}.ask${at + 1}` }));
  for (const { web, actionId } of named)
    await context.run.put('action', actionId, { schemaVersion: 1, actionId, note, sql: null, answer: null, web });
  return named.map(({ web, actionId }) => ({ actionId, tool: web.tool }));
}

/** All together get the room of two results; the fewer they are, the more of each is shown. */
export async function webTexts({ run, settings }: StepContext, { web = [] }: MemoryRef) {
  const room = Math.min(settings.csvChars, Math.floor((2 * settings.csvChars) / Math.max(1, web.length)));
  const seen = await Promise.all(web.map((id) => run.get('observation', id)));
  return seen.flatMap(({ observationId: id, web: observed }): NonNullable<PromptContext['web']>[number][] => {
    if (observed === undefined) return [];
    const { tool, request, text, citations } = observed;
    const [page] = tool === 'fetch_url' ? citations : [];
    return [{ id, tool, request, text: cutText(text, room), source: page ?? null }];
  });
}

function cutText(text: string, room: number): string {
  return text.length <= room ? text : `${clip(text, room)}\n(cut here)`;
}

/** Addresses behind the lookups that a text cites, `[i1.t0.w1]`. */
export async function citedIn({ run }: Pick<StepContext, 'run'>, text: string): Promise<string[]> {
  const ids = [...new Set([...text.matchAll(CITED)].map(([id]) => id))];
  const seen = await Promise.all(ids.map((id) => run.find('observation', id)));
  return [...new Set(seen.flatMap((each) => each?.web?.citations ?? []).map(({ url }) => url))];
}

/** For readers of other searches, who cannot look up an id: the addresses in its place. */
export async function spelledOut(context: Pick<StepContext, 'run'>, text: string): Promise<string> {
  let spelled = text;
  for (const [id] of text.matchAll(CITED)) {
    const urls = await citedIn(context, id);
    // By a function: an address may hold what a replacement text would read as a pattern.
    spelled = spelled.replace(id, () => urls.join(', ') || 'a lookup without result');
  }
  return spelled;
}
