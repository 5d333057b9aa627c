/** Tables of figures by period and code are marked; tables of events, rates of single days and master data are not. */
import { isFigures } from '../../../../src/database/profile/control-table';
import { renderProfiles } from '../../../../src/database/profile/render';
import { describe as described, profiled, said, times, type Given } from './tables';

const table = (columns: string, rows: Given['rows'], more: Partial<Given> = {}): Given => ({
  ...{ name: 't', columns: columns.split(', '), rows },
  ...more,
});
const month = (at: number): string => `2023${String(1 + at).padStart(2, '0')}`;
const grid = times(60, (at) => [month(at % 6), `A${Math.floor(at / 6)}`, (at * 37) % 91] as const);
const day = (at: number): string => new Date(Date.UTC(2024, 0, 1 + at)).toISOString().slice(0, 10);

test.each<[string, Given, string]>([
  ['month and account', table('per text, acc text, v numeric', grid), 'figures by acc, per'],
  ['a month alone', table('per text, v numeric', times(8, (at) => [month(at), at * at + 7])), 'figures by per'],
  ['days one after the other', table('d date, n int, m int', times(40, (at) => [day(at), (at * 7) % 31, at % 9])), 'figures by d'],
  ['a year, its months and a code', table('y text, p int, cl text, so numeric, ha numeric', times(48, (at) => ['2023', 1 + (at % 12), `C${Math.floor(at / 12)}`, at * 31, (at * 17) % 97])), 'figures by cl, y, p'],
  ['a code that is a number', table('per text, dept int, v numeric', grid.map(([per, acc, v]) => [per, 10 * Number(acc.slice(1)) + 10, v + 0.5])), 'figures by dept, per'],
  ['beside the day of the last change', table('per text, acc text, v numeric, ud text', grid.map(([per, acc, v], at) => [per, acc, v, at % 2 === 0 ? '20230602' : '20230703'])), 'figures by acc, per'],
])('%s: marked', async (_, given, says) => {
  expect(await said([given], 't', null)).toContain(says);
  const profiles = await profiled([given]);
  expect(profiles.map(({ pieces }) => pieces.some(isFigures))).toEqual([true]);
  const shown = renderProfiles([described(given)], profiles, { dialect: 'postgresql', maxChars: 5_000 });
  expect(shown.split('\n')[0]).toBe(`TABLE t ( -- ${given.rows.length} rows -- ${says}`);
}); // prettier-ignore

test.each<[string, Given]>([
  ['events with an id', table('id text, per text, acc text, v numeric', grid.map((row, at) => [`E${at}`, ...row]))],
  ['events by a key that is a number', table('id int, per text, v numeric', grid.map(([per, , v], at) => [700 + at, per, v]), { primaryKey: ['id'] })],
  ['measurements on scattered days', table('pt text, d date, v numeric', times(60, (at) => [`P${(at * 7) % 40}`, day((at * 37) % 300), at * 3]))],
  ['rows that repeat a period and code', table('per text, acc text, v numeric', [...grid, ...grid.slice(0, 5)])],
  ['codes without a period', table('a text, b text, v numeric', grid.map(([per, acc, v]) => [`x${per}`, acc, v]))],
  ['texts by period', table('per text, acc text, note text', grid.map(([per, acc, v]) => [per, acc, `n${v}`]))],
  ['numbers of six digits that are no months', table('nr text, acc text, v numeric', grid.map(([per, acc, v]) => [`1${per.slice(1)}`, acc, v]))],
  ['a table with gaps of years between its days', table('d date, v numeric', times(20, (at) => [day(at * at * 9), at * 5 + 1]))],
  ['records with many columns', table('per text, acc text, st text, u text, v numeric', grid.map(([per, acc, v], at) => [per, acc, at % 3 === 0 ? 'a' : 'b', `u${at % 7}`, v]))],
  ['a sample', table('per text, acc text, v numeric', grid, { whole: false })],
])('%s: not marked', async (_, given) => {
  expect((await profiled([given])).map(({ pieces }) => pieces.some(isFigures))).toEqual([false]);
}); // prettier-ignore
