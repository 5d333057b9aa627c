/** `executeSql`: one activity for every round trip to the question's database; `purpose` says which (design D1). */
import { brief, type Brief } from '../ports/brief';
import { SQL_RESULT } from '../ports/brief-steps';
import { byPurpose, type SqlInput, type SqlPurpose, type SqlSteps, type SqlValue } from '../ports/search-steps';
import { runStep } from './run-step';

type ExecuteSql = <P extends SqlPurpose>(input: SqlInput<P>) => Promise<Brief<SqlValue<P>>>;

/** The UI's timeline shows the type of a local activity, not its summary. So each purpose is also an activity type. */
export type SqlActivities = Readonly<Record<'executeSql' | SqlPurpose, ExecuteSql>>;

export function createSqlActivities(steps: SqlSteps): SqlActivities {
  const executeSql: ExecuteSql = <P extends SqlPurpose>(input: SqlInput<P>) =>
    runStep(async (options) => {
      const purpose: P = input.purpose;
      return brief(SQL_RESULT[purpose], await steps[purpose](input, options));
    });
  return { executeSql, ...byPurpose(executeSql) };
}
