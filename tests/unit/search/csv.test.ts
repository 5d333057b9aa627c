import { toCsv, type CsvResult } from '../../../src/search/csv';

const result = (rows: CsvResult['rows'], truncated = false): CsvResult => ({
  columns: [{ name: 'a' }, { name: 'b, c' }],
  rows,
  truncated,
});

test('quotes what needs it, keeps NULL and an empty text apart', () => {
  expect(toCsv(result([[1, 'x'], [null, ''], ['say "hi"', 'two\nlines'], [true, 1.5]]))).toBe('a,"b, c"\n1,x\n,""\n"say ""hi""","two\nlines"\ntrue,1.5');
}); // prettier-ignore

test('for a model NULL is a word, and the text NULL is quoted', () => {
  expect(
    toCsv(
      result([
        [null, 'NULL'],
        ['', 1],
      ]),
      { nulls: 'NULL' },
    ),
  ).toBe('a,"b, c"\nNULL,"NULL"\n"",1');
});

test('a result without rows is its header', () => {
  expect(toCsv(result([]))).toBe('a,"b, c"');
});

test('a cut falls between rows and says how much is shown', () => {
  const rows = Array.from({ length: 100 }, (_, index) => [index, 'value']);
  const text = toCsv(result(rows), { maxChars: 60 });
  expect(text).toBe('a,"b, c"\n0,value\n1,value\n2,value\n3,value\n4,value\n5,value\n(6 of 100 rows shown)');
  expect(toCsv(result(rows, true), { maxChars: 60 })).toContain('(6 of 100 or more rows shown)');
});

test('rows that the cap kept back are mentioned even when the text fits', () => {
  expect(toCsv(result([[1, 2]], true), { maxChars: 1000 })).toBe('a,"b, c"\n1,2\n(1 of 1 or more rows shown)');
});

test('a first row that does not fit is shown in part', () => {
  const text = toCsv(result([['x'.repeat(500), 1], [2, 2]]), { maxChars: 50 }); // prettier-ignore
  expect(text).toMatch(/^a,"b, c"\nx{41}…\n\(the first row is cut; it is 1 of 2 rows\)$/);
});
