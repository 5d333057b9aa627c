/** Preset `fast`: look, then prove; a model that keeps no format goes on as the ReAct agent does. */
import type { ReactSteps } from '../ports/react-steps';
import type { LookSteps, SearchSteps } from '../ports/search-steps';
import { runLook } from '../search/look';
import type { SearchHooks, SearchOutcome, SearchStart } from '../search/run';
import { runReact } from './react';

export function runLookThenProve(
  start: SearchStart,
  steps: SearchSteps & ReactSteps & LookSteps,
  hooks: SearchHooks,
): Promise<SearchOutcome> {
  return runLook(start, steps, hooks, runReact);
}
