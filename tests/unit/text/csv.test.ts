import { clip } from '../../../src/clip';
import { csvLine, toCsv, type CsvResult } from '../../../src/text/result-text';

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

test('a row is never an empty line, which readers skip', () => {
  expect(csvLine([null])).toBe('""');
  expect(csvLine([null, null])).toBe(',');
  expect(csvLine([null], 'NULL')).toBe('NULL');
  expect(toCsv({ columns: [{ name: '' }], rows: [[null], ['']], truncated: false })).toBe('""\n""\n""');
});

test('rows without columns are counted', () => {
  expect(toCsv({ columns: [], rows: [[], [], []], truncated: true })).toBe('(3 or more rows without columns)');
});

test('a header over the budget is cut, with rows or without', () => {
  const columns = Array.from({ length: 1600 }, (_, index) => ({ name: `column ${index}` }));
  for (const rows of [[], [columns.map(() => 1)]])
    expect(toCsv({ columns, rows, truncated: false }, { maxChars: 100 })).toMatch(
      new RegExp(`^column 0,.{91}…\\n\\(the header is cut; 1600 columns, ${rows.length} rows\\)$`),
    );
});

test('where not all fits, a long value is shortened and says so; the rest of its row and the next rows are seen', () => {
  const long = 'x'.repeat(5000);
  const rows = [[long, 1], ['y', 2], [`"${long}"`, 3]]; // prettier-ignore
  expect(toCsv(result(rows), { maxChars: 8000 })).toBe(
    `a,"b, c"\n${'x'.repeat(2000)}… (3000 more characters),1\ny,2\n"""${'x'.repeat(1999)}… (3002 more characters)",3`,
  );
  expect(toCsv(result(rows), { maxChars: 11_000 })).toContain(long);
});

test('a cut does not split a character', () => {
  expect([0, 1, 2, 3, 4].map((chars) => clip('a😀b', chars))).toEqual(['', 'a', 'a', 'a😀', 'a😀b']);
  expect(clip('ab', -1)).toBe('');
});
