/** The words that a real shell makes of a command. */
import { execFileSync } from 'node:child_process';
import { createMemoryStore } from '../../helpers/scripted';
import { loadTrace, renderReport, renderTraceText } from '../../../src/report';
import { spreadsheetFile } from '../../../src/report/result-section';
import { rerunCommand } from '../../../src/report/sql-section';
import { createRunStore } from '../../../src/record/run-store';
import { record, state, trace } from './fixture';

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

async function loaded(put: (run: ReturnType<typeof createRunStore>) => Promise<void>) {
  const store = createMemoryStore();
  const run = createRunStore(store, record.id);
  await run.put('input', record.id, trace.input!);
  await run.put('checkpoint', 'i3', state);
  await run.put('result', record.id, record);
  await put(run);
  return (await loadTrace(store, record.id))!;
}

describe('trace and report', () => {
  test('name the tables in the order of the schema', async () => {
    const table = (name: string) => ({
      ...{ name, kind: 'table' as const, comment: null, rowEstimate: null, columns: [] },
      ...{ primaryKey: [], uniqueKeys: [], foreignKeys: [] },
    });
    const tables = ['<b>', 'c', 'd'].map(table);
    const description = { dialect: 'sqlite' as const, version: 'SQLite', fingerprint: 'f', tables };
    const shown = await loaded((run) => run.put('schema', 'schema', { description, text: '', shown: ['<b>', 'd'] }));
    expect(renderTraceText(shown)).toContain(
      "schema: columns of 2 of 3 tables shown, ranked by the question's words: <b>, d\n",
    );
    expect(renderReport(shown)).toContain('<li><code>&lt;b&gt;</code></li>');
  });

  test('say nothing where all tables were shown', async () => {
    const whole = await loaded(() => Promise.resolve());
    expect(renderTraceText(whole)).not.toContain('schema:');
    expect(renderReport(whole)).not.toContain('id="schema"');
  });
});
