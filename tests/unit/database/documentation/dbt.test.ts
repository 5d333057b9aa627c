import { describesTables, DocumentationError, notesOfDbt } from '../../../../src/database/documentation';

const SCHEMA = `
version: 2
models:
  - name: orders
    description: One row per order
    columns:
      - name: status
        description: "{{ doc('status') }} of the order"
        tests:
          - not_null
          - accepted_values:
              values: ['placed', 'returned', 3]
      - name: customer_id
        data_tests:
          - unique
          - relationships: { to: ref('customers'), field: id }
          - my_own_test: { severity: warn }
sources:
  - name: raw
    schema: staging
    tables:
      - name: laps
        identifier: lap_times
        columns:
          - { name: t, description: in seconds, data_type: numeric }
`;

test('descriptions and tests of models and sources become notes', () => {
  expect(notesOfDbt('schema.yml', SCHEMA).map(({ table, column, text }) => [table, column, text])).toEqual([
    ['orders', null, 'One row per order'],
    ['orders', 'status', "{{ doc('status') }} of the order; never null; accepted values: placed, returned, 3"],
    ['orders', 'customer_id', 'unique; refers to customers.id'],
    ['staging.lap_times', 't', 'in seconds; stated type: numeric'],
  ]);
});

test('a project file describes no tables, a property file does', () => {
  expect(describesTables('name: shop\nmodel-paths: [models]\n')).toBe(false);
  expect(describesTables(SCHEMA)).toBe(true);
});

test('anchors and merge keys are followed', () => {
  const shared = 'x: &id { name: id, description: the key }\nmodels:\n  - name: a\n    columns: [*id, { <<: *id, name: b }]\n';
  expect(notesOfDbt('s.yml', shared)).toMatchObject([
    { table: 'a', column: 'id', text: 'the key' },
    { table: 'a', column: 'b', text: 'the key' },
  ]);
}); // prettier-ignore

test.each([
  [
    'two documents in one file',
    'models: []\n---\nmodels: []\n',
    /^s\.yml:2: a second document begins here \(---\): give each/,
  ],
  ['broken YAML', 'models:\n  - name: a\n   columns: [', /^s\.yml:\d+: not YAML: /],
  ['another kind of file', 'name: shop\n', /^s\.yml:1: no dbt properties: it needs one of models, seeds/],
  ['a list', '- a\n', /^s\.yml:1: no dbt properties/],
  [
    'a column without a name',
    'models:\n  - name: a\n    columns:\n      - description: x\n',
    /^s\.yml:4: models\.0\.columns\.0\.name: /,
  ],
  ['columns that are no list', 'models:\n  - name: a\n    columns: many\n', /^s\.yml:3: models\.0\.columns: /],
  [
    'aliases that multiply',
    `a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nmodels: [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n`,
    /^s\.yml: not readable: /,
  ],
])('%s is one line with file and line', (_, text, line) => {
  let message = '';
  try {
    notesOfDbt('s.yml', text);
  } catch (error) {
    expect(error).toBeInstanceOf(DocumentationError);
    ({ message } = error as Error);
  }
  expect(message).toMatch(line);
  expect(message).not.toContain('\n');
});
