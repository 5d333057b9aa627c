/** What is in flight in a batch and what is being retried, read from Temporal for the display. */
import type { Progress } from '../search/control';
import type { BatchDisplay } from './batch-table';
import { cut } from '../report/printable';
import type { TemporalSession } from './temporal-session';

export interface InFlight {
  readonly searchId: string;
  /** Null: not known, or nobody looks at it. */
  readonly progress: Progress | null;
}

const ROUND_MS = 1_500;
/** Every so many rounds: what is being retried. */
const OUTAGES_EVERY = 6;

/** Ends when the signal aborts; rejects when Temporal is gone. */
export async function watchBatch(
  session: TemporalSession,
  workflowId: string,
  display: BatchDisplay,
  end: AbortSignal,
): Promise<void> {
  let told = '';
  for (let round = 1; ; round += 1) {
    await pause(ROUND_MS, end);
    if (isOver(end)) return;
    const outages = round % OUTAGES_EVERY === 0;
    if (!display.live && !outages) continue;
    const { raw } = await session.gate.client.workflow.getHandle(workflowId).describe();
    const searches = (raw.pendingChildren ?? []).map((child) => (child.workflowId ?? '').replace(/^question-/, ''));
    if (display.live)
      display.inFlight(await Promise.all(searches.map((id, at) => inFlight(session, id, at < display.rows))));
    if (!outages) continue;
    const line = await outageOf(session, searches);
    if (line !== null && line !== told && !isOver(end)) display.note(line);
    told = line ?? '';
  }
}

async function inFlight(session: TemporalSession, searchId: string, looked: boolean): Promise<InFlight> {
  return { searchId, progress: looked ? await session.progress(searchId) : null };
}

/** The commonest failure among the steps that are being retried. */
async function outageOf(session: TemporalSession, searches: readonly string[]): Promise<string | null> {
  const counts = new Map<string, number>();
  for (const searchId of searches) {
    const failing = (await session.describe(searchId))?.pending.find((step) => step.lastFailure !== null);
    if (failing?.lastFailure) counts.set(failing.lastFailure, (counts.get(failing.lastFailure) ?? 0) + 1);
  }
  const [commonest] = [...counts].sort(([, a], [, b]) => b - a);
  return commonest === undefined ? null : `retrying: ${cut(commonest[0], 200)}`;
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** A function, because the signal changes while the loop awaits. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}
