/**
 * One run of `gate schedule`: the stored answer of a question is brought up to date. Where it no longer holds, the next search
 * of the question runs as a child. The history holds ids and how it went; rows, SQL and reasons are in the store.
 */
import {
  ApplicationFailure,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { AnswerStatus } from '../domain/answer-status';
import type { BatchActivities } from '../domain/ports/batch';
import type { ScheduledActivities } from './activities';
import { startSearch, type AnswerQuestionInput } from './answer-question';
import { asWorkflowFailure } from './ending';
import { questionWorkflowId } from './ids';
import { tell } from './tell-receivers';

export interface RepeatQuestionInput {
  /** The search that the schedule began with: its settings are those of all later ones. */
  readonly question: Omit<AnswerQuestionInput, 'state' | 'pause'>;
  readonly database: string;
  /** One line, the question with its database. */
  readonly label: string;
  /** As it was written: a cron expression or an interval. */
  readonly when: string;
}

export interface Repeated {
  readonly kind: 'unchanged' | 'changed' | 'searched';
  /** Whose record has the answer of now. */
  readonly searchId: string;
  /** Of a search. */
  readonly status?: AnswerStatus;
}

export async function repeatQuestion(input: RepeatQuestionInput): Promise<Repeated> {
  try {
    const repeated = await repeat(input);
    setCurrentDetails(`**${repeated.kind}**: ${repeated.searchId}`);
    return repeated;
  } catch (error) {
    if (isCancellation(error)) throw error;
    throw asWorkflowFailure(error, 'RepeatFailed');
  }
}

async function repeat(input: RepeatQuestionInput): Promise<Repeated> {
  const { bringUpToDate } = activities('run the stored SQL and its claims again');
  const { runId } = workflowInfo();
  const found = await bringUpToDate({ searchId: input.question.searchId, runId });
  const { searchId } = found;
  if (found.kind === 'timeout')
    throw ApplicationFailure.create({
      type: 'RepeatFailed',
      message: `the SQL of ${searchId} did not end within ${found.afterMs / 1000} s this time`,
    });
  const tells = found.tells === true;
  if (found.kind === 'current') {
    if (found.isChanged && tells) await tell({ type: 'answer.changed', runId, searchId });
    return { kind: found.isChanged ? 'changed' : 'unchanged', searchId };
  }
  if (found.fallen !== null && tells) await tell({ type: 'claim.failed', runId, searchId: found.fallen });
  const status = await searchAnew(input, searchId);
  if (tells) await tell({ type: 'answer.changed', runId, searchId });
  return { kind: 'searched', searchId, status };
}

/** Joins the search, if somebody asks the same question meanwhile. */
async function searchAnew({ question, database, label }: RepeatQuestionInput, searchId: string): Promise<AnswerStatus> {
  const workflowId = questionWorkflowId(searchId);
  const parentClosePolicy = ParentClosePolicy.ABANDON;
  try {
    const child = await startSearch({ ...question, searchId, state: null }, { label, database, parentClosePolicy });
    return (await child.result()).status;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const outcome = await activities('wait for the search').followQuestion({ searchId, workflowId });
    if (outcome.kind === 'answer') return outcome.status;
    throw ApplicationFailure.create({ type: outcome.type, message: outcome.message });
  }
}

function activities(summary: string) {
  return proxyActivities<Pick<ScheduledActivities, 'bringUpToDate'> & Pick<BatchActivities, 'followQuestion'>>({
    heartbeatTimeout: '10s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5 minutes' },
    startToCloseTimeout: '1 hour',
    scheduleToCloseTimeout: '2 hours',
    summary,
  });
}
