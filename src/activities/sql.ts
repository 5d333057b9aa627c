/** One activity for every round trip to the question's database; `purpose` says which (design D1). */
import type { FinalInput, FinalRun, ToolInput, ToolRun } from '../ports/react-steps';
import { brief, type Brief } from '../ports/brief';
import { SQL_RESULT } from '../ports/brief-steps';
import type {
  CandidateRun,
  Checked,
  Committed,
  LookSteps,
  Prepared,
  Probed,
  Queried,
  SearchSteps,
  Settled,
  SqlStepInput,
  StepOptions,
} from '../ports/search-steps';
import { runStep } from './run-step';

export interface SqlSteps extends Pick<
  SearchSteps & LookSteps,
  'prepare' | 'queries' | 'commit' | 'check' | 'probe' | 'settle' | 'candidate'
> {
  tool(input: ToolInput, options?: StepOptions): Promise<ToolRun>;
  final(input: FinalInput, options?: StepOptions): Promise<FinalRun>;
}
export type SqlStepValue =
  Prepared | Queried | Committed | Checked | Probed | Settled | CandidateRun | ToolRun | FinalRun;

export type SqlInput = SqlStepInput | ToolInput | FinalInput;
type ExecuteSql = (input: SqlInput) => Promise<Brief<SqlStepValue>>;

/** The UI's timeline shows the type of a local activity, not its summary. So each purpose is also an activity type. */
export type SqlActivities = Readonly<Record<'executeSql' | SqlInput['purpose'], ExecuteSql>>;

export function createSqlActivities(steps: SqlSteps): SqlActivities {
  const run = (input: SqlInput, options: StepOptions): Promise<SqlStepValue> => {
    switch (input.purpose) {
      case 'prepare':
        return steps.prepare(input, options);
      case 'queries':
        return steps.queries(input, options);
      case 'commit':
        return steps.commit(input, options);
      case 'check':
        return steps.check(input, options);
      case 'probe':
        return steps.probe(input, options);
      case 'settle':
        return steps.settle(input, options);
      case 'candidate':
        return steps.candidate(input, options);
      case 'tool':
        return steps.tool(input, options);
      case 'final':
        return steps.final(input, options);
    }
  };
  const executeSql: ExecuteSql = (input) =>
    runStep(async (options) => brief(SQL_RESULT[input.purpose], await run(input, options)));
  return {
    executeSql,
    prepare: executeSql,
    queries: executeSql,
    commit: executeSql,
    check: executeSql,
    probe: executeSql,
    settle: executeSql,
    candidate: executeSql,
    tool: executeSql,
    final: executeSql,
  };
}
