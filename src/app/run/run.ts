/**
 * A run: methods × sets of questions × seeds, each one durable batch, under one concurrency and one ceiling of cost; then its report.
 * A file of questions by one method is a run with one batch.
 *
 * 1. All that is wrong with the plan, the data, the databases and the models is said before anything is asked.
 * 2. Batches have the same ids in every run: an interrupted run goes on where it was, and what another run asked alike costs nothing.
 * 3. An infrastructure failure is never a wrong answer; it is asked again by the next run.
 */
import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { someOf } from '../../counted';
import { isDecided } from '../../domain';
import { each } from '../../limiter';
import { counted } from '../../report/printable';
import type { ResultLine } from '../../questions';
import type { Run, RunSet } from '../../report/run';
import { compose, type Composition } from '../../workers/composition';
import { runningWorkflow, asksOnly } from '../../workers/workflow-views';
import { batchWorkflowId } from '../../workflows/ids';
import { GateError, UsageError } from '../errors';
import { checkModel, unpricedModels } from '../model-check';
import { tellWhoReceivesRows } from '../notice';
import { webNotice } from '../question-input';
import { openServices } from '../services';
import type { Surroundings } from '../surroundings';
import { openTemporal, withRunning } from '../open-temporal';
import type { TemporalSession } from '../temporal-session';
import {
  isScored,
  modelsOf,
  openSet,
  planArms,
  withComposition,
  scopeOf,
  type AskingRun,
  type Overrides,
  type Recording,
} from './arms';
import { askArms, inOrder } from './ask-arms';
import { openSearches, saveQuestions, storedRecords, type Stopped } from './ask-batch';
import { isServed } from './batch-queues';
import { estimateRun, type RunEstimate } from './estimate';
import { scoredOf, type RunEvent, type Stopping } from './events';
import type { Laboratory } from './laboratory';
import { checkWritable, ResultFile, withResultFolder } from './results';
import { configOf, type ReadConfig } from './run-config';
import { checkedDatabases, costOf, reportOf, reportSet, writeReport, type ReportedRun } from './run-report';
import { startDetached } from './serve-batch';
import { findBatch, isCancelled, isToRetry, keepAsked, storedBatch } from './stored-batches';

/** What is to be run. */
export interface WantedRun {
  readonly read: ReadConfig;
  readonly overrides: Overrides;
  /** Where relative paths of the plan begin; those of overrides begin where the run is asked for. */
  readonly base: string;
  /** The folder of the results; null: they are kept in memory alone. */
  readonly out: string | null;
  readonly fresh?: boolean;
  readonly retry?: AskingRun['retry'];
  readonly debug?: boolean;
  readonly files?: Recording;
  readonly laboratory?: Laboratory;
  /** How a person would ask for it again, for the report. */
  readonly command: string;
}

/** Who asks for a run, sees its events and stops it. */
export interface RunDoor {
  readonly surroundings: Surroundings;
  readonly tell: (event: RunEvent) => void;
  readonly stopping: Stopping;
}

export interface RunResult {
  readonly run: Run;
  readonly lines: readonly ResultLine[];
  /** What was written into the folder. */
  readonly files: readonly string[];
  readonly stopped: Stopped | null;
  /** What ended a batch early, once its answers are told; null: nothing did. */
  readonly failure: Error | null;
  /** Answers that are missing. */
  readonly open: number;
  readonly infrastructureFailures: number;
  /** Others go on with it. */
  readonly detached: boolean;
}

