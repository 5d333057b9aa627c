import { outageLines, outagesOf, outageText, type Outage } from '../../../src/app/outages';
import { progressDisplay } from '../../../src/cli/follow';

const NOW = Date.UTC(2026, 0, 5, 10, 0, 0);
const at = (seconds: number): Date => new Date(NOW + seconds * 1000);
const failing = {
  ...{ summary: 'callModel', attempt: 4, lastFailure: 'api.example cannot be reached (ECONNREFUSED)' },
  ...{ nextTryAt: at(8), givesUpAt: at(3_540) },
};
const outage: Outage = {
  ...{ step: 'model call', attempt: 4, reason: 'api.example cannot be reached (ECONNREFUSED)' },
  ...{ nextTryAt: at(8).toISOString(), givesUpAt: at(3_540).toISOString() },
};

describe('what is being retried', () => {
  test('says attempt, next try and when it gives up', () => {
    expect(outagesOf({ pending: [failing], busySince: null }, NOW)).toEqual([outage]);
    expect(outageText(outage, NOW)).toBe(
      'model call is retried: attempt 4 in 8.0 s, gives up at 10:59 UTC (in 59 min 0 s); api.example cannot be reached (ECONNREFUSED)',
    );
  });

  test('an attempt that runs has no next one yet', () => {
    const [found] = outagesOf({ pending: [{ ...failing, nextTryAt: null }], busySince: null }, NOW);
    expect(outageText(found!, NOW)).toContain('attempt 4 is under way, gives up at 10:59 UTC');
  });

  test('a step without a failure is none, and the one that gives up first comes first', () => {
    const calm = { ...failing, lastFailure: null };
    const sooner = { ...failing, summary: 'executeSql', givesUpAt: at(60) };
    expect(outagesOf({ pending: [calm], busySince: null }, NOW)).toEqual([]);
    expect(outagesOf({ pending: [failing, sooner], busySince: null }, NOW)[0]?.step).toBe('SQL');
  });

  test('a failure is cut to a line and tells no password and no key', () => {
    const lastFailure = `postgresql://reader:hunter2@db/sales is away\nBearer abc.def sk-abcdefghijkl ${'x'.repeat(900)}`;
    const [found] = outagesOf({ pending: [{ ...failing, lastFailure }], busySince: null }, NOW);
    expect(found?.reason).not.toMatch(/hunter2|abc\.def|sk-abc|\n/);
    expect(found?.reason.length).toBeLessThanOrEqual(200);
  });

  test('a worker that has been busy inside itself for long is told as what it is', () => {
    expect(outagesOf({ pending: [], busySince: at(-5) }, NOW)).toEqual([]);
    const [found] = outagesOf({ pending: [], busySince: at(-90) }, NOW);
    expect(found?.reason).toMatch(/^no news for 1 min 30 s/);
    expect(found?.givesUpAt).toBeNull();
  });
});

test('off a terminal: one line when it begins, and one a minute', () => {
  const lines: string[] = [];
  let now = NOW;
  const tell = outageLines(
    (line) => void lines.push(line),
    () => now,
  );
  for (const seen of [null, ...Array<Outage>(26).fill(outage), null]) {
    tell(seen);
    now += 5_000;
  }
  expect(lines.map((line) => line.split(':')[0])).toEqual(Array<string>(3).fill('model call is retried'));
});

test('on a terminal it is a part of the live lines, and gone when it is over', () => {
  let text = '';
  const err = (more: string): void => void (text += more);
  const display = progressDisplay({ live: true, err, columns: 100, now: () => NOW });
  display.retried(outage);
  display.note('drawn');
  expect(text).toContain('model call is retried: attempt 4 in 8.0 s, gives up at 10:59 UTC');
  text = '';
  display.retried(null);
  display.note('drawn again');
  expect(text.slice(text.indexOf('drawn again'))).not.toContain('is retried');
  display.stop();
});
