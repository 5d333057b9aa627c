/** The step of a watch of a layer as an activity. */
import type { WatchFound, WatchRun, WatchSteps } from '../roles/layer/verify';
import { runStep } from './run-step';

export type { WatchFound, WatchRun };

export interface WatchActivities {
  verifyLayer(run: WatchRun): Promise<WatchFound>;
}

export function createWatchActivities(steps: WatchSteps): WatchActivities {
  return { verifyLayer: (run) => runStep((options) => steps.verifyLayer(run, options)) };
}