export async function runQuestions(wanted: WantedRun, door: RunDoor): Promise<RunResult> {
  return withRun(wanted, door, false, async (ready, composition) => {
    const { run, sets, bench, laboratory, spent } = ready;
    const { out, command } = wanted;
    const { endpoint } = composition.model;
    const isNewRecording = run.files.record !== undefined && !existsSync(run.files.record);
    const stored = await each(run.arms, (arm) => storedRecords(run, arm));
    if (stored.flat().some((record) => record === null || !isDecided(record))) await checkReceivers(ready, composition);
    for (const set of sets)
      if (set.judge !== null)
        await laboratory?.checkJudge(bench, {
          ...{ judge: set.judge, model: wanted.read.config.model?.default, replay: run.files.replay },
          withComposition: (scope, work) => withComposition(run, set.databases, scope, work),
        });
    const plan = planOf(wanted, door);
    return inFolder(out, async () => {
      const results = new ResultFile(out);
      const { asked, temporal, stopped: ended, failure, found, detached } = await askArms(run, stored, results, plan);
      spent.usd += costOf(asked);
      if (ended === null && isNewRecording && found > 0) tellFound(run, found, bench.note);
      let stopped = ended;
      const reported: RunSet[] = [];
      const judged: ResultLine[] = [];
      for (const set of sets) {
        const own = asked.filter(({ arm }) => arm.set === set);
        const made = await reportSet(ready, set, own, stopped);
        stopped ??= made.stopped;
        reported.push(made.set);
        judged.push(...made.lines);
      }
      const lines = inOrder(run.arms, judged);
      results.rewrite(lines);
      const report = reportOf(ready, reported, asked, { command, endpoint, folder: out, temporal });
      const expected = run.arms.reduce((sum, { batch }) => sum + batch.questions.length, 0);
      return {
        ...{ run: report, lines, stopped, failure, detached },
        files: out === null ? [] : ['results.jsonl', ...writeReport(report, out)],
        // A retry leaves open what nobody asked.
        open: run.retry !== undefined && stopped === null ? 0 : expected - lines.length,
        infrastructureFailures: scoredOf(lines).failed,
      };
    });
  });
}

export function estimate(wanted: WantedRun, door: RunDoor): Promise<RunEstimate> {
  return withRun(wanted, door, true, ({ run }) => estimateRun(run, run.arms));
}

export interface DetachedRun {
  readonly id: string;
  readonly status: 'running' | 'completed';
  readonly ui: string | null;
  readonly questions: number;
}

/** Workers elsewhere, or one in the background, work on the batch: it is only started. `started` is told before the session ends. */
export async function detachRun(
  wanted: WantedRun,
  door: RunDoor,
  started: (run: DetachedRun, session: TemporalSession | null) => void,
): Promise<void> {
  if (wanted.overrides.maxTotalCost !== undefined || wanted.read.config['max-total-cost'] !== undefined)
    throw new UsageError('--max-total-cost: nobody watches what a detached batch costs; leave one of them out');
  return withRun(wanted, door, false, async (ready, composition) => {
    const { run, bench } = ready;
    const [arm, ...more] = run.arms;
    if (arm === undefined || more.length > 0)
      throw new UsageError('--detach is for one method, file and seed; leave it out, and the run is followed');
    const { batchId, questions, name } = arm.batch;
    const pending = await openSearches(run, arm, await storedRecords(run, arm));
    const plan = { ...planOf(wanted, door), name, out: null };
    await keepAsked(run.services.store, batchId, { ...plan, ...partOf(arm) });
    const again = `the same command without --detach${wanted.fresh ? ' and --fresh' : ''}`;
    if (pending.size === 0) {
      started({ id: batchId, status: 'completed', ui: null, questions: questions.length }, null);
      bench.note(`All of it is answered: ${again} writes the results.`);
      return;
    }
    await checkReceivers(ready, composition);
    const { config } = run.services;
    await withComposition(run, arm.set.databases, scopeOf(arm), async (composition) => {
      const one = { run, arm, composition, note: bench.note };
      await saveQuestions(one, pending);
      const session = await openTemporal(config, door.surroundings.env, { onProgress: bench.note });
      try {
        const ui = session.uiOfWorkflow(batchWorkflowId(batchId));
        const { who, joined } = await startDetached(one, session, pending);
        started({ id: batchId, status: 'running', ui, questions: questions.length }, session);
        bench.note(
          joined
            ? `It runs already; ${again} follows it and writes the results.`
            : `${counted(pending.size, 'question')} to ask; ${again} follows them and writes the results.`,
        );
        bench.note(who);
      } finally {
        await session.close({ keep: true });
      }
    });
  });
}

