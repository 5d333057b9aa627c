/** `executeSql`: one activity for every round trip to the question's database; `purpose` says which (design D1). */
import type { CandidateRun, Checked, Prepared, Probed, SearchSteps, Settled, SqlStepInput } from '../search/steps';
import { runStep } from './run-step';

export type SqlSteps = Pick<SearchSteps, 'prepare' | 'check' | 'probe' | 'settle' | 'candidate'>;
export type SqlStepValue = Prepared | Checked | Probed | Settled | CandidateRun;

export interface SqlActivities {
  executeSql(input: SqlStepInput): Promise<SqlStepValue>;
}

export function createSqlActivities(steps: SqlSteps): SqlActivities {
  return {
    executeSql: (input) =>
      runStep<SqlStepValue>((options) => {
        switch (input.purpose) {
          case 'prepare':
            return steps.prepare(input, options);
          case 'check':
            return steps.check(input, options);
          case 'probe':
            return steps.probe(input, options);
          case 'settle':
            return steps.settle(input, options);
          case 'candidate':
            return steps.candidate(input, options);
        }
      }),
  };
}
