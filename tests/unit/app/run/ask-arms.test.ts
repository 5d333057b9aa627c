import fc from '../../../helpers/property';
import { Places } from '../../../../src/app/run/ask-arms';

test('the first batch has all places, the next one what it has no question for', () => {
  const places = new Places(8, [20, 3, 20]);
  expect([places.of(0, 20), places.of(1, 3), places.of(2, 20)]).toEqual([8, 0, 0]);
  expect([places.of(0, 2), places.of(1, 3), places.of(2, 20)]).toEqual([8, 6, 3]);
  expect([places.of(0, 0), places.of(1, 3), places.of(2, 20)]).toEqual([8, 8, 5]);
});

test('no more questions run than the concurrency, none of its places is empty while a question waits, and none is taken back', () => {
  const batches = fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), batches, fc.infiniteStream(fc.nat()), (concurrency, open, picks) => {
      const places = new Places(concurrency, open);
      const given = open.map(() => 0);
      for (let left = open.reduce((sum, some) => sum + some, 0); left > 0; left -= 1) {
        const now = open.map((some, batch) => places.of(batch, some));
        now.forEach((count, batch) => expect(count).toBeGreaterThanOrEqual(given[batch] ?? 0));
        given.splice(0, given.length, ...now);
        const running = now.map((count, batch) => Math.min(count, open[batch] ?? 0));
        expect(running.reduce((sum, some) => sum + some, 0)).toBe(Math.min(concurrency, left));
        const busy = running.flatMap((some, batch) => (some > 0 ? [batch] : []));
        const ends = busy[Number(picks.next().value) % busy.length] ?? 0;
        open[ends] = (open[ends] ?? 0) - 1;
      }
    }),
  );
});
