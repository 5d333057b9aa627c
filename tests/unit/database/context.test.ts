import type { DatabaseDescription, TableDescription } from '../../../src/domain';
import { renderTables, schemaContext } from '../../../src/database/context';

const shown = (...given: Parameters<typeof schemaContext>): string => schemaContext(...given).text;
const table = (name: string, columns: string[], more: Partial<TableDescription> = {}): TableDescription => ({
  name, kind: 'table', comment: null, rowEstimate: 12.4, primaryKey: ['id'], uniqueKeys: [], foreignKeys: [],
  columns: columns.map((column) => ({ name: column, type: 'text', nullable: column !== 'id', comment: null, samples: ['one', 'two\nlines'] })), ...more,
}); // prettier-ignore
const database = (tables: TableDescription[]): DatabaseDescription => ({
  dialect: 'sqlite',
  version: 'SQLite 3',
  tables,
  fingerprint: 'f',
});

test('shows types, keys, references, comments and samples', () => {
  const visit = table('visit', ['id', 'patient_id', 'kind', 'day'], {
    comment: 'one row per\nvisit',
    uniqueKeys: [['patient_id', 'day']],
    foreignKeys: [
      { columns: ['patient_id'], table: 'patient', references: ['id'] },
      { columns: ['kind', 'day'], table: 'plan', references: ['k', 'd'] },
    ],
  });
  visit.columns[2]!.comment = 'i in, o out';
  expect(shown(database([visit]), { maxChars: 10_000 })).toBe(
    [
      '-- SQLite 3, 1 table',
      '',
      'TABLE visit ( -- 12 rows -- one row per visit',
      '  id text PRIMARY KEY -- e.g. one | two lines',
      '  patient_id text REFERENCES patient (id) -- e.g. one | two lines',
      '  kind text -- i in, o out; e.g. one | two lines',
      '  day text -- e.g. one | two lines',
      '  UNIQUE (patient_id, day)',
      '  FOREIGN KEY (kind, day) REFERENCES plan (k, d)',
      ')',
    ].join('\n'),
  );
});

const many = database([
  ...Array.from({ length: 200 }, (_, index) => table(`filler_${index}`, ['id', 'alpha', 'beta', 'gamma'])),
  table('prescriptions', ['id', 'drug', 'dose']),
  table('patients', ['id', 'gender', 'born']),
]);

test('a schema that nearly fits loses samples before columns', () => {
  const text = shown(many, { maxChars: 25_000 });
  expect(text).not.toContain('e.g.');
  expect(text).toContain('TABLE filler_199');
});

test('beyond that, the tables that the question names keep their columns and samples, and every name is listed', () => {
  const text = shown(many, { maxChars: 6_000, question: 'Which drug is prescribed to female patients?' });
  expect(text.length).toBeLessThanOrEqual(6_000);
  expect(text).toContain('  drug text -- e.g. one');
  expect(text).toContain('TABLE patients');
  for (const { name } of many.tables) expect(text).toContain(name);
  expect(text).toMatch(/columns of \d+ of 202 tables are shown/);
});

test('the list of names is complete even when nothing else fits', () => {
  const text = shown(many, { maxChars: 100 });
  for (const { name } of many.tables) expect(text).toContain(name);
});

test('the same input gives the same text', () => {
  const options = { maxChars: 5_000, question: 'gamma' };
  expect(shown(many, options)).toBe(shown(many, options));
});

const whole = (tables: TableDescription[], dialect: DatabaseDescription['dialect'] = 'sqlite') =>
  shown({ ...database(tables), dialect }, { maxChars: 100_000 });

test('a name that SQL has to quote stands in quotes, so that a reader sees where it ends', () => {
  const odd = table('order lines', ['id', 'Free Meal Count (K-12)', 'a,b', 'order', 'say "hi"']);
  const text = whole([
    odd,
    table('link', ['id', 'x'], { foreignKeys: [{ columns: ['x'], table: 'order lines', references: ['a,b'] }] }),
  ]);
  expect(text).toContain('TABLE "order lines" (');
  expect(text).toContain('  "Free Meal Count (K-12)" text -- e.g.');
  expect(text).toContain('  "a,b" text');
  expect(text).toContain('  "order" text');
  expect(text).toContain('  "say ""hi""" text');
  expect(text).toContain('  x text REFERENCES "order lines" ("a,b")');
  const few = { maxChars: 200, question: 'x' };
  expect(shown(database([odd, table('Plain', ['id'])]), few)).toContain('-- all tables: "order lines", Plain');
});

