/** The steps of a watch of a layer as activities. */
import type { WatchFound, WatchSteps } from '../ports/drift';
import { runStep } from './run-step';

export interface WatchActivities {
  verifyLayer(input: Parameters<WatchSteps['verifyLayer']>[0]): Promise<WatchFound>;
  reportDrift(input: Parameters<WatchSteps['reportDrift']>[0]): Promise<void>;
}

export function createWatchActivities(steps: WatchSteps): WatchActivities {
  return {
    verifyLayer: (input) => runStep((options) => steps.verifyLayer(input, options)),
    reportDrift: (input) => runStep((options) => steps.reportDrift(input, options)),
  };
}
