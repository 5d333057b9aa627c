/** Columns that look derived and are not: nothing may be said to follow from another column here. */
import { said, times, type Given } from './tables';

const table = (columns: string, rows: Given['rows'], more: Partial<Given> = {}): Given => ({
  ...{ name: 't', columns: columns.split(', '), rows },
  ...more,
});
const led = { foreignKeys: [{ columns: ['a'], table: 'k', references: ['id'] }] };
const keys = (v: (at: number) => number): Given => table('id int, v numeric', times(30, (at) => [500 + at * 3, v(at)]), { name: 'k', primaryKey: ['id'] }); // prettier-ignore

const TRAPS: readonly (readonly [what: string, tables: readonly Given[], column: string])[] = [
  ['amounts below 1,050 beside a flag of 1 and rare 2 and 3', [table('x int, y int', times(300, (at) => [950 + ((at * 37) % 90), at === 95 ? 2 : at === 96 ? 3 : 1]))], 'x'],
  ['small counts beside a level that is nearly always 5', [table('x int, y int', times(300, (at) => [9 + ((at * 7) % 4), at === 95 ? 4 : at === 96 ? 6 : 5]))], 'x'],
  ['a factor of a value that all keys in use have', [keys((at) => (at < 25 ? 4 : at)), table('a int, x int', times(80, (at) => [500 + (at % 25) * 3, 3_999 + (at % 3)]), led)], 'x'],
  ['years beside a rank', [table('x int, y int', times(300, (at) => [2_019 + (at % 6), at === 95 ? 3 : at % 4 === 0 ? 1 : 2]))], 'x'],
  ['percentages beside a share that is nearly always one', [table('x numeric, y numeric', times(300, (at) => [99 + (at % 3), at === 95 ? 3 : at === 96 ? 2 : 1]))], 'x'],
  ['a price with a wide range beside a constant with a few outliers', [table('x int, y int', times(300, (at) => [at % 100 === 7 ? 90_000 : 1_000 + (at % 9), at % 100 === 7 ? 3 + Math.floor(at / 100) : 1]))], 'x'],
]; // prettier-ignore

test.each(TRAPS)('%s: no factor is said', async (_, tables, column) => {
  expect(await said(tables, 't', column)).not.toMatch(/rounded|=/);
});

test('a conversion of the same kind is still told', async () => {
  const rows = times(90, (at) => [Math.round((20 + ((at * 37) % 90)) * 2.2046), 20 + ((at * 37) % 90)]);
  expect(await said([table('lb int, kg int', rows)], 't', 'lb')).toContain('= kg * 2.');
});
