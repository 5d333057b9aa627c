/** `callModel`: one activity for every model step of the search; `role` says which (design D1). */
import type { ModelInput, ModelOutcome, ModelRole, ModelSteps, ModelValue } from '../ports/search-steps';
import { runStep } from './run-step';

export interface ModelActivities {
  callModel<R extends ModelRole>(input: ModelInput<R>): Promise<ModelOutcome<ModelValue<R>>>;
}

export function createModelActivities(steps: ModelSteps): ModelActivities {
  return {
    callModel: <R extends ModelRole>(input: ModelInput<R>) => {
      const role: R = input.role;
      return runStep((options) => steps[role](input, options));
    },
  };
}
