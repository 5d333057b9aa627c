/**
 * The steps as activities (design D1): `callModel` for every role of the model, `executeSql` for every purpose of SQL, and the
 * writes of the store that are activities of their own: checkpoints, final records, and what passes between a search and its
 * children (D4).
 */
import { activityInfo } from '@temporalio/activity';
import { SQL_PURPOSES, type SqlPurpose } from '../domain/role-names';
import type {
  ChildInput,
  ModelCall,
  ModelOutcome,
  SqlCall,
  StepBase,
  StepOptions,
  UsageDelta,
} from '../domain/ports/step-parts';
import type {
  AdoptInput,
  AmendInput,
  FinishInput,
  NewRemark,
  RemarkStep,
  StoredSteps,
  WebInput,
} from '../domain/ports/steps';
import type { Notice, RepeatRun, ScheduledSteps } from '../domain/ports/notices';
import type { WatchRun } from '../domain/ports/steps';
import { runStep } from './run-step';

/** A site that does not answer is tried so often; then the failure is an observation. */
const TRIES_OF_A_SITE = 3;

/** Tells steps of this process from those of others, of the one that it replaces, and of another library in it. */
const holders = new WeakMap<object, string>();

function holderOf(steps: object): string {
  const known = holders.get(steps);
  if (known !== undefined) return known;
  const made = crypto.randomUUID().slice(0, 8);
  holders.set(steps, made);
  return made;
}

async function runHeld<Output extends object>(
  by: string,
  { heldBy }: Pick<StepBase, 'heldBy'>,
  step: (options: StepOptions) => Promise<Output>,
): Promise<Output & { readonly by: string }> {
  return runStep(async (options) => {
    const { attempt, workflowExecution } = activityInfo();
    const holding = { runId: workflowExecution?.runId ?? '', holdsAll: heldBy === by && attempt === 1 };
    return { ...(await step({ ...options, holding })), by };
  });
}

/** One function of the table, whatever it is given. */
type AnyStep<Output> = (input: StepBase, options: StepOptions) => Promise<Output>;

export function createModelActivities(steps: StoredSteps) {
  const by = holderOf(steps);
  return {
    callModel: (input: ModelCall) =>
      runHeld(by, input, (options) => (steps[input.role] as unknown as AnyStep<ModelOutcome<unknown>>)(input, options)),
  };
}

export function createStepActivities(steps: StoredSteps & RemarkStep) {
  const by = holderOf(steps);
  const executeSql = (input: SqlCall) =>
    runHeld(by, input, (options) =>
      (steps[input.purpose] as unknown as AnyStep<{ readonly usage: UsageDelta }>)(input, options),
    );
  return {
    ...createModelActivities(steps),
    // The UI's timeline shows the type of a local activity, not its summary: each purpose is also a type.
    ...(Object.fromEntries(SQL_PURPOSES.map((purpose) => [purpose, executeSql])) as Record<
      SqlPurpose,
      typeof executeSql
    >),
    executeSql,
    useWeb: (input: WebInput) =>
      runHeld(by, input, (options) =>
        steps.web(input, { ...options, mayRetry: activityInfo().attempt < TRIES_OF_A_SITE }),
      ),
    saveRemark: (searchId: string, remark: NewRemark) => runStep(() => steps.keepRemark(searchId, remark)),
    finishSearch: (input: FinishInput) =>
      runHeld(by, input, async (options) => {
        const { answer, sql, proof } = await steps.finish(input, options);
        return { answer, sql, proof };
      }),
    amendRecord: (input: AmendInput) => runStep((options) => steps.amend(input, options)),
    openChild: (input: ChildInput) => runStep((options) => steps.openChild(input, options)),
    adoptAnswer: (input: AdoptInput) => runHeld(by, input, (options) => steps.adopt(input, options)),
  };
}

export function createScheduledActivities(steps: ScheduledSteps) {
  return {
    verifyLayer: (run: WatchRun) => runStep((options) => steps.verifyLayer(run, options)),
    bringUpToDate: (run: RepeatRun) => runStep((options) => steps.bringUpToDate(run, options)),
    notify: (notice: Notice) => runStep((options) => steps.notify(notice, options)),
  };
}
