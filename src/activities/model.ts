/** `callModel`: one activity for every model step of the search; `role` says which (design D1). */
import type {
  Evaluation,
  Grounded,
  ModelOutcome,
  ModelStepInput,
  Planned,
  Proposed,
  SearchSteps,
  Selected,
} from '../search/steps';
import { runStep } from './run-step';

export type ModelSteps = Pick<SearchSteps, 'evaluate' | 'plan' | 'propose' | 'ground' | 'select'>;
export type ModelStepValue = Evaluation | Planned | Proposed | Grounded | Selected;

export interface ModelActivities {
  callModel(input: ModelStepInput): Promise<ModelOutcome<ModelStepValue>>;
}

export function createModelActivities(steps: ModelSteps): ModelActivities {
  return {
    callModel: (input) =>
      runStep<ModelOutcome<ModelStepValue>>((options) => {
        switch (input.role) {
          case 'evaluate':
            return steps.evaluate(input, options);
          case 'plan':
            return steps.plan(input, options);
          case 'propose':
            return steps.propose(input, options);
          case 'ground':
            return steps.ground(input, options);
          case 'select':
            return steps.select(input, options);
        }
      }),
  };
}
