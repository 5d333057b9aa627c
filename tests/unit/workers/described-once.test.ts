import type { DatabaseDescription } from '../../../src/domain';
import type { SqlEngine } from '../../../src/ports';
import { describedOnce } from '../../../src/workers/described-once';

const signal = new AbortController().signal;

function counting(outcomes: readonly ('fails' | 'answers')[] = []) {
  let calls = 0;
  const describe = (): Promise<DatabaseDescription> => {
    const outcome = outcomes[calls] ?? 'answers';
    calls += 1;
    if (outcome === 'fails') return Promise.reject(new Error('gone'));
    return Promise.resolve({ fingerprint: String(calls), tables: [] } as unknown as DatabaseDescription);
  };
  let nowMs = 0;
  const { engine } = describedOnce({ engine: { describe } as unknown as SqlEngine }, () => nowMs);
  return { engine, calls: () => calls, wait: (ms: number) => (nowMs += ms) };
}

test('a description serves whoever asks within five seconds', async () => {
  const { engine, calls, wait } = counting();
  const first = await engine.describe({ signal });
  wait(4_999);
  expect(await engine.describe({ signal })).toBe(first);
  expect(calls()).toBe(1);
});

test('after five seconds the database is described anew', async () => {
  const { engine, wait } = counting();
  await engine.describe({ signal });
  wait(5_000);
  expect((await engine.describe({ signal })).fingerprint).toBe('2');
});

test('a failed description is not remembered', async () => {
  const { engine } = counting(['fails']);
  await expect(engine.describe({ signal })).rejects.toThrow('gone');
  expect((await engine.describe({ signal })).fingerprint).toBe('2');
});
