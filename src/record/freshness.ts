/**
 * The current record of a search: the first one, or a version with the rows of a later run of its SQL, and when its rows were
 * last read. The first record and its rows are never replaced.
 */
import { isConclusive, type AnswerRecord } from '../domain';
import type { Contents } from './contents';
import type { RunStore } from './run-store';

/** The id of a search's only `refresh` object. */
export const LAST = 'last';

export async function latestRecord(run: RunStore): Promise<AnswerRecord | null> {
  const [first, refresh] = await Promise.all([run.find('result', run.searchId), run.find('refresh', LAST)]);
  if (first === null || refresh === null) return first;
  const shown = refresh.version === null ? first : (await run.get('version', refresh.version)).record;
  const after =
    refresh.next === null ? null : await run.of(refresh.next.searchId).find('result', refresh.next.searchId);
  return shownAs(shown, refresh, after !== null && isConclusive(after));
}

/** `isReplaced`: the search that was made anew has an answer; one that failed, or has not ended, answers nothing. */
export function shownAs(record: AnswerRecord, refresh: Contents['refresh'], isReplaced = false): AnswerRecord {
  const { asOf, clock, reused, rowsChanged, rowsBefore, next } = refresh;
  return {
    ...record,
    ...{ asOf, reused, rowsChanged },
    ...(rowsBefore === null ? {} : { rowsBefore }),
    ...(clock === undefined ? {} : { clock }),
    ...(next === null ? {} : { replacedBy: { id: isReplaced ? next.searchId : null, reason: next.reason } }),
  };
}

/** Adds the fields that older records lack. */
export function withFreshness(record: AnswerRecord): AnswerRecord & {
  readonly asOf: string;
  readonly reused: boolean;
  readonly rowsChanged: boolean;
} {
  const { asOf = record.endedAt, reused = false, rowsChanged = false } = record;
  return { ...record, asOf, reused, rowsChanged };
}
