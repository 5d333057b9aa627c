/** Where a fact stands: at the columns that it is about. */
import { layerOf } from '../../../src/layer/state';
import { tablesOfLayer } from '../../../src/layer/tables';
import { AT, entryOf } from '../../helpers/kept-layer';

const COLUMNS = ['orders.total', 'orders.paid', 'orders.state', 'lines.total', 'lines.id'];

/** The tables and columns at which the statement stands, of a check that reads all of them. */
function placesOf(statement: string, columns: readonly string[] = COLUMNS): string[] {
  const entry = entryOf({ statement, tables: ['orders', 'lines'], columns: [...columns] });
  const { entries } = layerOf([{ kind: 'proved', at: AT, entry }]);
  return tablesOfLayer(entries).flatMap(({ name, facts, columns: all }) => [
    ...facts.map(() => name),
    ...all.flatMap((column) => column.facts.map(() => `${name}.${column.name}`)),
  ]);
}

test.each([
  ['one column, although the check reads others', 'orders.total is in cents.', ['orders.total']],
  ['not its conditions', "orders.total is in cents where orders.state is 'B'.", ['orders.total']],
  ['not the terms of its formula', 'orders.total = 100 * orders.paid', ['orders.total']],
  [
    'those named in one breath',
    'orders.total, orders.paid and lines.total are in cents.',
    ['orders.total', 'orders.paid', 'lines.total'],
  ],
  ['that of the table that is named', 'The total of lines.total is in euros.', ['lines.total']],
  ['a bare name', "Rows with state 'X' are tests.", ['orders.state']],
  ['a quoted name', 'In "orders"."paid" NULL means unpaid.', ['orders.paid']],
  ['the table that it names, where it names no column', 'Each row of lines is an item.', ['lines']],
  ['the first table that the check reads, where it names nothing', 'All is in cents.', ['orders']],
])('a fact stands at %s', (_, statement, places) => {
  expect(placesOf(statement)).toEqual(expect.arrayContaining(places));
  expect(placesOf(statement)).toHaveLength(places.length);
});

test('a fact that names no column stands at the only column that its check reads', () => {
  expect(placesOf('All is in cents.', ['lines.total'])).toEqual(['lines.total']);
});
