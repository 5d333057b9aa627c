/**
 * What a schedule does with a question: its stored answer is brought up to date, and where it no longer holds, the search that
 * takes its place is stored, under the id that `gate ask` would give it. And what receivers are told of it.
 *
 * 1. A step that is tried again finds what stood before its first try (`told/<run>.json`), and says what that one would have said.
 * 2. A body is made once. Who has it, or is given up, is written beside it: a later try posts the same text to the others.
 */
import { isConclusive, type AnswerRecord } from '../../domain';
import type {
  BroughtUp,
  EventBody,
  Notice,
  Receiver,
  Receivers,
  RepeatRun,
  ScheduledSteps,
  ToldAnswer,
} from '../../domain/ports/notices';
import { counted } from '../../counted';
import { createRunStore } from '../../record/run-store';
import { writeAsked } from '../../record/search-index';
import { searchIdOf } from '../../record/search-id';
import { clockAt } from '../../sql/clock';
import { equalResults } from '../../sql/equal';
import { reasonTexts, statedText } from '../../text/answer-text';
import type { StepDeps } from '../shared/context';
import { refreshStored } from './refresh';

/** Of runs of schedules and of notices, until `gate ops gc` finds them old. */
export const TOLD = 'told/';

type Deps = StepDeps & { readonly receivers: Receivers };
type Steps = Pick<ScheduledSteps, 'bringUpToDate' | 'notify'>;

export function createRepeatSteps(deps: Deps): Steps {
  return {
    bringUpToDate: (run, { signal }) => bringUpToDate(deps, run, signal),
    notify: (notice, { signal = new AbortController().signal }) => notify(deps, notice, signal),
  };
}

const DAY_MS = 24 * 60 * 60_000;

async function bringUpToDate(
  deps: Deps,
  { searchId: first, runId }: RepeatRun,
  signal: AbortSignal | undefined,
): Promise<BroughtUp> {
  const { store, receivers } = deps;
  const nowMs = deps.clock.now();
  let searchId = first;
  let last: AnswerRecord | null = null;
  const tells = receivers.wanting('answer.changed').length + receivers.wanting('claim.failed').length > 0;
  const told = tells ? { tells } : {};
  const search = (stood: AnswerRecord) => ({
    ...{ kind: 'search' as const, searchId, ...told },
    fallen: stood.status === 'answered' && stood.replacedBy === undefined ? stood.id : null,
  });
  for (;;) {
    const run = createRunStore(store, searchId);
    const input = await run.get('input', searchId);
    // What a schedule needs counts as asked: `gate ops gc` keeps it.
    if (nowMs - Date.parse(input.askedAt ?? '') >= DAY_MS)
      await writeAsked(store, { ...input, askedAt: new Date(nowMs).toISOString() });
    const record = await run.find('result', searchId);
    if (record === null || !isConclusive(record)) return search(await before(deps, runId, last ?? record));
    last = record;
    if (record.replacedBy === undefined) {
      const stood = await before(deps, runId, record);
      const clock = input.clock === undefined ? undefined : clockAt(nowMs);
      const refreshed = await refreshStored(deps, { searchId, clock, signal }, record);
      if (refreshed.kind === 'timeout') return { ...refreshed, searchId };
      if (refreshed.kind === 'current') {
        const isChanged = !(await isSame(deps, stood, refreshed.record));
        if (!isChanged || !tells) await store.delete(keyOf(runId));
        return { kind: 'current', searchId, isChanged, ...told };
      }
      const next = searchIdOf(input, `after ${searchId}`);
      if ((await createRunStore(store, next).find('input', next)) === null)
        await writeAsked(store, { ...input, searchId: next, clock, askedAt: new Date(nowMs).toISOString() });
      last = { ...record, replacedBy: { id: next, reason: refreshed.reason } };
      await run.put('result', searchId, last);
    }
    searchId = last.replacedBy?.id ?? searchId;
  }
}

const keyOf = (name: string): string => `${TOLD}${name}.json`;

/** As it stood when the first try of this run looked. */
async function before({ store }: Deps, runId: string, now: AnswerRecord | null): Promise<AnswerRecord> {
  const stored = await store.get(keyOf(runId));
  if (stored !== null) return JSON.parse(stored) as AnswerRecord;
  if (now === null) throw new TypeError('a schedule begins with an answer');
  await store.put(keyOf(runId), JSON.stringify(now), { overwrite: true });
  return now;
}