/** The run that asks again what failed of an ended batch, and nothing else. `nothing`: no question is to be asked again. */
export async function retryOf(
  given: string,
  { undecided, command }: { readonly undecided: boolean; readonly command: string },
  surroundings: Surroundings,
  tell: (line: string) => void,
): Promise<
  | { readonly kind: 'run'; readonly wanted: WantedRun; readonly cwd: string; readonly isDetached: boolean }
  | { readonly kind: 'nothing'; readonly reason: string }
> {
  const services = openServices(surroundings);
  const { config, store } = services;
  const { id, asked, questions } = await storedBatch(store, await findBatch(store, given));
  const refuseRunning = async (session: TemporalSession | null): Promise<void> => {
    const running = session && (await runningWorkflow(session.gate, batchWorkflowId(id)));
    if (session === null || running === null) return;
    if (await isServed({ services, now: () => surroundings.now() }, session, running.taskQueue))
      throw new GateError(`${id} has not ended: retry its failures once it has (gate batch status ${id})`);
    // A retry that was interrupted is taken up by the next one.
    if (!(await asksOnly(session.gate, id)))
      throw new GateError(`${id} was interrupted: run the same command again, which asks its failures, too`);
  };
  await withRunning({ config, env: surroundings.env }, refuseRunning, ({ what, fix }) =>
    tell(`${what}: looking at what the store holds; ${fix}`),
  );
  if (!questions.some((question) => isToRetry(question, undecided))) {
    const isOpen = questions.some(({ outcome }) => outcome === null || isCancelled(outcome));
    const reason = isOpen
      ? `no question of ${id} failed: run the same command again, which asks all that is open`
      : `no question of ${id} is to be asked again`;
    return { kind: 'nothing', reason };
  }
  const again = 'run the same command again, which asks the failures and all that is open';
  if (asked === null) throw new GateError(`how ${id} was asked for is not in the store: ${again}`);
  if (asked.isMasked) throw new GateError(`the command of ${id} held a password, which is not kept: ${again}`);
  const { options, overrides, base, out, cwd } = asked;
  const read = configOf(options, id, null);
  const wanted = { read, overrides, base, out, command, retry: { batchId: id, undecided } };
  return { kind: 'run', wanted, cwd, isDetached: out === null };
}

/** What is kept with a batch, so that it can be asked again. */
function planOf({ read, overrides, base, out }: WantedRun, { surroundings: { cwd } }: RunDoor) {
  return { name: read.config.name, options: read.options, overrides: { ...overrides }, base, cwd, out };
}

const partOf = ({ set, spec, seed }: AskingRun['arms'][number]) => ({ questions: set.name, method: spec.spec, seed });

function inFolder<T>(out: string | null, work: () => Promise<T>): Promise<T> {
  return out === null ? work() : withResultFolder(out, work);
}

