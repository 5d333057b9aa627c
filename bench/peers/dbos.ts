/**
 * The search on DBOS Transact: one workflow, every step a `DBOS.runStep`, system tables in PostgreSQL. Its own defaults
 * (pool of 10); steps are retried as our activities are; pending workflows are recovered at `launch`.
 */
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { SearchInput } from '../../src/domain';
import { isModelStep, loop, wrapSteps, type OpenContestant } from '../contestants/contestant';

const RETRIES = { retriesAllowed: true, maxAttempts: 10, intervalSeconds: 1, backoffRate: 2 };
/** Only for searches that go on after a kill: their handle polls. */
const POLL = { pollingIntervalMs: 20 };

export const open: OpenContestant = async ({ engineAt }, { steps }) => {
  DBOS.setConfig({ name: 'gate-bench', systemDatabaseUrl: engineAt, logLevel: 'error' });
  const durable = wrapSteps(steps, (name, step) => {
    const retries = isModelStep(name) ? RETRIES : {};
    return (input) => DBOS.runStep(() => step(input), { name, ...retries });
  });
  const search = DBOS.registerWorkflow((input: SearchInput) => loop(input, durable), { name: 'search' });
  await DBOS.launch();
  return {
    async run(input) {
      const handle = await DBOS.startWorkflow(search, { workflowID: input.searchId })(input);
      return handle.getResult(POLL);
    },
    close: () => DBOS.shutdown(),
  };
};
