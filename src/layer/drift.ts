/** What one run of all checks changed in a layer: which entries broke, match fewer rows or hold again, and since when. */
import type { EntryCounts, LayerEvent } from '../domain';
import { visibleLine } from '../text/visible';
import { fellFrom, type Agreement } from '../sql/agreement';
import { figuresNow, hasFallen, layerOf, type HeldEntry, type Layer } from './state';
import { counted } from '../counted';

export interface Drift {
  /** Held before. */
  readonly broke: readonly (DriftEntry & { readonly heldUntil: string })[];
  /** Hold, but for a smaller share of the rows than before; `kept`: the figures that they are held to. */
  readonly fell: readonly (DriftEntry & { readonly kept: Agreement })[];
  readonly heldAgain: readonly (DriftEntry & { readonly brokenSince: string })[];
}

interface DriftEntry {
  readonly entryId: string;
  readonly statement: string;
  /** Why it does not hold; null if it does. */
  readonly why: string | null;
  readonly counts: EntryCounts | null;
}

/** `events`: of the layer, with those that the run at this time appended. */
export function driftAt(events: readonly LayerEvent[], at: string): Drift {
  const own = events.filter((event) => event.at === at);
  return driftBetween(layerOf(events.filter((event) => event.at < at)), layerOf(events, at), own);
}

/** `own`: events of the run. */
export function driftBetween(before: Layer, after: Layer, own: readonly LayerEvent[]): Drift {
  const was = new Map(before.entries.map((held) => [held.entry.entryId, held]));
  const touched = new Set(
    own.flatMap((event) => (event.kind === 'broken' || event.kind === 'counted' ? [event.entryId] : [])),
  );
  const changes = after.entries.flatMap((now) => {
    const then = was.get(now.entry.entryId);
    return then === undefined || !touched.has(now.entry.entryId) ? [] : [{ then, now }];
  });
  return {
    broke: changes
      .filter(({ then, now }) => then.status !== 'broken' && now.status === 'broken')
      .map(({ then, now }) => ({ ...entryOf(now), heldUntil: lastHeld(then, before.verifiedAt) })),
    fell: changes
      .filter(({ then, now }) => then.status !== 'broken' && now.status !== 'broken')
      .filter(({ then, now }) => hasFallen(now) && fellFrom(figuresNow(then), figuresNow(now)))
      .map(({ now }) => fallOf(now)),
    heldAgain: changes
      .filter(({ then, now }) => then.status === 'broken' && now.status !== 'broken')
      .map(({ then, now }) => ({ ...entryOf(now), why: null, brokenSince: then.since })),
  };
}

function entryOf({ entry: { entryId }, statement, why, counts }: HeldEntry): DriftEntry {
  return { entryId, statement, why, counts };
}

export function fallOf(held: HeldEntry): Drift['fell'][number] {
  const { matching, examined } = held.entry;
  return { ...entryOf(held), why: null, kept: { matching, examined } };
}

/** `1905 of 2000, kept as 2000 of 2000` */
export function fallText({ counts, kept }: Drift['fell'][number]): string {
  const { matching, examined } = { ...kept, ...counts };
  return `${matching ?? '?'} of ${examined ?? '?'}, kept as ${kept.matching} of ${kept.examined}`;
}

/** When its check showed it last, as far as the layer knows. */
function lastHeld({ entry, since }: HeldEntry, verifiedAt: string | null): string {
  return [entry.provedAt, since, verifiedAt ?? ''].reduce((a, b) => (a > b ? a : b));
}

/** Of a report: receivers of webhooks take no more than some tens of kilobytes. */
const MAX_ENTRIES = 40;
const MAX_CHARS = 40_000;
const STATEMENT_CHARS = 300;

/** A drift as one line of JSON. `text` is for people: chat programs show it. */
export function driftReport(
  { broke, fell, heldAgain }: Drift,
  run: { readonly database: string; readonly at: string; readonly checked: number; readonly broken: number },
): string {
  const short = <T extends DriftEntry>(entry: T): T => ({
    ...entry,
    statement: cut(entry.statement),
    why: entry.why === null ? null : cut(entry.why),
    counts: entry.counts === null ? null : { ...entry.counts, rivals: [] },
  });
  const holds = ({ length }: readonly unknown[]): string => (length === 1 ? 'holds' : 'hold');
  const report = (most: number): string => {
    const [shown, fallen] = [broke.slice(0, most).map(short), fell.slice(0, most).map(short)];
    const again = heldAgain.slice(0, most).map(short);
    const left = broke.length + fell.length + heldAgain.length - shown.length - fallen.length - again.length;
    const lines = [
      `${run.database}: ${broke.length} of ${counted(run.checked, 'convention')} broke, ${fell.length} ${holds(fell)} for fewer rows, ${heldAgain.length} ${holds(heldAgain)} again`,
      ...shown.map(({ statement, why, heldUntil }) => `broke: ${statement} (${why ?? ''}; held until ${heldUntil})`),
      ...fallen.map((entry) => `holds for fewer rows: ${entry.statement} (${fallText(entry)})`),
      ...again.map(({ statement, brokenSince }) => `holds again: ${statement} (broken since ${brokenSince})`),
      ...(left === 0 ? [] : [`and ${left} more: gate layer list --all`]),
    ];
    return JSON.stringify({
      ...{ schemaVersion: 1, kind: 'gate-layer-drift', text: lines.join('\n'), ...run },
      ...{ broke: shown, fell: fallen, heldAgain: again, left },
    });
  };
  let most = MAX_ENTRIES;
  while (most > 1 && report(most).length > MAX_CHARS) most = Math.floor(most / 2);
  return report(most);
}

function cut(text: string): string {
  const line = visibleLine(text);
  return line.length <= STATEMENT_CHARS ? line : `${line.slice(0, STATEMENT_CHARS - 1)}…`;
}
