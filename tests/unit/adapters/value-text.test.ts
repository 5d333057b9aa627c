import { compactJson, exactNumber } from '../../../src/adapters/value-text';

test('JSON loses the space between its tokens and nothing else', () => {
  const value = { 'a b': [1, ' x  y ', 'q " \\', '\\', '\\\\" ', null], é: { '': true } };
  expect(compactJson(JSON.stringify(value, null, 2))).toBe(JSON.stringify(value));
  expect(compactJson('{"n" : 1.50, "n" : 12345678901234567890}')).toBe('{"n":1.50,"n":12345678901234567890}');
  expect(compactJson('')).toBe('');
});

test.each([
  ['a text', `"${'x'.repeat(20_000_000)}"`],
  ['escapes', `"${'\\"\\\\'.repeat(5_000_000)}"`],
  ['space', `[${' '.repeat(20_000_000)}]`],
])('JSON with 20 MB of %s is read', (_, text) => {
  expect(compactJson(text)).toHaveLength(text.startsWith('[') ? 2 : text.length);
});

test('a number is one when its digits are those of a double', () => {
  expect(
    ['1.50', '0.000', '100', '1e3', '9007199254740993', '0.1000000000000000055511151231257827'].map(exactNumber),
  ).toEqual([1.5, 0, 100, '1e3', '9007199254740993', '0.1000000000000000055511151231257827']);
});

test('a small number is one in whatever way it is printed, a whole one beyond 2^53 never', () => {
  expect(
    ['0.0000001', '-0.00000015', '0.000000123456789012345678', '9007199254740991', '9007199254740992', '-100000000000000000000'].map(exactNumber),
  ).toEqual([1e-7, -1.5e-7, '0.000000123456789012345678', 9007199254740991, '9007199254740992', '-100000000000000000000']);
}); // prettier-ignore

test('a number of 16,000 digits takes no time', () => {
  const text = `0.${'0'.repeat(16_000)}1`;
  const started = performance.now();
  for (let count = 0; count < 100; count += 1) expect(exactNumber(text)).toBe(text);
  expect(performance.now() - started).toBeLessThan(2_000);
});
