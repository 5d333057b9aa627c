/** What is in flight in a batch and what is being retried, read from Temporal for the display. */
import type { BatchDisplay, InFlight } from './batch-table';
import { outageLines, outagesOf, type Outage } from './outages';
import { groupBy } from '../group-by';
import { each } from '../limiter';
import { counted } from '../report/printable';
import { isOver, pause } from './pause';
import type { TemporalSession } from './temporal-session';

const ROUND_MS = 1_500;
/** Retries are looked up every this many rounds. */
const OUTAGES_EVERY = 6;

/** Ends when the signal aborts; rejects when Temporal is gone. */
export async function watchBatch(
  session: TemporalSession,
  workflowId: string,
  display: BatchDisplay,
  end: AbortSignal,
): Promise<void> {
  const outages = display.live ? null : outageLines((line) => display.note(line), Date.now);
  for (let round = 1; ; round += 1) {
    await pause(ROUND_MS, end);
    if (isOver(end)) return;
    const looks = round % OUTAGES_EVERY === 0;
    if (!display.live && !looks) continue;
    const { raw } = await session.gate.client.workflow.getHandle(workflowId).describe();
    const searches = (raw.pendingChildren ?? []).map((child) => (child.workflowId ?? '').replace(/^question-/, ''));
    if (display.live)
      display.inFlight(await Promise.all(searches.map((id, at) => inFlight(session, id, at < display.rows))));
    if (!looks) continue;
    const outage = await outageOf(session, searches);
    if (isOver(end)) return;
    display.retried(outage);
    outages?.seen(outage);
  }
}

async function inFlight(session: TemporalSession, searchId: string, looked: boolean): Promise<InFlight> {
  return { searchId, progress: looked ? await session.progress(searchId) : null };
}

/** The commonest failure among the steps that are being retried: the one of them that gives up first. */
async function outageOf(session: TemporalSession, searches: readonly string[]): Promise<Outage | null> {
  const nowMs = Date.now();
  const found = await each(searches, (searchId) => session.describe(searchId));
  const outages = found.flatMap((live) => (live === null ? [] : outagesOf(live, nowMs).slice(0, 1)));
  const byReason = groupBy(outages, ({ reason }) => reason);
  const [commonest = []] = [...byReason.values()].sort((a, b) => b.length - a.length);
  const [first] = [...commonest].sort((a, b) => (a.givesUpAt ?? '9').localeCompare(b.givesUpAt ?? '9'));
  if (first === undefined) return null;
  return { ...first, step: `${first.step} (${counted(commonest.length, 'question')})` };
}
