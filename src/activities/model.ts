/** `callModel`: one activity for every model step of the search; `role` says which (design D1). */
import { brief, whole, type Brief } from '../ports/brief';
import { MODEL_INPUT, modelOutcome } from '../ports/brief-steps';
import type { ModelInput, ModelOutcome, ModelRole, ModelSteps, ModelValue } from '../ports/search-steps';
import { runStep } from './run-step';

export interface ModelActivities {
  callModel<R extends ModelRole>(given: Brief<ModelInput<R>>): Promise<Brief<ModelOutcome<ModelValue<R>>>>;
}

export function createModelActivities(steps: ModelSteps): ModelActivities {
  return {
    callModel: <R extends ModelRole>(given: Brief<ModelInput<R>>) =>
      runStep(async (options) => {
        const input = whole(MODEL_INPUT, given);
        const role: R = input.role;
        return brief(modelOutcome(role), await steps[role](input, options));
      }),
  };
}
