import { tablesNamed } from '../../../src/database/table-names';

const TABLES = ['orders', 'Order Details', '2023_sales', 'sales.Items', 'pre-paid', 'details', 'from'].map((name) => ({
  name,
}));

test.each<[string, string[]]>([
  ['SELECT x FROM "Order Details" o JOIN ORDERS', ['orders', 'Order Details', 'details', 'from']],
  ['what [order  details] hold', ['Order Details', 'details']],
  ['orders\tand 2023_sales', ['orders', '2023_sales']],
  ['`items`.price, 2023_sales_old', ['sales.Items']],
  ['pre-paid; detail of preorders', ['pre-paid']],
  ['order by detail', []],
])('the tables that "%s" names', (text, names) => {
  expect(tablesNamed(text, TABLES).map(({ name }) => name)).toEqual(names);
});
