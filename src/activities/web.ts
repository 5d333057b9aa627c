/**
 * `useWeb`: one call of a web tool. A site that does not answer is tried a few times; then the failure is an observation. An
 * outage of the search provider is retried like an outage of the database.
 */
import { activityInfo } from '@temporalio/activity';
import type { AllSteps, WebInput, WebRun } from '../ports/search-steps';
import { runStep } from './run-step';

const TRIES_OF_A_SITE = 3;

export type WebStep = Pick<AllSteps, 'web'>;

export interface WebActivities {
  useWeb(input: WebInput): Promise<WebRun>;
}

export function createWebActivities(steps: WebStep): WebActivities {
  return {
    useWeb: (input) =>
      runStep((options) => steps.web(input, { ...options, mayRetry: activityInfo().attempt < TRIES_OF_A_SITE })),
  };
}
