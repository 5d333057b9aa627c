/** `gate dev` as a person starts it first: with nothing configured. */
import { setTimeout as sleep } from 'node:timers/promises';
import { userFolders } from '../../src/config/folders';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { gateHome } from '../helpers/gate-process';

test('without a configured database gate dev stays up until it is interrupted, and takes its server along', async () => {
  const temporal = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const env = { TEMPORAL_ADDRESS: '', TEMPORAL_CLI_PATH: temporal };
  const home = gateHome({ baseUrl: 'http://127.0.0.1:9/v1', env });
  const dev = home.start(['dev']);
  await dev.said(/Ctrl-C stops/);
  await sleep(1_500);
  expect(dev.child.exitCode).toBeNull();
  dev.child.kill('SIGINT');
  expect(await dev.ended).toMatchObject({ code: 0, out: expect.stringContaining('no configured database') as string });
  expect((await home.run(['dev', '--stop'])).out).toMatch(/^no embedded server was running/);
});
