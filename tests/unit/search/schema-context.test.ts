import type { DatabaseDescription, TableDescription } from '../../../src/domain';
import { renderSchemaContext } from '../../../src/search/schema-context';

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
  expect(renderSchemaContext(database([visit]), { maxChars: 10_000 })).toBe(
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
  const text = renderSchemaContext(many, { maxChars: 25_000 });
  expect(text).not.toContain('e.g.');
  expect(text).toContain('TABLE filler_199');
});

test('beyond that, the tables that the question names keep their columns and samples, and every name is listed', () => {
  const text = renderSchemaContext(many, { maxChars: 6_000, question: 'Which drug is prescribed to female patients?' });
  expect(text.length).toBeLessThanOrEqual(6_000);
  expect(text).toContain('  drug text -- e.g. one');
  expect(text).toContain('TABLE patients');
  for (const { name } of many.tables) expect(text).toContain(name);
  expect(text).toMatch(/columns of \d+ of 202 tables are shown/);
});

test('the list of names is complete even when nothing else fits', () => {
  const text = renderSchemaContext(many, { maxChars: 100 });
  for (const { name } of many.tables) expect(text).toContain(name);
});

test('the same input gives the same text', () => {
  const options = { maxChars: 5_000, question: 'gamma' };
  expect(renderSchemaContext(many, options)).toBe(renderSchemaContext(many, options));
});
