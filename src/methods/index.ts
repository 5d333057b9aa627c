/** Runs a question by the method that its settings name: in a workflow and in a process alike. */
import type { SearchHooks, SearchOutcome, SearchStart } from '../search/run';
import { runSearch } from '../search/search';
import { runLearn } from './learn';
import { runLookThenProve } from './look-then-prove';
import { runAgent } from './agent/loop';
import { runReactRepeated } from './react-repeated';
import { runReforce } from './reforce/loop';
import { withCheckpoints } from './checkpoints';
import type { MethodSteps } from '../domain/ports/steps';

export function runMethod(start: SearchStart, given: MethodSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  const steps = withCheckpoints(given, start.state);
  const { method, procedure, repeated } = start.settings;
  switch (method) {
    case 'fast':
    case 'thorough':
    case 'paper':
      return (procedure === undefined ? runSearch : runLookThenProve)(start, steps, hooks);
    case 'react':
    case 'redel':
      return (repeated === undefined ? runAgent : runReactRepeated)(start, steps, hooks);
    case 'reforce':
      return runReforce(start, steps, hooks);
    case 'learn':
      return runLearn(start, steps, hooks);
    default:
      return method satisfies never;
  }
}
