/** The product: `answerQuestion` on the embedded server with our settings, worker and client in one process as `gate ask`. */
import { awaitQuestion, connectClient, startQuestion } from '../../src/workers/client';
import { createGateWorkers, installLogger } from '../../src/workers/run-worker';
import { questionQueues } from '../../src/workers/task-queues';
import type { OpenContestant } from './contestant';

export const open: OpenContestant = async ({ engineAt, databaseName }, { steps, store }) => {
  installLogger('ERROR', (line) => process.stderr.write(`${line}\n`));
  const temporal = { address: engineAt, namespace: 'default' };
  const batch = { store, readAnswer: () => Promise.resolve(null) };
  const workers = await createGateWorkers({ ...temporal, steps, batch, databases: [databaseName] });
  const serving = workers.run();
  const client = await connectClient(temporal);
  return {
    async run({ searchId, settings }) {
      const queues = questionQueues(databaseName);
      await startQuestion(client, { searchId, settings, modelTimeoutMs: 60_000, queues, label: 'bench' });
      const ended = await awaitQuestion(client, searchId);
      if (ended.kind !== 'completed') throw new Error(`${searchId} failed: ${ended.message}`);
      return ended.value;
    },
    async close() {
      workers.stop();
      await serving;
      await client.close();
    },
  };
};
