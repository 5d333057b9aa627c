/**
 * One question as a durable workflow: the control loop of the method runs here, every step is an activity.
 *
 * 1. The search id stays the same over retries, continue-as-new and repeated questions (design D4).
 * 2. A search that is cancelled or out of budget completes with the best answer so far (D6). After an error that no retry
 *    can fix, it stores a final record with status `failed`, and the workflow fails with a message that says what to change.
 * 3. It continues as new only between iterations, with the control state, and only when a run is full: so a search of usual
 *    length ends on the worker build that it began on.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  log,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  startChild,
  WorkflowIdReusePolicy,
  workflowInfo,
  type ChildWorkflowOptions,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { proxiedSteps, type StepQueues } from './proxied-steps';
import type { SearchState, Settings } from '../domain';
import { runMethod } from '../methods';
import { reasonOf } from '../search/findings';
import type { SearchHooks, SearchOutcome, SearchStart, SteeredSearch } from '../search/run';
import type { Keeping } from '../search/keep-proved';
import type { Progress, Waiting } from '../search/progress';
import type { AnswerSummary, ChildInput, OpenedChild } from '../domain/ports/step-parts';
import { Children } from './children';
import { endingMarkdown, failureMarkdown, openAttributes, progressMarkdown } from './details';
import { asWorkflowFailure, continueUpgraded } from './ending';
import { keepWorkflowId, questionWorkflowId } from './ids';
import { keepProved } from './keep-proved';
import { GATE_ATTRIBUTES, searchCounters, startAttributes, type ShownAttributes } from './search-attributes';
import { progressQuery, SteeringHandlers, type Pause } from './steering';
import type { MethodSteps } from '../domain/ports/steps';

export interface AnswerQuestionInput {
  readonly searchId: string;
  readonly settings: Settings;
  readonly taskQueues: StepQueues;
  /** The checkpoint to continue from; null starts a new search. */
  readonly state: SearchState | null;
  /** Upper limit of one model request. */
  readonly modelTimeoutMs: number;
  /** How long a model call is tried again while its endpoint is down. */
  readonly modelOutageMs?: number;
  /** Iterations after which a new run begins; the server's own suggestion counts as well. */
  readonly iterationsPerRun: number;
  /** Carried over continue-as-new. */
  readonly pause?: Pause;
  /** Which search attributes to set; left out: none, the server does not know them. */
  readonly searchAttributes?: ShownAttributes;
}

export async function answerQuestion(input: AnswerQuestionInput): Promise<AnswerSummary> {
  let progress: Progress | null = null;
  const waiting: Waiting[] = [];
  const told = (): Progress | null => progress && { ...progress, waiting: [...waiting] };
  setHandler(progressQuery, told, { description: 'Iteration, plan, frontier and usage of the search' });
  const root = CancellationScope.current();
  // The command "stop" cancels only the current step.
  const scope = new CancellationScope();
  let stopping = false;
  const steered: { search: SteeredSearch | null } = { search: null };
  let ended = false;
  const ui = shownInUi(openAttributes(input.searchAttributes));
  const { settings } = input;
  const mayCall = (): Promise<void> | null => steering.mayGoOn();
  let callsUnderWay = 0;
  const proxied = proxiedSteps({
    onCall: (change) => (callsUnderWay += change),
    onWait: (what, until) => {
      const wait = { what, sinceMs: Date.now() };
      const show = (): void => {
        const now = told();
        if (now !== null && !ended) ui.progress(now);
      };
      const over = (): void => {
        waiting.splice(waiting.indexOf(wait), 1);
        show();
      };
      waiting.push(wait);
      show();
      // Beside the step: one that waits for it continues at the same moment as without.
      until.then(over, over);
    },
    taskQueues: input.taskQueues,
    models: settings.models,
    modelTimeoutMs: input.modelTimeoutMs,
    modelOutageMs: input.modelOutageMs,
    sqlTimeoutMs: settings.sqlTimeoutMs,
  });
  const start = (child: OpenedChild, position: string) => startedChild(input, child, position);
  const children = new Children({ open: proxied.openChild, start, mayCall });
  const finish: MethodSteps['finish'] = async (ending) => {
    await steering.stored();
    return proxied.finish(ending);
  };
  const steps: MethodSteps = { ...proxied, finish, child: (child: ChildInput) => children.child(child) };
  const steering = new SteeringHandlers({
    searchId: input.searchId,
    pause: input.pause,
    ending: () => (root.consideredCancelled ? 'it is being cancelled' : ended ? 'it has ended' : null),
    stop: () => {
      stopping = true;
      scope.cancel();
    },
    onPause: (isPaused) => ui.paused(isPaused),
    onCommand: (command) => children.tell(command),
    callsUnderWay: () => callsUnderWay + children.underWay(),
  });
  let iterations = 0;
  const hooks: SearchHooks = {
    now: () => steering.now(),
    stopRequested: () => (root.consideredCancelled ? 'cancel' : stopping ? 'stop' : null),
    paused: mayCall,
    attach: (attached) => {
      steered.search = attached;
      steering.attach(attached);
    },
    onProgress: (now) => {
      progress = now;
      ui.progress({ ...now, waiting });
    },
    afterIteration: (state) => {
      iterations += 1;
      ui.counted(state);
      const info = workflowInfo();
      const full = info.continueAsNewSuggested || iterations >= input.iterationsPerRun;
      return full && !root.consideredCancelled && !steering.isStopping ? 'continue-as-new' : 'go-on';
    },
  };
  for (let { state } = input; ;) {
    const start: SearchStart = { searchId: input.searchId, settings, state };
    const outcome = await scope.run(() => runRecorded(start, steps, hooks, ui));
    ended = outcome.kind === 'finished';
    // Answer late updates before the workflow closes.
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
    if (outcome.kind === 'finished') {
      const { summary, keeping } = outcome;
      const isKept =
        keeping !== null &&
        (await CancellationScope.nonCancellable(() => beginKeeping(input, keeping, proxied, steering.pause)));
      return isKept ? { ...summary, keeping: true } : summary;
    }
    state = steered.search?.state() ?? outcome.state;
    // A search that was told to stop meanwhile ends in this run, which heard it.
    if (!steering.isStopping) await continueUpgraded<typeof answerQuestion>({ ...input, state, pause: steering.pause });
  }
}

