import { renderReport } from '../../../src/report';
import { chartOf } from '../../../src/report/chart';
import { chooseChart } from '../../../src/report/chart';
import type { ResultColumn, SqlValue } from '../../../src/domain';
import { hostile, HOSTILE, record, trace } from './fixture';

const KINDS: Record<string, ResultColumn['kind']> = { number: 'number', string: 'text', boolean: 'boolean' };
/** Columns by name, the rows below; the kind of a column is that of its first value. */
const result = (names: string, ...rows: SqlValue[][]) => ({
  columns: names.split(' ').map((name, at) => ({ name, kind: KINDS[typeof rows.find((row) => row[at] !== null)?.[at]] ?? 'text' })), // prettier-ignore
  rows,
  truncated: false,
});
const months = (count: number, of: (at: number) => SqlValue[]): SqlValue[][] =>
  Array.from({ length: count }, (_, at) => [`2024-${String(at + 1).padStart(2, '0')}`, ...of(at)]);

describe('a result is a series', () => {
  test('with numbers along months, dates, moments, quarters or years, in the order of time', () => {
    for (const places of [
      ['2024-01', '2024-03', '2024-02'],
      ['2024-01-31', '2024-03-01', '2024-02-29'],
      ['2024-01-01 10:00:00', '2024-01-03T10:00:00Z', '2024-01-02 10:00:00.5+02'],
      ['2024-Q1', '2024-Q3', '2024 Q2'],
    ]) {
      const chart = chooseChart(result('at n', ...places.map((place, at) => [place, at])));
      expect(chart).toMatchObject({ scale: 'time', leftOut: 0 });
      const points = chart!.panels[0]!.lines[0]!.points;
      expect(points.map(({ label }) => label)).toEqual([places[0], places[2], places[1]]);
    }
    expect(chooseChart(result('birth_year n', [1990, 5], [1991, 6], [1993, 2]))).toMatchObject({ scale: 'number' });
  });

  test('with one line per name, and one panel per measure', () => {
    const rows = months(3, () => []).flatMap(([month = null]) => ['north', 'south'].map((name) => [month, name, 1]));
    expect(chooseChart(result('month region n', ...rows))).toMatchObject({ by: 'region', panels: [{ lines: [{ name: 'north' }, { name: 'south' }] }] }); // prettier-ignore
    expect(chooseChart(result('month n eur', ...months(4, (at) => [at, at * 9.5])))?.panels).toHaveLength(2);
  });

  test('NULL leaves a gap, and a row without a date is counted, not drawn', () => {
    const html = chartOf(result('month n', ...months(4, (at) => [at === 1 ? null : at + 1]), [null, 9]))!.text;
    expect(html).toContain('1 row without month not drawn.');
    expect(/class="line s1" d="([^"]*)"/.exec(html)![1]!.match(/M/g)).toHaveLength(2);
  });

  test('whose axis leaves zero out says so', () => {
    expect(chartOf(result('month n', ...months(4, (at) => [1000 + at])))!.text).toContain('does not start at zero');
    expect(chartOf(result('month n', ...months(4, (at) => [at])))!.text).not.toContain('does not start at zero');
  });
});

describe('a result is a comparison', () => {
  test('with one number for each of a few names, in the order of the rows', () => {
    const chart = chooseChart(result('region total', ['south', 3], ['north', 9], [null, 1]));
    expect(chart).toMatchObject({ scale: 'bars', panels: [{ measure: 'total', lines: [{ points: [{ label: 'south', value: 3 }, { label: 'north' }, { label: 'NULL' }] }] }] }); // prettier-ignore
  });

  test('an id beside a name is no part of it, and decimals may be texts', () => {
    const rows = [['7', 'ann', '1.50'], ['8', 'bob', '2.5']]; // prettier-ignore
    const columns = ['customer_id', 'name', 'total'].map((name, at) => ({
      name,
      kind: at === 1 ? ('text' as const) : ('number' as const),
    }));
    expect(chooseChart({ columns, rows, truncated: false })).toMatchObject({ along: 'name', panels: [{ lines: [{ points: [{ label: 'ann', value: 1.5 }, { label: 'bob' }] }] }] }); // prettier-ignore
  });

  test('whose bars begin at zero, negative ones to its left', () => {
    const html = chartOf(result('region total', ['a', 10], ['b', -5]))!.text;
    const [positive, negative] = [...html.matchAll(/<rect class="f1" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)];
    expect(Number(positive![2]) / Number(negative![2])).toBeCloseTo(2, 1);
    expect(Number(negative![1]) + Number(negative![2])).toBeCloseTo(Number(positive![1]), 0);
  });
});

test.each([
  ['a single row', result('region n', ['a', 1])],
  ['ids', result('name customer_id', ['a', 17], ['b', 18])],
  ['ids by their camel-case name', result('name customerId', ['a', 17], ['b', 18])],
  ['ranks', result('name rank', ['a', 1], ['b', 2])],
  ['years of things', result('film year', ['a', 1990], ['b', 1995])],
  ['several units', result('name currency price', ['a', 'EUR', 3], ['b', 'JPY', 300])],
  ['several statistics under each other', result('metric value', ['orders', 3], ['revenue', 30_000])],
  ['two numbers for one name', result('region n', ['a', 1], ['a', 2])],
  ['two numbers for one month', result('month n', ['2024-01', 1], ['2024-01', 2], ['2024-02', 1], ['2024-03', 1])],
  ['numbers without names', result('a b', [1, 2], [3, 4])],
  ['names without numbers', result('a b', ['x', 'y'], ['z', 'w'])],
  ['two dates', result('from to n', ['2024-01', '2024-02', 1], ['2024-03', '2024-04', 1], ['2024-05', '2024-06', 2])],
  ['nothing but zero', result('region n', ['a', 0], ['b', 0])],
  ['too many names', result('name n', ...Array.from({ length: 40 }, (_, at) => [`n${at}`, at]))],
  ['too many columns', result('name a b c d e f', ['x', 1, 2, 3, 4, 5, 6], ['y', 1, 2, 3, 4, 5, 6])],
  ['a result that was cut', { ...result('region n', ['a', 1], ['b', 2]), truncated: true }],
  ['no date', result('month n', ['2024-13', 1], ['2024-14', 1], ['2024-15', 1], ['2024-15', 1])],
])('%s: no chart', (_, given) => {
  expect(chooseChart(given)).toBeNull();
});

test('the chart stands in the page with its values in words', () => {
  const rows = months(12, (at) => [at + 3]);
  const page = renderReport({ ...trace, record: { ...record, ...result('month orders', ...rows) } });
  const words =
    'Line chart of orders along month: 12 values from 2024-01 to 2024-12, lowest 3 (2024-01), highest 14 (2024-12)';
  expect(page.split(`role="img" aria-label="${words}"`)).toHaveLength(2);
  expect(page).not.toMatch(/ style=|NaN|Infinity|undefined/);
});

test('hostile names stay text in a chart', () => {
  const html = chartOf(hostile(result('region n', [`${HOSTILE}1`, 1], [HOSTILE, 2])))?.text ?? '';
  const drawn = chartOf({ ...result('region n', [HOSTILE, 1], ['b', 2]), columns: [{ name: HOSTILE, kind: 'text' }, { name: 'n', kind: 'number' }] })!.text; // prettier-ignore
  for (const text of [html, drawn]) expect(text).not.toMatch(/<script|<img|[\u001b\u202e]/);
  expect(drawn).toContain('&lt;script&gt;');
});
