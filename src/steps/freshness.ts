/**
 * The record of a search as it stands: the first one, or the version with the rows that a later run of its SQL gave, and when
 * its rows were last read. The first record and its rows are never replaced.
 */
import type { AnswerRecord } from '../domain';
import type { Contents } from './contents';
import type { RunStore } from './run-store';

/** The id of the one `refresh` of a search. */
export const LAST = 'last';

export async function latestRecord(run: RunStore): Promise<AnswerRecord | null> {
  const [first, refresh] = await Promise.all([run.find('result', run.searchId), run.find('refresh', LAST)]);
  if (first === null || refresh === null) return first;
  const shown = refresh.version === null ? first : (await run.get('version', refresh.version)).record;
  return shownAs(shown, refresh);
}

export function shownAs(record: AnswerRecord, refresh: Contents['refresh']): AnswerRecord {
  const { asOf, clock, reused, rowsChanged, rowsBefore, next } = refresh;
  return {
    ...record,
    ...{ asOf, reused, rowsChanged },
    ...(rowsBefore === null ? {} : { rowsBefore }),
    ...(clock === undefined ? {} : { clock }),
    ...(next === null ? {} : { replacedBy: { id: next.searchId, reason: next.reason } }),
  };
}

/** With the fields that a record written before they existed lacks. */
export function withFreshness(record: AnswerRecord): AnswerRecord & {
  readonly asOf: string;
  readonly reused: boolean;
  readonly rowsChanged: boolean;
} {
  const { asOf = record.endedAt, reused = false, rowsChanged = false } = record;
  return { ...record, asOf, reused, rowsChanged };
}
