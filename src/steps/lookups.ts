/**
 * Lookups on the web as contents: what a reply asks for is an action each, what came of it an observation. Prompts of the
 * search show all of them; the record and the report cite them.
 */
import type { PromptContext, LookupsReply } from '../prompts';
import type { Lookup, MemoryRef } from '../search/steps';
import type { StepContext } from './context';

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
  return text.length <= room ? text : `${text.slice(0, room)}\n(cut here)`;
}
