/**
 * A question that has its answer already: the answer is brought up to date by the database, in this process and without a
 * model call (`roles/answer/refresh.ts`). Where it no longer holds, the question is searched afresh under an id made from that of the
 * old search: whoever asks again finds the new one, and goes on with it after an interruption.
 */
import { isConclusive, type AnswerRecord, type SearchInput } from '../domain';
import { utc } from '../report/printable';
import { createRunStore } from '../record/run-store';
import type { Engines } from '../workers/engines';
import { note, type App } from './app';
import { GateError, withoutPasswords } from './errors';
import { recordOf } from './services';

export type AskedAgain =
  | { readonly kind: 'answer'; readonly record: AnswerRecord }
  /** Not answered yet, or not any more. */
  | { readonly kind: 'search'; readonly input: SearchInput };

export interface AskingAgain {
  readonly app: Pick<App, 'store' | 'now' | 'onEvent'>;
  readonly engines: Pick<Engines, 'engine'>;
  /** The search of the question; with a nonce, another one of it. Null: there is none. */
  readonly inputFor: (nonce?: string) => SearchInput | null;
}

export async function askAgain(asking: AskingAgain, input: SearchInput): Promise<AskedAgain> {
  const { app, inputFor } = asking;
  const { store } = app;
  const { searchId } = input;
  const before = await recordOf(store, searchId);
  if (before === null || !isConclusive(before)) return { kind: 'search', input };
  let reason = before.replacedBy?.reason;
  const next = inputFor(`after ${searchId}`);
  if (reason === undefined) {
    const refreshed = await refreshStored(asking, input, before);
    if (refreshed.kind === 'current') {
      note(app, `${beforeLine(refreshed.record)}; --fresh searches anew`);
      return { kind: 'answer', record: refreshed.record };
    }
    reason = refreshed.reason;
    const replacedBy = next && { id: next.searchId, reason };
    if (replacedBy) await createRunStore(store, searchId).put('result', searchId, { ...before, replacedBy });
  }
  if (next === null)
    throw new GateError(
      `${searchId} no longer holds: ${reason}; ask its question again, or see it with gate show ${searchId}`,
    );
  note(
    app,
    `the answer of ${utc(before.asOf)} (${searchId}) no longer holds: ${reason}; ${next.searchId} takes its place`,
  );
  return askAgain(asking, next);
}

/**
 * A search that went on from an earlier asking has the clock of that one: its rows are read once more, where they still hold.
 */
export async function withClockOfAsking(
  asking: Omit<AskingAgain, 'inputFor'>,
  input: SearchInput,
  record: AnswerRecord,
): Promise<AnswerRecord> {
  if (record.clock === undefined || record.clock === input.clock || !isConclusive(record)) return record;
  const refreshed = await refreshStored(asking, input, record);
  if (refreshed.kind === 'current') return refreshed.record;
  const says = `its clock is ${record.clock}, and it no longer holds: ${refreshed.reason}; ask again to search anew`;
  note(asking.app, says);
  return record;
}

async function refreshStored(
  { app, engines }: Omit<AskingAgain, 'inputFor'>,
  { searchId, clock, question: { database } }: SearchInput,
  before: AnswerRecord,
) {
  const deps = { store: app.store, engine: engines.engine, clock: { now: () => app.now() } };
  const { refreshStored: refresh } = await import('../roles/answer/refresh');
  const hint = `gate show ${searchId} shows the answer of ${utc(before.asOf)}`;
  try {
    // By the name that the database has now, and with the clock of this asking.
    const refreshed = await refresh(deps, { searchId, database, clock }, before);
    if (refreshed.kind !== 'timeout') return refreshed;
    const seconds = refreshed.afterMs / 1000;
    throw new GateError(`its SQL did not end within ${seconds} s this time; ${hint}, --fresh searches anew`);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'SqlEngineError') throw error;
    throw new GateError(`${withoutPasswords(error.message)}; ${hint}`, undefined, { cause: error });
  }
}

function beforeLine({ id, status, endedAt }: AnswerRecord): string {
  if (status === 'abstained') return `abstained before (${id}, ${utc(endedAt)}); there is nothing to run again`;
  return `answered before (${id}, ${utc(endedAt)}); its SQL ran again, and what proved it still holds`;
}
