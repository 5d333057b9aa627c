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

/** One function of the table, whatever it is given. */
type AnyStep<Output> = (input: StepBase, options: StepOptions) => Promise<Output>;

export function createStepActivities(steps: StoredSteps & RemarkStep) {
  /** Tells these steps from those of other processes, of the one that this replaces, and of another library in it. */
  const by = crypto.randomUUID().slice(0, 8);
  const runHeld = <Output extends object>(
    { heldBy }: Pick<StepBase, 'heldBy'>,
    step: (options: StepOptions) => Promise<Output>,
  ): Promise<Output & { readonly by: string }> =>
    runStep(async (options) => {
      const { attempt, workflowExecution } = activityInfo();
      const holding = { runId: workflowExecution?.runId ?? '', holdsAll: heldBy === by && attempt === 1 };
      return { ...(await step({ ...options, holding })), by };
    });
  const executeSql = (input: SqlCall) =>
    runHeld(input, (options) =>
      (steps[input.purpose] as unknown as AnyStep<{ readonly usage: UsageDelta }>)(input, options),
    );
  return {
    callModel: (input: ModelCall) =>
      runHeld(input, (options) => (steps[input.role] as unknown as AnyStep<ModelOutcome<unknown>>)(input, options)),
    // The UI's timeline shows the type of a local activity, not its summary: each purpose is also a type.
    ...(Object.fromEntries(SQL_PURPOSES.map((purpose) => [purpose, executeSql])) as Record<
      SqlPurpose,
      typeof executeSql
    >),
    executeSql,
    useWeb: (input: WebInput) =>
      runHeld(input, (options) => steps.web(input, { ...options, mayRetry: activityInfo().attempt < TRIES_OF_A_SITE })),
    saveRemark: (searchId: string, remark: NewRemark) => runStep(() => steps.keepRemark(searchId, remark)),
    finishSearch: (input: FinishInput) =>
      runHeld(input, async (options) => {
        const { answer, sql, proof } = await steps.finish(input, options);
        return { answer, sql, proof };
      }),
    amendRecord: (input: AmendInput) => runStep((options) => steps.amend(input, options)),
    openChild: (input: ChildInput) => runStep((options) => steps.openChild(input, options)),
    adoptAnswer: (input: AdoptInput) => runHeld(input, (options) => steps.adopt(input, options)),
  };
}

export function createScheduledActivities(steps: ScheduledSteps) {
  return {
    verifyLayer: (run: WatchRun) => runStep((options) => steps.verifyLayer(run, options)),
    bringUpToDate: (run: RepeatRun) => runStep((options) => steps.bringUpToDate(run, options)),
    notify: (notice: Notice) => runStep((options) => steps.notify(notice, options)),
  };
}
