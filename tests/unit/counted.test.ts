import { counted, singular } from '../../src/counted';

test.each([
  [1, 'turn', undefined, '1 turn'],
  [0, 'turn', undefined, '0 turns'],
  [2_000, 'entry', 'entries', '2,000 entries'],
] as const)('%i of a thing is worded by its number', (count, one, many, text) => {
  expect(counted(count, one, many)).toBe(text);
});

test.each([
  ['customers', 'customer'],
  ['paid orders with a date', 'paid order with a date'],
  ['entries of 2024, deleted ones too', 'entry of 2024, deleted ones too'],
  ['boxes', 'box'],
  ['business classes', 'business class'],
  ['movies', 'movie'],
  ['status', 'status'],
  ['runs whose clocks agree', 'run whose clocks agree'],
])('one of %s is a %s', (many, one) => {
  expect(singular(many)).toBe(one);
});
