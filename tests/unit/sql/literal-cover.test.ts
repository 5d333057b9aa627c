import { sayingOf, uncovered, type SaidClaim, type Sayings, type Seen } from '../../../src/sql/literal-cover';

const NOTHING: Sayings = {
  asked: 'How many orders were there?',
  claims: [],
  assumed: [],
  defined: [],
  padded: [],
  coverage: [],
};

const claim = (told: Partial<SaidClaim>): SaidClaim => ({
  statement: 'Sums agree.',
  check: 'SELECT count(*), count(*) FILTER (WHERE a = b) FROM totals',
  replaced: [],
  reads: new Set(),
  ...told,
});

const isCovered = (
  { values, columns = ['client'], filters = true }: { values: string[]; columns?: string[]; filters?: boolean },
  said: Partial<Sayings>,
): boolean =>
  uncovered(
    [{ operator: 'op_a', text: '', columns, values, filters, codes: [] }],
    { ...NOTHING, ...said },
    'postgresql',
  ).length === 0;

test('an amount asked for in thousands does not name the company 1000', () => {
  const codes = [{ column: 'client', value: '1000' }];
  const use = { operator: 'op_a', text: '', columns: ['client'], values: ['1000'], filters: true, codes };
  const said = { ...NOTHING, asked: 'Net sales in thousand EUR?' };
  expect(uncovered([use], said, 'postgresql')).toHaveLength(1);
  expect(uncovered([use], { ...said, asked: 'Net sales of company 1000?' }, 'postgresql')).toEqual([]);
});

test('nothing covers a literal that nobody mentions', () => {
  expect(isCovered({ values: ['310'] }, {})).toBe(false);
});

test.each([
  ['310', 'How many orders does client 310 have?'],
  ['Bolt M12x40', 'How many M12x40 bolts are there?'],
  ['%hyclate', 'patients with doxycycline hyclate'],
  ['2024-05-01', 'orders of May 2024'],
  ['2025-01-01', 'orders of 2024'],
  ['20241231', 'orders of 2024'],
  ['4', 'the top four'],
  ['1000', 'in thousand EUR'],
  ['60', 'in minutes'],
  ['NO', 'customers in Norway'],
  ['EUR', 'the amount in euros'],
  ['JPY', 'the total in yen'],
  ['DE', 'Kunden in Deutschland'],
  ['6', 'on a Saturday'],
  ['3', 'in March of each year'],
  ['2', 'in Q2'],
  ['4', 'in the second quarter'],
  ['6', 'in the first half of 2024'],
])('the question names %s: %s', (value, asked) => {
  expect(isCovered({ values: [value] }, { asked })).toBe(true);
});

test.each([
  ['A', 'a list of a kind'],
  ['2022-10-01', 'the fiscal year 2023'],
  ['E', 'in EUR'],
  ['NO', 'customers without orders'],
  ['40', 'M12x40 bolts'],
  ['', 'orders'],
])('the question does not name "%s": %s', (value, asked) => {
  expect(isCovered({ values: [value] }, { asked })).toBe(false);
});

test('a claim covers what a rival replaces, short values only beside their column', () => {
  expect(isCovered({ values: ['WE'] }, { claims: [claim({ replaced: ["'WE'"] })] })).toBe(true);
  expect(isCovered({ values: ['WE'] }, { claims: [claim({ replaced: ["'AG', 'WE'"] })] })).toBe(false);
  expect(isCovered({ values: [''] }, { claims: [claim({ replaced: ["and client = ''"] })] })).toBe(true);
  expect(isCovered({ values: [''] }, { claims: [claim({ replaced: ["and other = ''"] })] })).toBe(false);
});

test('a check that filters all its rows by a literal does not vary it', () => {
  const sql = (total: string) =>
    `SELECT count(*), count(*) FILTER (WHERE t.a = s.a) FROM totals t JOIN (SELECT sum(a) AS a FROM lines WHERE client = '310') s ON true ${total}`;
  expect(isCovered({ values: ['310'] }, { claims: [claim({ check: sql('') })] })).toBe(false);
  const both = sql('CROSS JOIN (SELECT sum(a) AS a FROM lines) u');
  expect(isCovered({ values: ['310'] }, { claims: [claim({ check: both })] })).toBe(true);
});

