/** Work that waits where nobody fetches it, because it was asked with another configuration. */
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { questionQueues } from '../../src/workers/task-queues';
import { servedName } from '../../src/workers/serving';
import { unservedSearches, unservedSearchesLine } from '../../src/workers/running-elsewhere';
import { unique, withClient, withWorkers } from '../helpers/temporal';
import { noBatch, scriptedSettings, scriptedSteps } from './scripted-steps';

test('a search that no worker of its configuration serves is named with what it was asked with, until one is up', async () => {
  const [database, searchId] = [unique('db'), unique('q')];
  const serving = {
    fingerprint: '0123456789ab',
    parts: { 'model endpoint': 'http://a/v1', 'key of the model endpoint': '#1' },
  };
  const served = servedName(database, serving);
  await withClient(async (gate) => {
    await startQuestion(gate, {
      ...{ searchId, settings: scriptedSettings(), modelTimeoutMs: 5_000, label: searchId, serving },
      queues: questionQueues(served),
    });
    const found = async () =>
      (await unservedSearches(gate, Date.now())).find(({ taskQueue }) => taskQueue === `gate-db-${served}`);
    while ((await found()) === undefined) await sleep(50);
    const line = `1 search waits in the queue gate-db-${served}, which no process serves; asked with model endpoint http://a/v1`;
    expect(unservedSearchesLine((await found())!)).toBe(line);
    await withWorkers({ steps: scriptedSteps({}), batch: noBatch, databases: [served] }, () =>
      awaitQuestion(gate, searchId),
    );
    expect(await found()).toBeUndefined();
  });
});
