/** `callModel`: one activity for every model step of the search; `role` says which (design D1). */
import type { ActInput, Acted } from '../ports/react-steps';
import { brief, whole, type Brief } from '../ports/brief';
import { MODEL_INPUT, modelOutcome } from '../ports/brief-steps';
import type {
  Evaluation,
  Grounded,
  Kept,
  Looked,
  LookSteps,
  ModelOutcome,
  ModelStepInput,
  Planned,
  Proposed,
  SearchSteps,
  Selected,
  StepOptions,
} from '../ports/search-steps';
import { runStep } from './run-step';

export interface ModelSteps extends Pick<
  SearchSteps & LookSteps,
  'look' | 'keep' | 'evaluate' | 'plan' | 'propose' | 'ground' | 'select'
> {
  act(input: ActInput, options?: StepOptions): Promise<ModelOutcome<Acted>>;
}
export type ModelStepValue = Kept | Looked | Evaluation | Planned | Proposed | Grounded | Selected | Acted;

export interface ModelActivities {
  callModel(given: Brief<ModelStepInput | ActInput>): Promise<Brief<ModelOutcome<ModelStepValue>>>;
}

export function createModelActivities(steps: ModelSteps): ModelActivities {
  const run = (input: ModelStepInput | ActInput, options: StepOptions): Promise<ModelOutcome<ModelStepValue>> => {
    switch (input.role) {
      case 'look':
        return steps.look(input, options);
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
      case 'keep':
        return steps.keep(input, options);
      case 'react':
        return steps.act(input, options);
    }
  };
  return {
    callModel: (given) =>
      runStep(async (options) => {
        const input = whole(MODEL_INPUT, given);
        return brief(modelOutcome(input.role), await run(input, options));
      }),
  };
}
