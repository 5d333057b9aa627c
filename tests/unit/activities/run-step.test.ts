import { MockActivityEnvironment } from '@temporalio/testing';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { runStep } from '../../../src/activities/run-step';

test('a step beats soon and while it runs', async () => {
  const env = new MockActivityEnvironment({ heartbeatTimeoutMs: 30 });
  let beats = 0;
  // It ends by the fourth beat, so one that does not come is the test's time limit.
  await env.run(() =>
    runStep(() => new Promise<void>((resolve) => env.on('heartbeat', () => (beats += 1) === 4 && resolve()))),
  );
  expect(beats).toBe(4);
});

test('a short step ends without a beat', async () => {
  const env = new MockActivityEnvironment({ heartbeatTimeoutMs: 15_000 });
  let beats = 0;
  env.on('heartbeat', () => (beats += 1));
  await env.run(() => runStep(() => Promise.resolve()));
  expect(beats).toBe(0);
});

test('a cancelled step gets the signal and ends as cancelled, whatever its driver throws', async () => {
  const env = new MockActivityEnvironment({ heartbeatTimeoutMs: 1000 });
  const running = env.run(() =>
    runStep(
      ({ signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('driver: aborted')))),
    ),
  );
  env.cancel();
  await expect(running).rejects.toBeInstanceOf(CancelledFailure);
});

test('a result that belongs in the store fails at once', async () => {
  const env = new MockActivityEnvironment();
  const failure = await env.run(() => runStep(async () => 'x'.repeat(300_000))).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({ type: 'ResultTooLarge', nonRetryable: true });
});
