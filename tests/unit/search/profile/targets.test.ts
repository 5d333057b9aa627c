import type { DatabaseDescription, TableDescription } from '../../../../src/domain';
import { joinCandidates, selectProfileTargets } from '../../../../src/search/profile';

const table = (name: string, columns: string[], more: Partial<TableDescription> = {}): TableDescription => ({
  name, kind: 'table', comment: null, rowEstimate: 100, primaryKey: [], uniqueKeys: [], foreignKeys: [],
  columns: columns.map((column) => ({ name: column, type: 'text', nullable: true, comment: null, samples: [] })), ...more,
}); // prettier-ignore
const database = (tables: TableDescription[]): DatabaseDescription => ({
  dialect: 'postgresql',
  version: 'v',
  tables,
  fingerprint: 'f',
});

test('tables and columns that share words with the question come first', () => {
  const description = database([
    table('log', ['stamp', 'text']),
    table('hospitalVisits', ['visit_id', 'admittedAt', 'ward']),
    table('drug_orders', ['order_id', 'drug', 'dose']),
  ]);
  const targets = selectProfileTargets(description, 'How many drugs were ordered per hospital visit?', 4);
  expect(targets.map(({ table: { name } }) => name)).toEqual(['drug_orders', 'hospitalVisits']);
  expect(targets[0]?.columns).toEqual(['order_id', 'drug', 'dose']);
  expect(targets.flatMap(({ columns }) => columns)).toHaveLength(4);
});

test('a value that the question quotes counts', () => {
  const colour = table('c', ['label']);
  colour.columns[0]!.samples = ['Amber'];
  const targets = selectProfileTargets(
    database([table('a', ['x']), table('b', ['y']), table('d', ['z']), colour]),
    'who has amber eyes',
    1,
  );
  expect(targets.map(({ table: { name } }) => name)).toEqual(['c']);
});

test('a question without known words still profiles the first tables', () => {
  expect(selectProfileTargets(database([table('a', ['x']), table('b', ['y'])]), '???', 5)).toHaveLength(2);
});

test('a JSON column is looked into although no word names it: its keys stand nowhere else', () => {
  const wide = table('reading', [...Array.from({ length: 30 }, (_, at) => `c${at}`), 'payload']);
  wide.columns.at(-1)!.samples = ['{"v":1}'];
  const [target] = selectProfileTargets(database([wide]), 'What was the mean humidity?', 60);
  expect(target?.columns).toContain('payload');
  expect(target?.columns).toContain('c0');
});

describe('joins to try', () => {
  const ward = table('ward', ['id', 'name'], { primaryKey: ['id'] });
  const patient = table('patient', ['patient_id', 'name'], { primaryKey: ['patient_id'] });
  const visit = table('visit', ['visit_id', 'patient_id', 'ward_id', 'name'], { primaryKey: ['visit_id'] });
  const note = table('note', ['visit_id', 'patient_id']);

  test('declared references come first, then the table that owns a key of that name', () => {
    const declared = { ...visit, foreignKeys: [{ columns: ['ward_id'], table: 'place', references: ['no'] }] };
    const place = table('place', ['no'], { primaryKey: ['no'] });
    expect(
      joinCandidates(database([ward, patient, declared, note, place]), declared, [
        'visit_id',
        'patient_id',
        'ward_id',
        'name',
      ]),
    ).toEqual([
      { column: 'patient_id', table: 'patient', references: 'patient_id' },
      { column: 'ward_id', table: 'place', references: 'no' },
      { column: 'ward_id', table: 'ward', references: 'id' },
    ]);
  });

  test('without an owner a column of the same name will do, but an empty table will not', () => {
    expect(
      joinCandidates(
        database([note, { ...visit, primaryKey: [], rowEstimate: 0 }, table('bill', ['visit_id'])]),
        note,
        ['visit_id'],
      ),
    ).toEqual([{ column: 'visit_id', table: 'bill', references: 'visit_id' }]);
  });

  test('a column that identifies its own rows leads nowhere', () => {
    expect(joinCandidates(database([patient, visit, note]), patient, ['patient_id', 'name'])).toEqual([]);
  });
});