async function isSame({ store }: Deps, one: AnswerRecord, other: AnswerRecord): Promise<boolean> {
  if (one.status !== other.status) return false;
  if (one.status !== 'answered') return true;
  const chosen = one.candidates.find((candidate) => candidate.chosen);
  const made = chosen && (await createRunStore(store, one.id).find('candidate', chosen.id));
  // Rows beyond those that are stored are compared by their number.
  const rows = ({ columns, rows }: AnswerRecord) =>
    ({ kind: 'rows', columns, rows, truncated: false, elapsedMs: 0 }) as const;
  const countOf = ({ candidates }: AnswerRecord) => candidates.find((candidate) => candidate.chosen)?.rowCount;
  return countOf(one) === countOf(other) && equalResults(rows(one), rows(other), { ordered: made?.ordered ?? false });
}

interface Telling {
  readonly body: EventBody;
  /** By receiver; null: it has the body, else why it is given up. */
  readonly ended: Readonly<Record<string, string | null>>;
}

async function notify(deps: Deps, notice: Notice, signal: AbortSignal): Promise<readonly string[]> {
  const { store, receivers } = deps;
  const key = keyOf(notice.id);
  const stored = await store.get(key);
  const body = stored === null ? await bodyOf(deps, notice) : (JSON.parse(stored) as Telling).body;
  if (body === null) return [];
  const ended = new Map(stored === null ? [] : Object.entries((JSON.parse(stored) as Telling).ended));
  const save = (): Promise<void> =>
    store.put(key, JSON.stringify({ body, ended: Object.fromEntries(ended) }), { overwrite: true });
  await save();
  const json = JSON.stringify(body);
  let outage: unknown = null;
  const post = async (receiver: Receiver): Promise<void> => {
    try {
      await receiver.post({ id: notice.id, json }, signal);
      ended.set(receiver.name, null);
    } catch (error) {
      if (mayPass(error)) outage = error;
      else ended.set(receiver.name, (error as Error).message);
    }
  };
  await Promise.all(
    receivers
      .wanting(notice.type)
      .filter(({ name }) => !ended.has(name))
      .map(post),
  );
  await save();
  if (outage !== null) throw outage as Error;
  return [...ended.values()].filter((why) => why !== null);
}

/** Whether another try may help. An error that is not of the receiver ends the step. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'WebError') throw error;
  return ['connection', 'timeout', 'rate-limited', 'server-error'].includes((error as { code?: string }).code ?? '');
}

/** Null: nothing has changed. */
async function bodyOf(deps: Deps, notice: Notice): Promise<EventBody | null> {
  const { type, at, id } = notice;
  const head = { schemaVersion: 1, type, at, id } as const;
  const none = { question: null, before: null, after: null };
  switch (notice.type) {
    case 'layer.drift': {
      const { broke, fell } = notice.found;
      const hold = (count: number): string => (count === 1 ? 'holds' : 'hold');
      const parts = [
        ...(broke === 0 ? [] : [`${broke} no longer ${hold(broke)}`]),
        ...(fell === 0 ? [] : [`${fell} ${hold(fell)} for fewer rows than is kept`]),
      ];
      const summary = `Conventions of the database: ${parts.join(', ')}.`;
      return { ...head, ...none, database: notice.database, summary };
    }
    case 'batch.ended': {
      const { batchId, total, counts, stopped } = notice;
      const parts = Object.entries(counts).flatMap(([status, count]) => (count === 0 ? [] : [`${count} ${status}`]));
      const how = stopped ? 'was stopped' : 'ended';
      const summary = `The batch ${batchId} ${how}: of ${counted(total, 'question')}, ${parts.join(', ') || 'none ran'}.`;
      return { ...head, ...none, database: null, summary };
    }
    default: {
      const { searchId, runId } = notice;
      const stood = await before(deps, runId, null);
      const run = createRunStore(deps.store, searchId);
      const record = await run.get('result', searchId);
      const { question } = await run.get('input', searchId);
      const about = { ...head, database: question.database, question: question.text, before: toldAnswer(stood) };
      if (notice.type === 'claim.failed') {
        const summary = `What the answer rests on no longer holds: ${record.replacedBy?.reason ?? 'it was replaced'}.`;
        return { ...about, summary, after: null };
      }
      const isSearched = searchId !== stood.id;
      if (isSearched && stood.status !== 'answered' && (await isSame(deps, stood, record))) return null;
      const summary = changeText(stood, record, isSearched);
      return { ...about, summary, after: toldAnswer(record) };
    }
  }
}

function changeText(before: AnswerRecord, after: AnswerRecord, isSearched: boolean): string {
  if (after.status !== 'answered')
    return `The question could no longer be answered: the new search ended ${after.status}.`;
  if (isSearched) return 'A new search answered the question.';
  return before.rows.length === after.rows.length
    ? 'The same SQL gives other values.'
    : `The same SQL gives other rows: ${after.rows.length}, and ${before.rows.length} before.`;
}

function toldAnswer(record: AnswerRecord): ToldAnswer {
  const answer = record.status === 'answered' ? statedText(record) : (reasonTexts(record)[0] ?? null);
  return { searchId: record.id, status: record.status, answer };
}
