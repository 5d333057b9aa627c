/**
 * Lookups on the web as contents: each request of a reply is an action, its result an observation. All later prompts of the
 * search show them; the record and the report cite them.
 */
import { clip } from '../../text/clip';
import type { PromptContext } from './prompt-parts';
import type { LookupsReply } from './lookups';
import type { Lookup, MemoryRef } from '../../ports/step-parts';
import type { StepContext } from './context';

/** Ids of web observations, as models cite them. */
const CITED = /\bi\d+\.t\d+(?:-\d+)?\.w\d+\b/g;

export async function storeLookups(
  context: StepContext,
  id: string,
  { note, lookups }: LookupsReply,
): Promise<Lookup[]> {
  const named = lookups.map((web, at) => ({ web, actionId: `${id}.ask${at + 1}` }));
  for (const { web, actionId } of named)
    await context.run.put('action', actionId, { actionId, note, sql: null, answer: null, web });
  return named.map(({ web, actionId }) => ({ actionId, tool: web.tool }));
}

/** All lookups together get the space of two results: the fewer there are, the more of each is shown. */
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

/** The addresses of the lookups that a text cites, such as `[i1.t0.w1]`. */
export async function citedIn({ run }: Pick<StepContext, 'run'>, text: string): Promise<string[]> {
  const ids = [...new Set([...text.matchAll(CITED)].map(([id]) => id))];
  const seen = await Promise.all(ids.map((id) => run.find('observation', id)));
  return [...new Set(seen.flatMap((each) => each?.web?.citations ?? []).map(({ url }) => url))];
}
