import {
  describesTables,
  DocumentationError,
  notesOfColumnMeanings,
  notesOfCsv,
  notesOfDbt,
  textOfKnowledgeBase,
} from '../../../src/database/documentation';

const HEAD = 'original_column_name,column_name,column_description,data_format,value_description\n';
test('a file in the manner of BIRD names its table, and a note holds description, format and values', () => {
  const text = `\uFEFF${HEAD}hero_id,hero id,"the id of the hero\nMaps to superhero(id)",integer,\nkind,,,text,"0: ""good""\n1: bad"\n`;
  expect(notesOfCsv('hero_attribute.csv', text)).toEqual([
    {
      table: 'hero_attribute',
      column: 'hero_id',
      text: 'the id of the hero\nMaps to superhero(id); stated format: integer',
      source: 'hero_attribute.csv',
    },
    {
      table: 'hero_attribute',
      column: 'kind',
      text: 'stated format: text; values: 0: "good"\n1: bad',
      source: 'hero_attribute.csv',
    },
  ]);
});

test('one file may hold all tables, and a readable name stands in for a missing description', () => {
  const text = 'table,column,description\norders,total,"gross, in cents"\norders,,nothing\n';
  expect(notesOfCsv('all.csv', text)).toEqual([
    { table: 'orders', column: 'total', text: 'gross, in cents', source: 'all.csv' },
  ]);
  expect(notesOfCsv('t.csv', `${HEAD}elo,rating of a player,,,\n`)[0]?.text).toBe('rating of a player');
});

test('Windows line ends, empty columns at the end and blank lines do no harm', () => {
  expect(notesOfCsv('t.csv', `${HEAD.trim()}\r\n\r\na,,unit is s,,,,\r\n`)).toHaveLength(1);
});

test.each([
  ['semicolons', 'column;description\nid;the id, in full\n'],
  ['tabs', 'column\tdescription\nid\tthe id, in full\n'],
  ['old line ends', 'column,description\rid,"the id, in full"\r'],
])('%s are read as well', (_, text) => {
  expect(notesOfCsv('t.csv', text)).toEqual([{ table: 't', column: 'id', text: 'the id, in full', source: 't.csv' }]);
});

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
  ['no header', notesOfCsv, 'a,b\n1,2\n', /^f:1: no column descriptions: the first line must name original_column_name/],
  ['an empty file', notesOfCsv, '', /^f:1: no column descriptions/],
  ['a quote that never ends', notesOfCsv, `${HEAD}a,,fine,,\nb,,"open,,\n`, /^f:3: a quoted field begins here and never ends/],
  ['a comma without quotes', notesOfCsv, `${HEAD}a,,in s, not ms,,,x\n`, /^f:2: 7 fields where the first line has 5/],
  ['two documents in one file', notesOfDbt, 'models: []\n---\nmodels: []\n', /^f:2: a second document begins here \(---\): give each/],
  ['broken YAML', notesOfDbt, 'models:\n  - name: a\n   columns: [', /^f:\d+: not YAML: /],
  ['another kind of file', notesOfDbt, 'name: shop\n', /^f:1: no dbt properties: it needs one of models, seeds/],
  ['a list', notesOfDbt, '- a\n', /^f:1: no dbt properties/],
  ['a column without a name', notesOfDbt, 'models:\n  - name: a\n    columns:\n      - description: x\n', /^f:4: models\.0\.columns\.0\.name: /],
  ['columns that are no list', notesOfDbt, 'models:\n  - name: a\n    columns: many\n', /^f:3: models\.0\.columns: /],
  ['aliases that multiply', notesOfDbt, `a: &a [${'x, '.repeat(9)}]\nb: &b [${'*a, '.repeat(9)}]\nc: &c [${'*b, '.repeat(9)}]\nmodels: [${'*c, '.repeat(9)}]\n`, /^f: not readable: /],
  ['what are no column meanings', notesOfColumnMeanings, '[', /^f:1: no column meanings/],
])('%s is one line with file and line', (_, read, text, line) => {
  expect(() => read('f', text)).toThrow(DocumentationError);
  expect(() => read('f', text)).toThrow(line);
  expect(() => read('f', text)).not.toThrow('\n');
}); // prettier-ignore

test('column meanings become notes, also of a column that holds JSON', () => {
  const text = JSON.stringify({
    'alien|observatories|airtempc': 'Air temperature in °C.',
    'alien|signals|props': { column_meaning: 'Measured.', fields_meaning: { snr: 'Signal to noise.' } },
    'alien|signals|empty': '',
  });
  expect(notesOfColumnMeanings('alien_column_meaning_base.json', text)).toEqual([
    {
      ...{ table: 'observatories', column: 'airtempc', text: 'Air temperature in °C.' },
      source: 'alien_column_meaning_base.json',
    },
    {
      ...{ table: 'signals', column: 'props', source: 'alien_column_meaning_base.json' },
      text: '{"column_meaning":"Measured.","fields_meaning":{"snr":"Signal to noise."}}',
    },
  ]);
});

test('a knowledge base becomes one text, an entry after the other', () => {
  const lines = [
    { id: 0, knowledge: 'SNQI', description: 'Quality.', definition: 'SNQI = SNR - 0.1', children_knowledge: -1 },
    { id: 1, knowledge: 'AOI', description: 'Observability.', definition: 'A value.' },
  ];
  expect(textOfKnowledgeBase(lines.map((line) => JSON.stringify(line)).join('\n\n'))).toBe(
    '## SNQI\n\nQuality.\n\nSNQI = SNR - 0.1\n\n## AOI\n\nObservability.\n\nA value.\n',
  );
});

test.each(['{"term":"churn","text":"no order for 90 days"}\n', '{"knowledge":"x"}\n{"id":', '# Notes\n', ''])(
  'what is no knowledge base of LiveSQLBench keeps its text: %j',
  (text) => {
    expect(textOfKnowledgeBase(text)).toBe(text);
  },
);
