import { definingRow } from '../../../src/sql/defining-row';

test('the only row with the value defines it: the value, then the words of the row', () => {
  expect(definingRow([['300', '310', 'TESSMAR LIVE', 7, '2024-01-01']], 1)).toBe('310 | TESSMAR LIVE');
});

test('long words are cut', () => {
  expect(definingRow([['C', 'An order '.repeat(50)]], 0)).toBe(`C | ${'An order '.repeat(50).slice(0, 59)}…`);
});

test('rows that are copies in several languages are one, told in English', () => {
  const rows = [
    ['C', 'D', 'Auftrag'],
    ['C', 'E', 'Order'],
    ['C', 'F', 'Commande'],
  ];
  expect(definingRow(rows, 0)).toBe('C | Order');
});

test('rows that are copies for several clients are one', () => {
  const rows = [
    ['300', 'C', 'Order'],
    ['310', 'C', 'Order'],
  ];
  expect(definingRow(rows, 1, new Set([0]))).toBe('C | Order');
  expect(definingRow(rows, 1)).toBeNull();
});

test.each([
  [
    'several rows have it, so it is no key',
    [
      ['C', 'Meyer'],
      ['C', 'Huber'],
    ],
  ],
  [
    'several rows have it, with numbers that differ',
    [
      ['C', 'D', '10', 'Meyer'],
      ['C', 'E', '11', 'Huber'],
    ],
  ],
  ['the row has no words', [['C', 'FERT', 'KGM', 12, null, '2024-01-01']]],
  ['the row has an id', [['C', 'a1b2c3d4-abcd-abcd-abcd-a1b2c3d4e5f6']]],
  ['there is no row', []],
])('null where %s', (_, rows) => {
  expect(definingRow(rows, 0)).toBeNull();
});
