/** Claims on the same base check are one claim with all rivals. */
import { mergedClaims, withoutTail } from '../../../src/sql/same-check';

const claim = (statement: string, check: string, ...readings: string[]) => ({
  ...{ operator: 'op_gap', statement, check, rivals: readings.map((reading) => ({ reading })) },
});

const BASE = 'SELECT count(*) AS examined, sum(a = b) AS matching';

test('rivals of the same check are counted side by side, in the order of the claims', () => {
  const merged = mergedClaims(
    [
      claim('B stores ms.', `${BASE}, sum(a = b * 1000) FROM lap WHERE a > 0`, 'seconds'),
      claim('A lap has one car.', 'SELECT count(*), count(DISTINCT car), 0 FROM lap', 'two'),
      claim('Cut laps count', `select count(*), sum(a = b), sum(a = c)  AS cut from lap where a > 0`, 'cut'),
    ],
    'sqlite',
  );
  expect(merged).toEqual([
    {
      ...{ operator: 'op_gap', statement: 'B stores ms. Cut laps count' },
      check: `${BASE}, sum(a = b * 1000), sum(a = c) FROM lap WHERE a > 0`,
      rivals: [{ reading: 'seconds' }, { reading: 'cut' }],
    },
    expect.objectContaining({ statement: 'A lap has one car.' }),
  ]);
});

test('a rival that both have is counted once', () => {
  const one = claim('B stores ms.', `${BASE}, sum(a = c) FROM lap`, 'seconds');
  expect(mergedClaims([one, { ...one, statement: 'stores ms.' }], 'postgresql')).toEqual([one]);
});

test('where the program repeats the check for each rival, the check stays as it is', () => {
  const one = claim('B stores ms.', `${BASE} FROM op_gap`, 'seconds');
  const two = claim('It is signed.', `${BASE} FROM op_gap`, 'unsigned');
  expect(mergedClaims([one, two], 'sqlite')).toEqual([
    { ...one, statement: 'B stores ms. It is signed.', rivals: [...one.rivals, ...two.rivals] },
  ]);
});

test.each([
  ['other rows', `${BASE}, sum(a = c) FROM lap`, `${BASE}, sum(a = c) FROM lap WHERE a > 0`],
  ['other matches', `${BASE}, 0 FROM lap`, 'SELECT count(*), sum(a < b), 0 FROM lap'],
  ['steps that differ', `WITH x AS (SELECT 1) ${BASE}, 0 FROM x`, `WITH x AS (SELECT 2) ${BASE}, 0 FROM x`],
  ['counts of its own for each rival', `${BASE}, 1, 2 FROM lap`, `${BASE}, 1, 2 FROM lap`],
  ['a text that is no query', 'count me', 'count me'],
])('%s are two claims', (_, one, two) => {
  const claims = [claim('A.', one, 'x'), claim('B.', two, 'y')];
  expect(mergedClaims(claims, 'postgresql')).toEqual(claims);
});

test('claims of two operators stay two', () => {
  const one = claim('A.', `${BASE}, 0 FROM lap`, 'x');
  expect(mergedClaims([one, { ...one, operator: 'op_other' }], 'sqlite')).toHaveLength(2);
});

describe('what a statement concludes is not told as proved', () => {
  test.each([
    [
      'Rows stand alone under their key, so each one counts as a document of its own.',
      'Rows stand alone under their key.',
    ],
    ['A reversal refers to a document, which it cancels', 'A reversal refers to a document'],
    ['B is in ms, and therefore 1.5 s are 1500. It is signed.', 'B is in ms. It is signed.'],
    ['No visit follows (same chip, so merged records count as one).', 'No visit follows (same chip).'],
    ['Rows of 300 repeat those of 310; hence only 310 counts.', 'Rows of 300 repeat those of 310.'],
    ['F1 stands as S, because the customer owes it.', 'F1 stands as S.'],
  ])('%s', (statement, told) => {
    expect(withoutTail(statement)).toBe(told);
    const [first] = mergedClaims([claim(statement, `${BASE}, 0 FROM lap`, 'x')], 'sqlite');
    expect(first?.statement).toBe(told);
  });

  test.each([
    'dep is local time: so read, a trip begins at departure.',
    'Shift 2 so bounded holds exactly the visits with code NZ.',
    'Lines are scaled, so that their sum equals the total.',
    'With zo taken off, so read, a trip lasts as long as its readings.',
    'Orders have lines, which sum to their total.',
    'Prices, so discounts are left out, equal the list.',
    'Orders count where art is PO, SO or RO.',
    'It is less because of rounding.',
  ])('what may be counted stays: %s', (statement) => {
    expect(withoutTail(statement)).toBe(statement);
  });
});
