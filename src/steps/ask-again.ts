/**
 * A search that failed because the model gave no usable reply would fail again at once: its journal holds the bad replies.
 * Asked again, it forgets them and asks the model anew. What came before them is kept and costs nothing. Their intents stay,
 * so the calls that are made again count as possibly billed.
 *
 * Only where nothing was built on the failure: a step after it would be met again with other inputs. Such a search
 * needs `--fresh`.
 */
import type { StepContext } from './context';

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

/** Of a call of the journal: all tries of one step share it. */
function positionOf(id: string): string {
  return id.replace(/\.try\d+\.seed-?\d+$/, '');
}
