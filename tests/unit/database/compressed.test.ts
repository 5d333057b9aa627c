import type { TableDescription } from '../../../src/domain';
import { compressedTables, compressedText, withRows } from '../../../src/methods/reforce/compressed';

const table = (name: string, columns: readonly string[] = ['id', 'mark']): TableDescription => ({
  ...{ name, kind: 'table', comment: null, rowEstimate: null, primaryKey: [], uniqueKeys: [], foreignKeys: [] },
  columns: columns.map((column) => ({
    ...{ name: column, type: 'TEXT', nullable: true, comment: `what ${column} is`, samples: ['a', 'b', 'c', 'd'] },
  })),
});
const days = (count: number) => Array.from({ length: count }, (_, at) => table(`log_${2000 + at}`));
const shown = (tables: TableDescription[], kept?: ReadonlyMap<string, readonly string[]>) =>
  compressedTables({ tables, dialect: 'sqlite' }, kept);

test('of more than ten tables that differ in digits alone, one stands for all', () => {
  const [log, ...others] = shown([...days(11), table('car')]);
  expect(log?.text).toContain('log_2000');
  expect(log?.text).toMatch(/-- 10 other tables have the same structure: log_2001, .*, log_2010$/);
  expect(others.map(({ name }) => name)).toEqual(['car']);
  expect(shown([...days(10), table('car')])).toHaveLength(11);
});

test('a table shows its first rows, long texts cut', () => {
  const [one] = shown([table('car')]);
  if (one === undefined) throw new Error('no table');
  expect(one.rows).toBe('SELECT "id", "mark" FROM "car" LIMIT 3');
  const columns = ['id', 'mark'].map((name) => ({ name, type: 'TEXT', kind: 'text' as const }));
  const rows = [
    ['a', null],
    ['b', 'x'.repeat(5_000)],
  ];
  const { text } = withRows(one, { kind: 'rows', columns, rows, truncated: false, elapsedMs: 1 });
  expect(text).toContain('id TEXT -- what id is\n');
  expect(text).toMatch(/-- first rows:\nid,mark\na,NULL\nb,x{900,1000}…?$/);
  const failed = { kind: 'sql-error', message: 'gone', elapsedMs: 1, code: null } as const;
  expect(withRows(one, failed).text).toBe(one.text);
});

test('comments go where the text would be too long', () => {
  const wide = shown(Array.from({ length: 26 ** 2 }, (_, at) => table(`t${'x'.repeat(at)}`, Array(8).fill('c'))));
  expect(compressedText(wide)).not.toContain('what c is');
});

test('linking keeps the named columns of the named tables; all of them where it names none that exists', () => {
  const kept = new Map([
    ['car', ['"MARK"']],
    ['log_2000', ['nothing']],
  ]);
  const texts = shown([...days(11), table('car'), table('team')], kept);
  expect(texts.map(({ name }) => name)).toEqual(['log_2000', 'car']);
  expect(texts[0]?.text).toMatch(/ id TEXT[\s\S]* mark TEXT[\s\S]*10 other tables/);
  expect(texts[1]?.text).not.toContain(' id TEXT');
});