test('a check varies what it counts', () => {
  const check = "SELECT count(*), count(*) FILTER (WHERE client = '310') FROM lines";
  expect(isCovered({ values: ['310'] }, { claims: [claim({ check })] })).toBe(true);
});

test('a check compares the values of an operator that it reads, and not its filters', () => {
  const claims = [claim({ reads: new Set(['op_a']) })];
  expect(isCovered({ values: ['0.1'], filters: false }, { claims })).toBe(true);
  expect(isCovered({ values: ['0.1'], filters: true }, { claims })).toBe(false);
});

test.each([
  ['the column', 'No row tells what client means.', true],
  ['the value', 'Client number 310 is the live one.', true],
  ['neither', 'The live rows are meant.', false],
])('an assumption that names %s', (_, statement, covers) => {
  expect(isCovered({ values: ['310'], columns: ['client'] }, { assumed: [statement] })).toBe(covers);
});

const saying = (value: string, seen: Partial<Seen>, question: string) =>
  sayingOf(value, { columns: ['client'] }, { rows: [], notes: [], ...seen }, question);

test('a row that was seen defines a code by a word of the question', () => {
  const asked = 'How many shipments went to Sweden?';
  expect(saying('QX', { rows: [['7', 'QX', 'Sweden']] }, asked)).toBe('QX | Sweden');
  expect(saying('QX', { rows: [['QX', 'Norway']] }, asked)).toBeNull();
  expect(saying('QX', { rows: [['Sweden', 'NO']] }, asked)).toBeNull();
  expect(saying('6', { rows: [['6', '2024', '202406']] }, 'How much in 2024?')).toBeNull();
});

test('a document defines a value of a column', () => {
  const note = 'client: 310 is live, 300 for training';
  expect(saying('310', { notes: ['client: the number of the client', note] }, 'How many?')).toBe(`310 | ${note}`);
  expect(saying('310', { notes: ['client: the number of the client'] }, 'How many?')).toBeNull();
});

test('what the schema says of a key written in two ways covers its padding, and no value of it', () => {
  const padded = ['kd text -- -> zz_kd.nr without padding, punctuation and leading zeros'];
  const columns = ['kd', 'nr'];
  expect(isCovered({ values: ['0'], columns }, { padded })).toBe(true);
  expect(isCovered({ values: ['0'], columns: ['note'] }, { padded })).toBe(false);
  expect(isCovered({ values: ['7001'], columns }, { padded })).toBe(false);
  expect(isCovered({ values: ['0'], columns: ['note'] }, { padded: [`${padded[0]}; 0 in 12 rows`] })).toBe(false);
});

test('each value has to be covered', () => {
  const asked = 'orders of client 310';
  expect(isCovered({ values: ['310', '320'] }, { asked })).toBe(false);
});

test('a stored row that is told with the answer covers its value, in the use that it is told for', () => {
  const defined = (sql: string) => ({ defined: [{ sql, row: '310 | LIVE' }] });
  expect(isCovered({ values: ['310'] }, defined(''))).toBe(true);
  expect(isCovered({ values: ['31'] }, defined(''))).toBe(false);
  expect(isCovered({ values: ['310'] }, defined('b = 310'))).toBe(false);
});

test('a rival of a literal that filters the control side, too, does not cover it', () => {
  const circular = claim({
    replaced: ["AND client = '310'"],
    check:
      "SELECT count(*), count(*) FILTER (WHERE o.n = t.n) FROM op_a o JOIN totals t USING (day) WHERE t.client = '310'",
  });
  expect(isCovered({ values: ['310'] }, { claims: [circular] })).toBe(false);
  const whole = { ...circular, check: circular.check.replace("WHERE t.client = '310'", '') };
  expect(isCovered({ values: ['310'] }, { claims: [whole] })).toBe(true);
});
