/**
 * A search that failed because the model gave no usable reply would fail again at once, because its journal holds the bad
 * replies. When it is asked again, they are deleted and the model is called again. Earlier calls are kept and cost nothing.
 * The intents of the bad replies stay, so the repeated calls count as possibly billed.
 *
 * This works only if no later step used the failed one, since that step would now get other inputs. Else the search needs
 * `--fresh`.
 */
import type { StepContext } from '../shared/context';

export async function forgetBadReplies({ deps, run }: StepContext): Promise<void> {
  const record = await run.find('result', run.searchId);
  const bad = new Set(record?.status === 'failed' ? record.givenUp?.map(({ reply }) => positionOf(reply)) : []);
  if (bad.size === 0) return;
  const prefix = `runs/${run.searchId}/reply/`;
  const ids = (await deps.store.list(prefix)).map((key) => key.slice(prefix.length, -'.json'.length));
  const calls = await Promise.all(
    ids.map(async (id) => ({ id, isBad: bad.has(positionOf(id)), at: (await run.get('reply', id)).endedAtMs })),
  );
  const forgotten = calls.filter(({ isBad }) => isBad);
  const first = Math.min(...forgotten.map(({ at }) => at));
  if (calls.some(({ isBad, at }) => !isBad && at >= first)) return;
  for (const { id } of forgotten) await run.delete('reply', id);
}

/** The position of a call in the journal. All tries of a step share it. */
function positionOf(id: string): string {
  return id.replace(/\.try\d+\.seed-?\d+$/, '');
}