/** `composition`: of all databases of the run, without a recording. */
async function withRun<T>(
  wanted: WantedRun,
  { surroundings, tell, stopping }: RunDoor,
  dryRun: boolean,
  work: (ready: ReportedRun, composition: Composition) => Promise<T>,
): Promise<T> {
  const { read, overrides, base, files = {}, laboratory = null, fresh = false, retry, debug = false } = wanted;
  const { config: plan } = read;
  // Every batch, and every statement that scores, listens to the same two.
  setMaxListeners(0, stopping.asked, stopping.quit);
  const services = openServices(surroundings);
  const note = (text: string): void => tell({ kind: 'note', arm: null, text });
  const opening = { services, run: plan, overrides, base, cwd: surroundings.cwd, laboratory, fresh, dryRun };
  const sets = await each(plan.questions, (entry) => openSet(entry, opening));
  const of = (name: string): string => (sets.length > 1 ? `${name}: ` : '');
  for (const { name, board } of sets) for (const remark of board?.remarks ?? []) note(`note: ${name}: ${remark}`);
  const databases = new Map(sets.flatMap((set) => set.databases.all).map((one) => [one.name, one]));
  const composition = await compose(services.config, { adHoc: [...databases.values()] });
  try {
    const isRecorded = files.record !== undefined || files.replay !== undefined;
    const composing = { services, files, composition: isRecorded ? null : composition };
    const asked = sets.flatMap((set) => set.items.map((item) => set.databases.of(item)));
    const arms = await planArms({ ...composing, base, note }, sets);
    if (retry !== undefined && !arms.some(({ batch }) => batch.batchId === retry.batchId))
      throw new UsageError(
        `${retry.batchId}: its file, settings or databases have changed since; the same command is another batch now`,
      );
    const run: AskingRun = {
      ...{ ...composing, surroundings, arms, retry, tell, stopping, debug, costs: new Map<string, number>() },
      concurrency: overrides.concurrency ?? plan.concurrency,
      maxTotalCost: overrides.maxTotalCost ?? plan['max-total-cost'],
      rows: plan.rows ?? false,
    };
    if (wanted.out !== null) checkWritable(wanted.out);
    for (const set of sets) {
      const without = set.items.filter((item) => !isScored(set, item)).map(({ id }) => id);
      // A file without any gold is there to be answered.
      if (without.length > 0 && (without.length < set.items.length || set.judge !== null || set.board !== null))
        note(`${of(set.name)}${counted(without.length, 'question')} without gold (${someOf(without)}), in no accuracy`);
    }
    // An estimate says which databases cannot be used.
    const known = dryRun ? new Map() : await checkedDatabases(composition, [...new Set(asked)]);
    const bench = { services, now: () => surroundings.now(), note, stopping };
    return await work({ run, read, sets, known, laboratory, bench, spent: { usd: 0 } }, composition);
  } finally {
    await composition.close();
  }
}

/** The models are there, and who receives rows is told. */
async function checkReceivers({ run, sets, bench }: ReportedRun, composition: Composition): Promise<void> {
  const { services, arms, files } = run;
  const { config } = services;
  const { note } = bench;
  const models = modelsOf(arms);
  if (files.replay === undefined) {
    await checkModel(config, composition, models);
    if (files.record !== undefined) {
      const { noteOf, prepareRecording } = await import('../../adapters/recording');
      await prepareRecording(files.record, noteOf(composition.model));
    }
    const names = arms.flatMap(({ batch }) => batch.searches.map(({ question }) => question.database));
    const identities = sets.flatMap((set) => set.databases.all.map(({ identity }) => identity));
    const receivers = {
      endpoint: composition.model.endpoint,
      database: [...new Set(names)].sort().join("', '"),
      identity: [...new Set(identities)].sort().join(' '),
      unpriced: unpricedModels(config, models),
      costCeilingUsd: arms[0]?.batch.settings.budgets.costUsd ?? null,
    };
    tellWhoReceivesRows(config.folders, receivers, note);
  }
  const notice = webNotice(config, { web: arms.some(({ web }) => web) });
  if (notice !== null) note(notice);
  const questions = arms.flatMap(({ batch }) => batch.questions);
  const other = questions.find(({ item, database }) => item.engine !== null && item.engine !== database.dialect);
  if (other === undefined) return;
  const { item, database } = other;
  const name = item.database ?? database.name;
  note(`${name} is ${database.dialect} here, the file says ${item.engine ?? ''}: its gold SQL may fail`);
}

/** A new recording lacks what the store had. */
function tellFound({ files }: AskingRun, found: number, note: (line: string) => void): void {
  note(
    `${counted(found, 'answer')} came from the store and ${found === 1 ? 'is' : 'are'} not in ${files.record ?? ''}: --fresh records all of them`,
  );
}
