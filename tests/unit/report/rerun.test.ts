import { execFileSync } from 'node:child_process';
import { rerunCommand } from '../../../src/report/sql-section';

/** The words that a real shell makes of a command. */
const words = (command: string): string[] =>
  execFileSync('sh', ['-c', `gate() { for word in "$@"; do printf '%s\\0' "$word"; done; }; ${command}`])
    .toString()
    .split('\0')
    .slice(0, -1);

test.each([
  ["SELECT 'it''s', \"a b\", `c`, $HOME, $(id), \\n, !x\nFROM t", 'sales'],
  ['SELECT 1', "/home/o'brien/my data.sqlite"],
  ['SELECT 1', 'postgresql://reader@localhost:5432/sales?sslmode=require&x=$(id)'],
])('a shell gives gate the statement %j and the database %j unchanged', (sql, database) => {
  expect(words(rerunCommand(sql, database))).toEqual(['db', 'sql', '--db', database, sql]);
});

test('a statement that begins with a comment is no option', () => {
  expect(words(rerunCommand('-- one\nSELECT 1', 'sales'))).toEqual([
    'db',
    'sql',
    '--db',
    'sales',
    '--',
    '-- one\nSELECT 1',
  ]);
});
