/** One connection for all who look at searches in a long-lived process. */
import type { App } from '../../src/app/app';
import { SharedTemporal } from '../../src/app/shared-temporal';
import type { TemporalSession } from '../../src/app/temporal-session';
import { loadConfig } from '../../src/config';
import { createMemoryStore } from '../helpers/scripted/store';
import { testFolder, testTemporal } from '../helpers/temporal';

function shared(): SharedTemporal {
  const { address, namespace } = testTemporal();
  const folder = testFolder();
  const env = { HOME: folder, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const at = { env, cwd: folder, platform: process.platform, now: () => Date.now() };
  const app: App = { ...at, config: loadConfig(at), store: createMemoryStore(), onEvent: () => undefined };
  return new SharedTemporal(app);
}

const itself = (session: TemporalSession) => Promise.resolve(session);

test('who asks while the first connection is opened is answered by it, and not told that no Temporal answers', async () => {
  const temporal = shared();
  const [one, two] = await Promise.all([temporal.asking(itself), temporal.asking(itself)]);
  expect(one).not.toBeNull();
  expect(two).toBe(one);
  await temporal.close();
});

test('a look on a connection that has gone is done again on another one, which those that failed later keep', async () => {
  const temporal = shared();
  const gone = await temporal.asking(itself);
  await gone?.close();
  const look = (session: TemporalSession) => session.describe('q-0123456789abcdef').then(() => session);
  const [one, two] = await Promise.all([temporal.asking(look), temporal.asking(look)]);
  expect(one).not.toBeNull();
  expect(one).not.toBe(gone);
  expect(two).toBe(one);
  expect(await temporal.asking(itself)).toBe(one);
  await temporal.close();
});
