import { setTimeout as sleep } from 'node:timers/promises';
import { each, limiter, untilAborted } from '../../src/limiter';

test('a limiter runs so many at once, in order, and idle tells of the first failure', async () => {
  const jobs = limiter(2);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  for (const n of [1, 2, 3, 4]) {
    jobs.add(async () => {
      most = Math.max(most, (running += 1));
      order.push(n);
      await Promise.resolve();
      running -= 1;
      if (n === 3) throw new Error('third');
    });
  }
  await expect(jobs.idle()).rejects.toThrow('third');
  expect([order, most]).toEqual([[1, 2, 3, 4], 2]);
});

test('an abort ends the wait for a place; a job that runs keeps it until it ends', async () => {
  const jobs = limiter(1);
  let end = (): void => undefined;
  const first = new AbortController();
  const running = jobs.run(() => new Promise<string>((resolve) => (end = () => resolve('ran'))), first.signal);
  const second = new AbortController();
  const begun: string[] = [];
  const waiting = jobs.run(() => Promise.resolve(begun.push('second')), second.signal);
  const third = jobs.run(() => Promise.resolve(begun.push('third')));
  second.abort(new Error('no patience'));
  await expect(waiting).rejects.toThrow('no patience');
  first.abort(new Error('too late'));
  await sleep(5);
  expect(begun).toEqual([]);
  end();
  expect(await running).toBe('ran');
  await third;
  expect(begun).toEqual(['third']);
});

test('each gives results in order, and fails only when nothing runs any more', async () => {
  expect(await each([3, 1, 2], async (n) => sleep(n, n * 10), 2)).toEqual([30, 10, 20]);
  const ended: number[] = [];
  const work = async (n: number): Promise<void> => {
    await sleep(n);
    ended.push(n);
    if (n === 1) throw new Error('one');
  };
  await expect(each([1, 20], work)).rejects.toThrow('one');
  expect(ended).toEqual([1, 20]);
});

test('work whose caller has left already may fail unheard', async () => {
  const unheard = jest.fn();
  process.on('unhandledRejection', unheard);
  const work = Promise.reject(new Error('failed'));
  await expect(untilAborted(work, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
  await sleep(5);
  process.off('unhandledRejection', unheard);
  expect(unheard).not.toHaveBeenCalled();
});
