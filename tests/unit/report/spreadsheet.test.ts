import { spreadsheetFile } from '../../../src/report/result-section';

const linesOf = (columns: string[], rows: (string | number | boolean | null)[][]): string[] =>
  spreadsheetFile(columns, rows).text.replace(/^\uFEFF/, '').split('\r\n'); // prettier-ignore

test('follows RFC 4180: a header, CRLF, quotes doubled, NULL empty and an empty text quoted', () => {
  const file = spreadsheetFile(['a', 'b, c'], [['say "hi"', 'two\nlines'], [null, '']]); // prettier-ignore
  expect(file.text).toBe('\uFEFFa,"b, c"\r\n"say ""hi""","two\nlines"\r\n,""\r\n');
  expect(file.guarded).toBe(0);
});

test.each(['=1+1', '+cmd|x', '@SUM(A1)', '-2+3', ' =1', '\t=1', '\r=1', '＝1+1', '+1:04.210'])(
  'a spreadsheet takes %j as text',
  (text) => {
    const file = spreadsheetFile(['a'], [[text]]);
    expect(file.guarded).toBe(1);
    expect(file.text).toContain(`'${text}`);
  },
);

test('a head that is a formula is guarded, too', () => {
  expect(linesOf(['=1+1'], [])[0]).toBe("'=1+1");
});

test('numbers stay numbers, also those that arrive as text', () => {
  expect(linesOf(['a'], [[-5], ['-12.50'], ['+3'], ['1e-7'], ['-1E+5'], ['plain'], [true]])).toEqual(
    ['a', '-5', '-12.50', '+3', '1e-7', '-1E+5', 'plain', 'true', ''], // prettier-ignore
  );
});
