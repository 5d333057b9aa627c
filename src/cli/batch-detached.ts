/** `gate batch run --detach`: workers elsewhere, or one in the background, work on the batch; this process only starts it. */
import { counted } from '../report/printable';
import { batchWorkflowId } from '../workflows/ids';
import { servedDetached } from '../app/background';
import { batchPreflight, openSearches, saveQuestions, storedRecords, type ReadyBatch } from './batch-preflight';
import { databaseQueues, ownQueues, takeOverBatch } from './batch-queues';
import { startOrJoin, untilCancelled } from './batch-start';
import { decodedInUi } from './codec-server';
import { EXIT, type ExitCode } from './exit';
import { openTemporal, type TemporalSession } from '../app/temporal-session';

export async function detachBatch(ready: ReadyBatch): Promise<ExitCode> {
  const { services, batch, flags, io } = ready;
  const note = (line: string): void => io.err(`${line}\n`);
  const records = await storedRecords(ready);
  const pending = await openSearches(ready, records);
  const again = `the same command without --detach${flags.fresh ? ' and --fresh' : ''}`;
  const told = (status: 'running' | 'completed', ui: string | null): void => {
    const shown = { id: batch.batchId, status, ui, questions: batch.questions.length };
    io.out(flags.json ? `${JSON.stringify(shown, null, 2)}\n` : `${batch.batchId}\n`);
  };
  if (pending.size === 0) {
    told('completed', null);
    note(`All of it is answered: ${again} writes the results.`);
    return EXIT.ok;
  }
  await batchPreflight(ready, pending, note);
  await saveQuestions(ready, pending);
  const session = await openTemporal(services.config, io.env, { onProgress: note });
  try {
    const ui = session.uiOfWorkflow(batchWorkflowId(batch.batchId));
    const { who, joined } = await startDetached(ready, session, pending, note);
    told('running', ui);
    if (ui !== null) note(`Temporal UI ${ui}`);
    io.err(decodedInUi(services.config, session));
    note(
      joined
        ? `It runs already; ${again} follows it and writes the results.`
        : `${counted(pending.size, 'question')} to ask; ${again} follows them and writes the results.`,
    );
    note(who);
  } finally {
    await session.close({ keep: true });
  }
  return EXIT.ok;
}

async function startDetached(
  ready: ReadyBatch,
  session: TemporalSession,
  pending: ReadonlySet<number>,
  note: (line: string) => void,
): Promise<{ readonly who: string; readonly joined: boolean }> {
  const { services, batch, flags } = ready;
  const { config, store } = services;
  const queues = databaseQueues(ready);
  const other = { ...ownQueues(ready), difference: 'in a process of its own', joins: false };
  await takeOverBatch({ ready, session, pending, queues, other, note });
  // The first database has the batch's own workflow.
  const needed = new Set(
    batch.searches.filter((_, n) => n === 0 || pending.has(n)).map(({ question }) => question.database),
  );
  const toServe = [...queues.toServe].flatMap(([name, one]) => (needed.has(name) ? [one] : []));
  const who = await servedDetached(config, toServe, session, ready.io);
  const { concurrency } = flags;
  const { requestTimeoutMs: modelTimeoutMs, outageMs: modelOutageMs } = config.models;
  const start = {
    session,
    store,
    batch,
    pending,
    concurrency,
    modelTimeoutMs,
    modelOutageMs,
    queues,
    only: flags.retryOf !== undefined,
  };
  await untilCancelled(session, batch.batchId, note);
  return { who, joined: (await startOrJoin(start)) === 'joined' };
}
