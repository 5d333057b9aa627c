import { DocumentationError, notesOfCsv } from '../../../../src/database/documentation';

const HEAD = 'original_column_name,column_name,column_description,data_format,value_description\n';
const failure = (file: string, text: string): string => {
  try {
    notesOfCsv(file, text);
  } catch (error) {
    expect(error).toBeInstanceOf(DocumentationError);
    return (error as Error).message;
  }
  throw new Error('no error');
};

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

test.each([
  ['no header', 'a,b\n1,2\n', /^t\.csv:1: no column descriptions: the first line must name original_column_name/],
  ['an empty file', '', /^t\.csv:1: no column descriptions/],
  ['a quote that never ends', `${HEAD}a,,fine,,\nb,,"open,,\n`, /^t\.csv:3: a quoted field begins here and never ends/],
  ['a comma without quotes', `${HEAD}a,,in s, not ms,,,x\n`, /^t\.csv:2: 7 fields where the first line has 5/],
])('%s is one line with file and line', (_, text, line) => {
  expect(failure('t.csv', text)).toMatch(line);
});
