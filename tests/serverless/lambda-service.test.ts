/** The Lambda service of these tests behaves as Lambda does where it matters to a worker. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testFolder } from '../helpers/temporal';
import { startLambdaService, type LambdaFunction, type LambdaService } from './lambda-service';

const ARN = 'arn:aws:lambda:eu-west-1:1:function:gate:1';

/** A function that says who it is, what time it has and how often it ran; it waits as `waitMs` says. */
function functionOf(waitMs: number, more: Partial<LambdaFunction> = {}): LambdaFunction {
  const folder = join(testFolder(), 'function');
  mkdirSync(folder);
  const handler = `let runs = 0;
exports.handler = async (event, context) => {
  runs += 1;
  console.log([process.pid, runs, Math.round(context.getRemainingTimeInMillis() / 1000)].join(' '));
  if (process.env.FAILS) throw new Error('it fails');
  await new Promise((resolve) => setTimeout(resolve, ${waitMs}));
};`;
  writeFileSync(join(folder, 'index.js'), handler);
  const logFile = join(folder, 'log');
  writeFileSync(logFile, '');
  return { arn: ARN, folder, env: {}, timeoutMs: 5_000, concurrency: 2, logFile, ...more };
}

const lines = ({ logFile }: LambdaFunction): string[][] =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));

async function invoke({ env }: LambdaService): Promise<number> {
  const url = `${env['AWS_ENDPOINT_URL_LAMBDA'] ?? ''}/2015-03-31/functions/${encodeURIComponent(ARN)}/invocations`;
  return (await fetch(url, { method: 'POST', headers: { 'X-Amz-Invocation-Type': 'Event' } })).status;
}

async function until(is: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!is()) {
    if (Date.now() > deadline) throw new Error('it did not happen within 30 s');
    await sleep(20);
  }
}

const state = (pid: string | undefined): string =>
  /^\d+ \(.*\) (\w)/.exec(readFileSync(`/proc/${pid ?? ''}/stat`, 'utf8'))?.[1] ?? '';

test('between invocations an environment is frozen, and the next one goes on in it', async () => {
  const given = functionOf(10);
  const service = await startLambdaService([given]);
  expect(await invoke(service)).toBe(202);
  await until(() => service.frozen() === 1);
  const [pid] = lines(given)[0] ?? [];
  await until(() => state(pid) === 'T');
  expect(await invoke(service)).toBe(202);
  await until(() => lines(given).length === 2 && service.frozen() === 1);
  expect(lines(given)).toEqual([
    [pid, '1', '5'],
    [pid, '2', '5'],
  ]);
  expect(service.invocations.map(({ cold, outcome }) => ({ cold, outcome }))).toEqual([
    { cold: true, outcome: 'returned' },
    { cold: false, outcome: 'returned' },
  ]);
  service.reap();
  expect(service.frozen()).toBe(0);
  await service.close();
});

test('no more run at once than the ceiling allows; what waits runs then', async () => {
  const given = functionOf(300);
  const service = await startLambdaService([given]);
  await Promise.all([1, 2, 3, 4, 5].map(() => invoke(service)));
  await until(() => service.running() === 2);
  let most = 0;
  await until(() => {
    most = Math.max(most, service.running());
    return service.invocations.filter(({ outcome }) => outcome === 'returned').length === 5;
  });
  expect(most).toBe(2);
  await service.close();
});

test('at its deadline an environment is killed, and so it is on request; an error is told', async () => {
  const given = functionOf(60_000, { timeoutMs: 1_000 });
  const service = await startLambdaService([given]);
  await invoke(service);
  await until(() => service.invocations[0]?.outcome === 'timed-out');
  await invoke(service);
  await until(() => service.killOne());
  expect(service.invocations[1]).toMatchObject({ cold: true, outcome: 'killed' });
  await service.close();

  const failing = functionOf(0, { env: { FAILS: '1' } });
  const other = await startLambdaService([failing]);
  await invoke(other);
  await until(() => other.invocations[0]?.outcome === 'failed');
  expect(other.invocations[0]?.message).toBe('it fails');
  await other.close();
});