test.each([
  ['postgresql', 'current_user localtime session_user verbose similar'],
  ['sqlite', 'returning escape deferrable raise'],
  ['snowflake', 'SAMPLE START QUALIFY'],
] as const)('words that %s keeps for itself stand in quotes: %s', (dialect, words) => {
  const text = whole([table('T', words.split(' '))], dialect);
  for (const word of words.split(' ')) expect(text).toContain(`  "${word}" text`);
});

test('quotes follow the case rules of the engine', () => {
  const tables = [table('Sales.Item', ['id', 'Name', 'NAME'])];
  expect(whole(tables, 'postgresql')).toMatch(/TABLE "Sales"\."Item" [^]*\n {2}id text[^]*\n {2}"Name" text[^]*\n {2}"NAME"/);
  expect(whole(tables, 'snowflake')).toMatch(/TABLE "Sales"\."Item" [^]*\n {2}"id" text[^]*\n {2}"Name" text[^]*\n {2}NAME/);
  expect(whole(tables, 'sqlite')).toMatch(/TABLE "Sales\.Item" [^]*\n {2}Name text[^]*\n {2}NAME/);
}); // prettier-ignore

test('no name and no type begins a line of its own or looks like a key or a comment', () => {
  const forged = table('a\nTABLE fake ( -- 9 rows', ['id', 'c\n)\n\nTABLE other (']);
  forged.columns[1]!.type = 'int PRIMARY KEY -- unique';
  const lines = whole([forged]).split('\n');
  expect(lines.filter((line) => line.startsWith('TABLE'))).toHaveLength(1);
  expect(lines).toContain('  "c\\u{a})\\u{a}\\u{a}TABLE other (" "int PRIMARY KEY -- unique" -- e.g. one | two lines');
});

test('an empty value and outer spaces can be seen', () => {
  const marks = table('mark', ['id']);
  marks.columns[0]!.samples = ['', ' x ', 'two  words'];
  expect(whole([marks])).toContain("e.g. '' | ' x ' | two words");
});

describe('a table that is wider than its share', () => {
  const columns = ['id', 'owner_id', ...Array.from({ length: 2_000 }, (_, at) => `measurement_${at}`)];
  const wide = table('reading', [...columns, 'humidity'], {
    foreignKeys: [{ columns: ['owner_id'], table: 'owner', references: ['id'] }],
  });
  const question = 'What was the mean humidity per reading?';

  test('shows its keys and what the question is about in full, and of the others name and type', () => {
    const { text, shown } = schemaContext(database([wide]), { maxChars: 45_000, question });
    expect(text.length).toBeLessThanOrEqual(45_000);
    expect(shown).toEqual(['reading']);
    expect(text).toContain('\n  id text PRIMARY KEY\n  owner_id text REFERENCES owner (id)\n');
    expect(text).toContain('\n  humidity text\n');
    expect(text).toMatch(/\n {2}-- \d+ more columns:\n {2}-- text: measurement_/);
    expect(wide.columns.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });

  test('leaves room for other tables, and says how many names do not fit', () => {
    const others = Array.from({ length: 20 }, (_, at) => table(`humidity_${at}`, ['id', 'value']));
    const { text, shown } = schemaContext(database([wide, ...others]), { maxChars: 20_000, question });
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(shown).toHaveLength(21);
    expect(text).toContain('  humidity text\n');
    expect(text).toMatch(/-- and \d+ whose names do not fit here: SELECT \* with a small LIMIT shows them/);
  });

  test('a table of usual width is shown as a whole or only listed, never abridged', () => {
    const usual = Array.from({ length: 40 }, (_, at) => table(`t${at}`, ['id', ...columns.slice(0, 30)]));
    for (const maxChars of [3_000, 3_200, 3_400, 3_600, 3_800])
      expect(shown(database(usual), { maxChars, question })).not.toContain('more columns');
  });

  test('can be brought into view when it was only listed', () => {
    const text = renderTables([wide], { dialect: 'sqlite', maxChars: 6_000, question });
    expect(text.length).toBeLessThanOrEqual(6_000);
    expect(text).toContain('  humidity text\n');
  });
});

test('columns of a likely table come before samples of a likelier one', () => {
  const rows = Array.from({ length: 5 }, (_, at) => `a rather long value of the column number ${at}`);
  const likely = ['ward', 'patient', 'nurse', 'shift'].map((name) => {
    const made = table(name, ['id', `${name}_name`, `${name}_note`]);
    for (const column of made.columns) column.samples = rows;
    return made;
  });
  const text = shown(database(likely), { maxChars: 1_900, question: 'ward ward_name of patient, nurse and shift?' });
  for (const { name } of likely) expect(text).toContain(`TABLE ${name} (`);
  expect(text).toContain('e.g. a rather long value');
}); // prettier-ignore
