/** What the helpers of an agent found (methods redel-…). */
import type { HelperReport, Observation } from '../domain';
import type { HelperRun, ToolInput, ToolRun } from '../ports/search-steps';
import { createRunStore } from '../record/run-store';
import { now, once, type StepContext } from './context';

/** What came of the subtasks of an action, as an observation; each report is read from the helper's record. */
export async function readHelpers(
  context: StepContext,
  step: ToolInput,
  runs: readonly (HelperRun | null)[],
): Promise<ToolRun> {
  return once(context, async () => {
    const { subtasks = [] } = await context.run.get('action', step.actionId);
    const helpers = await Promise.all(
      subtasks.map(({ text, refused = '' }, at) => reportOf(context, text, refused, runs[at] ?? null)),
    );
    const observation: Observation = {
      ...{ schemaVersion: 1, observationId: step.position, proposalId: step.actionId },
      ...{ tests: [], helpers },
    };
    await context.run.put('observation', step.position, {
      ...observation,
      takenAt: now(context),
    });
    const outcome = helpers.some((helper) => helper.outcome === 'reported') ? 'rows' : 'empty';
    return { observationId: step.position, outcome, usage: {} };
  });
}

async function reportOf(
  { deps }: StepContext,
  task: string,
  refused: string,
  run: HelperRun | null,
): Promise<HelperReport> {
  if (run === null) return { task, helper: null, outcome: 'refused', text: refused, calls: 0 };
  if ('failed' in run)
    return { task, helper: null, outcome: 'failed', text: `The helper failed: ${run.failed}`, calls: 0 };
  const { helper, calls } = run;
  const record = await createRunStore(deps.store, helper, deps.hash).get('result', helper);
  if (record.answer !== null) return { task, helper, calls, outcome: 'reported', text: record.answer };
  const outcome = record.status === 'failed' ? 'failed' : 'silent';
  const why = record.reason ?? record.endedBy;
  return {
    task,
    helper,
    calls,
    outcome,
    text: `The helper ${outcome === 'failed' ? 'failed' : 'did not report'}: ${why}`,
  };
}
