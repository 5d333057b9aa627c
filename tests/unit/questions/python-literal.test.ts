import fc from '../../helpers/property';
import { parseRows } from '../../../src/questions/python';

test.each([
  ['[]', []],
  ["[['iv'], ['po/ng']]", [['iv'], ['po/ng']]],
  [`[["it's", 'say "x"']]`, [["it's", 'say "x"']]],
  ["[('a', 1, -2.5, None, True, False), ]", [['a', 1, -2.5, null, true, false]]],
  ["[['a\\'b\\\\c\\n\\x41\\u00e9\\U0001f331']]", [["a'b\\c\nAé🌱"]]],
  ['[[1e3, .5, 5.]]', [[1000, 0.5, 5]]],
  ['[[null, true, false]]', [[null, true, false]]],
  ['[[9007199254740993]]', [['9007199254740993']]],
  ['[[],\n []]', [[], []]],
])('%s', (text, rows) => {
  expect(parseRows(text)).toEqual(rows);
});

test.each([
  ['', /expected a list at character 1/],
  ['[[', /expected a value/],
  ["[['a'", /expected "," or "\]"/],
  ["[['a]]", /expected a closing '/],
  ['[[1]] x', /expected the end of the text at character 7/],
  ['[[nan]]', /expected a value at character 3/],
  ['[1]', /expected a list at character 2/],
  ["[['\\x4']]", /expected a character code/],
])('%j is refused with its place', (text, message) => {
  expect(() => parseRows(text)).toThrow(message);
});

test('whatever JSON writes is read back', () => {
  const cell = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
    fc.boolean(),
    fc.constant(null),
  );
  fc.assert(
    fc.property(fc.array(fc.array(cell)), (rows) => {
      const text = JSON.stringify(rows);
      expect(parseRows(text)).toEqual(JSON.parse(text));
    }),
  );
});
