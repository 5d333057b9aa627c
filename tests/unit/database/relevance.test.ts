/** Which tables a question is likely to need, by words and keys alone. */
import type { TableDescription } from '../../../src/domain';
import { rankedTables } from '../../../src/database/relevance';

const table = (name: string, columns: readonly string[], more: Partial<TableDescription> = {}): TableDescription => ({
  ...{ name, kind: 'table', comment: null, rowEstimate: 9, primaryKey: [], uniqueKeys: [], foreignKeys: [] },
  columns: columns.map((column) => ({ name: column, type: 'text', nullable: true, comment: null, samples: [] })),
  ...more,
}); // prettier-ignore
const fillers = Array.from({ length: 12 }, (_, at) => table(`filler_${at}`, ['a', 'b']));

/** Of all tables, those that the question leads to, best first. */
const likely = (question: string, ...tables: TableDescription[]): string[] =>
  rankedTables({ tables: [...fillers, ...tables] }, { question })
    .filter(({ score }) => score > 0)
    .map((ranked) => ranked.table.name);

test.each([
  ['the plural', 'Which cities have a depot?', 'city'],
  ['another form of the word', 'What was prescribed last week?', 'prescriptions'],
  ['the other form of the word', 'How many diagnoses were made?', 'diagnosis'],
  ['a short word at the start of an identifier', 'Which lab tests are the most frequent?', 'labevents'],
  ['a word behind a prefix', 'How many transactions were there?', 'sbtransaction'],
  ['camel case', 'List every purchase order', 'PurchaseOrder'],
  ['an abbreviation by its consonants', 'What quantity was sold?', 'qty_sold'],
  ['a word of a script without spaces', '\u3059\u3079\u3066\u306e\u60a3\u8005\u306e\u6570\u306f\uff1f', '\u60a3\u8005'],
  ['an abbreviation by its start', 'Who is the best paid employee?', 'emp'],
])('%s leads to a table', (_claim, question, name) => {
  expect(likely(question, table(name, ['x']))).toEqual([name]);
});

test('words that only look alike lead nowhere', () => {
  expect(likely('Which patients were transferred?', table('transaction', ['pattern']))).toEqual([]);
});

test('a word that leads to few tables weighs more than one that leads to most', () => {
  const visits = Array.from({ length: 30 }, (_, at) => table(`patient_log_${at}`, ['patient_id', 'day']));
  const [first] = likely('For each patient, the dose of every drug', ...visits, table('drug', ['dose']));
  expect(first).toBe('drug');
});

test('a value that the question names as a word leads to its table; a part of a word and a bare number do not', () => {
  const kinds = (samples: string[]) => table('lookup', ['v'], { columns: [{ ...table('x', ['v']).columns[0]!, samples }] });
  expect(likely('How many are neutral?', kinds(['Good', 'Neutral']))).toEqual(['lookup']);
  expect(likely('How many are female?', kinds(['male']))).toEqual([]);
  expect(likely('How many above 100?', kinds(['100']))).toEqual([]);
}); // prettier-ignore

test('a table between two that the question names comes next, also where no foreign key is declared', () => {
  const tables = [
    table('author', ['aid', 'author_title'], { primaryKey: ['aid'] }),
    table('publication', ['pid', 'publication_year'], { primaryKey: ['pid'] }),
    table('writes', ['aid', 'pid']),
    table('venue', ['vid'], { primaryKey: ['vid'] }),
  ];
  expect(likely('How many publications has each author?', ...tables)).toEqual(['author', 'publication', 'writes']);
});

test('a key that most tables share connects none of them', () => {
  const tables = [1, 2, 3, 4, 5].map((at) => table(`area_${at}`, ['row_id'], { primaryKey: ['row_id'] }));
  expect(likely('Which region?', table('region', ['row_id'], { primaryKey: ['row_id'] }), ...tables)).toEqual(['region']);
}); // prettier-ignore

test('what documentation says of a table leads to it', () => {
  const tables = [...fillers, table('x1', ['q'])];
  const [first] = rankedTables({ tables }, { question: 'longest pit stop', notes: [{ table: 'x1', text: 'pit stops' }] });
  expect(first?.table.name).toBe('x1');
}); // prettier-ignore
