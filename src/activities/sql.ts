/** `executeSql`: one activity for every round trip to the question's database; `purpose` says which (design D1). */
import { byPurpose, type SqlInput, type SqlPurpose, type SqlSteps, type SqlValue } from '../ports/search-steps';
import { runStep } from './run-step';

type ExecuteSql = <P extends SqlPurpose>(input: SqlInput<P>) => Promise<SqlValue<P>>;

/** The UI's timeline shows the type of a local activity, not its summary. So each purpose is also an activity type. */
export type SqlActivities = Readonly<Record<'executeSql' | SqlPurpose, ExecuteSql>>;

export function createSqlActivities(steps: SqlSteps): SqlActivities {
  const executeSql: ExecuteSql = <P extends SqlPurpose>(input: SqlInput<P>) => {
    const purpose: P = input.purpose;
    return runStep((options) => steps[purpose](input, options));
  };
  return { executeSql, ...byPurpose(executeSql) };
}
