import fc from '../../helpers/property';
import { similarity } from '../../../src/methods/agent/steps';

/** Figures of rapidfuzz 3, `fuzz.ratio`. */
test.each([
  ['this is a test', 'this is a test!', 96.55],
  ['lewenstein', 'levenshtein', 85.71],
  ['abc', 'xyz', 0],
  ['', '', 100],
  ['', 'a', 0],
])('%s and %s', (one, other, ratio) => expect(similarity(one, other)).toBeCloseTo(ratio, 2));

test('is the same both ways, 100 only for equal texts', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      expect(similarity(one, other)).toBe(similarity(other, one));
      expect(similarity(one, other) === 100).toBe(one === other);
    }),
  );
});