/** In a workflow of its own, because the answer waits for nothing more. A paused search begins no call. */
async function beginKeeping(
  { settings, taskQueues, modelTimeoutMs }: AnswerQuestionInput,
  keeping: Keeping,
  { amend }: Pick<MethodSteps, 'amend'>,
  { since }: Pause,
): Promise<boolean> {
  const { searchId, usage } = keeping;
  if (since !== null) {
    await amend({ searchId, usage, notKept: 'the search was paused as it ended' });
    return false;
  }
  await startChild(keepProved, {
    args: [{ settings, taskQueues, modelTimeoutMs, keeping }],
    workflowId: keepWorkflowId(searchId),
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    // What nobody has served until then is dropped.
    workflowExecutionTimeout: '1 day',
    staticSummary: `${labelOf() ?? ''} · read what was proved`,
  }).catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  });
  return true;
}

function startedChild({ pause: _, ...parent }: AnswerQuestionInput, child: OpenedChild, position: string) {
  const { searchId, settings } = child;
  const label = `${labelOf() ?? ''} · ${position}`;
  const parentClosePolicy = ParentClosePolicy.TERMINATE;
  return startSearch({ ...parent, searchId, settings, state: null }, { label, parentClosePolicy });
}

interface StartSearch extends Pick<ChildWorkflowOptions, 'parentClosePolicy' | 'taskQueue' | 'priority'> {
  /** Title in the UI. */
  readonly label: string;
  /** Its name, for a column in the UI. */
  readonly database?: string;
}

/** Starts a search from another workflow; one that has ended begins again. */
export function startSearch(input: AnswerQuestionInput, { label, database, ...options }: StartSearch) {
  const { searchId, settings, searchAttributes: shown } = input;
  return startChild(answerQuestion, {
    ...options,
    args: [input],
    workflowId: questionWorkflowId(searchId),
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    staticSummary: label,
    memo: { label },
    ...(shown && { typedSearchAttributes: startAttributes(shown, { label, database, method: settings.method }) }),
  });
}

/** The workflow's summary stays with its first run, but its memo is carried over continue-as-new. */
function labelOf(): string | null {
  const label = workflowInfo().memo?.['label'];
  return typeof label === 'string' ? label : null;
}

/** Details and search attributes of the workflow. */
function shownInUi(attributes: ReturnType<typeof openAttributes>) {
  const statusIs = (value: string) => ({ key: GATE_ATTRIBUTES.status, value });
  const label = labelOf();
  const title = label === null ? '' : `#### ${label}\n\n`;
  const details = (markdown: string): void => setCurrentDetails(`${title}${markdown}`);
  return {
    progress: (now: Progress): void => details(progressMarkdown(now)),
    paused: (isPaused: boolean): void => attributes.set([statusIs(isPaused ? 'paused' : 'running')]),
    counted: (state: SearchState): void => attributes.setNowAndThen(searchCounters(state)),
    finished: (summary: AnswerSummary, state: SearchState): void => {
      details(endingMarkdown(summary));
      attributes.set([statusIs(summary.status), ...searchCounters(state)]);
    },
    unrecorded: (reason: string): void => {
      details(failureMarkdown(reason));
      attributes.set([statusIs('failed')]);
    },
  };
}

/** What the UI shows of a finished search, however it ended. */
interface Ending {
  finished(summary: AnswerSummary, state: SearchState): void;
  /** Called if even the record could not be written. */
  unrecorded(reason: string): void;
}

async function runRecorded(
  start: SearchStart,
  given: MethodSteps,
  hooks: SearchHooks,
  ending: Ending,
): Promise<SearchOutcome> {
  const record = { isWritten: false };
  const steps: MethodSteps = {
    ...given,
    finish: async (finish) => {
      const summary = await given.finish(finish);
      record.isWritten = true;
      ending.finished(summary, finish.state);
      return summary;
    },
  };
  try {
    return await runMethod(start, steps, hooks);
  } catch (error) {
    log.error('the search failed', { error });
    if (!record.isWritten) ending.unrecorded(reasonOf(error));
    throw asWorkflowFailure(error, 'SearchFailed');
  }
}
