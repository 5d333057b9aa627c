import { said, times, type Given } from './tables';

type Rows = Given['rows'];
const table = (columns: string, rows: Rows, more: Partial<Given> = {}): Given => ({
  ...{ name: 't', columns: columns.split(', '), rows },
  ...more,
});
/** A text, texts or patterns that are said of the column; in `never`, what is not. */
type Says = string | RegExp | (string | RegExp)[];
type Case = readonly [what: string, given: Given | Given[], column: string | null, says: Says, never?: string];

const words = ['red car', 'big old house', 'a tree'];
const codes = table('code text, words text', times(40, (at) => [`${at % 2 === 0 ? 'P' : 'p-'}${1000 + at}`, words[at % 3]!])); // prettier-ignore
const pairs = times(60, (at) => (at % 3 === 0 ? ['E', `2024-03-${10 + (at % 20)}`, `S${at}`] : ['A', null, null]));
const filled = table('st text, done date, sig text', pairs);
const tiny = table('k text, n int', [['a', 1], ['b', 2], ['c', 3]]); // prettier-ignore
const probes = table('pid int, mdl text', times(20, (at) => [500 + at, at % 2 === 0 ? 'F' : 'C']), { name: 'probe', primaryKey: ['pid'] }); // prettier-ignore
const readings = table('pid int, v numeric', times(200, (at) => [500 + (at % 20), at % 2 === 0 ? 60 + (at % 13) : 15 + (at % 11) / 2]), { foreignKeys: [{ columns: ['pid'], table: 'probe', references: ['pid'] }] }); // prettier-ignore
const since = times(120, (at) => {
  const month = 1 + Math.floor(at / 10);
  return [`2024-${String(month).padStart(2, '0')}-${10 + (at % 10)}`, month >= 6 ? at * 7 : null];
});
const document = (at: number) => JSON.stringify(at < 10 ? { v: 2, door: { s: at } } : { s: at, note: `n${at}` });

const alone: Case[] = [
  ['a small domain is listed whole, with counts, most frequent first', table('id int, st text', times(40, (at) => [at, at % 4 === 0 ? 'D' : 'E'])), 'st', /^E \(30\), D \(10\)$/],
  ['NULL, blank and a placeholder are three things', table('v text', [null, '', 'n/a', ...times(37, (at) => `v${at % 20}`)].map((v) => [v])), 'v', ['NULL 3%', 'blank 3%', 'no value? n/a (1)']],
  ...['9999-12-31', '1970-01-01 00:00:00'].map((value): Case => [
    `${value} among dates is no date, and no end of their range`,
    table('d timestamp', times(40, (at) => [at % 4 === 0 ? value : `2024-01-${String(10 + (at % 19))}`])), 'd', ['no value? ', '2024-01-10 to 2024-01-28'],
  ]),
  ['-999 far below the rest is a placeholder', table('v int', times(40, (at) => [at % 10 === 0 ? -999 : 20 + at])), 'v', 'no value? -999 (4)'],
  ['99 among ages is an age', table('age int', times(40, (at) => [60 + at])), 'age', '', 'no value'],
  ['codes show their formats, also several of them', codes, 'code', 'like A9999 (20), a-9999 (20)'],
  ['words show none', codes, 'words', '', 'like'],
  ['documents show their keys with how many have them, types and small domains', table('pl jsonb', times(30, (at) => [document(at)])), 'pl', ['JSON of 2 shapes in 30', '$.v (10): 2', '$.door.s (10): integer 0 to 9', '$.note (20): a99']],
  ['a table of a few rows is shown whole', tiny, null, /^a \| 1\nb \| 2\nc \| 3$/],
  ['and nothing is said of its columns', tiny, 'n', /^$/],
  ['of a longer one three rows are shown as they stand, from its beginning, middle and end', table('id int, x text', times(41, (at) => [at, at === 20 ? null : `x${at}`])), null, /^0 \| x0; 20 \| NULL; 40 \| x40$/],
  ['a column filled for one category only says for which', table('dp text, drv text', times(60, (at) => (at % 3 === 0 ? ['TLK', `D-${10 + at}`] : ['HLM', null]))), 'drv', 'has a value by dp: HLM 0%, TLK 100%'],
  ['of two that are filled in the same rows the first says what that goes with', filled, 'done', 'has a value by st: A 0%, E 100%'],
  ['and the second that it goes with the first', filled, 'sig', 'has a value exactly where done has one'],
  ['a column filled from a month on says so', table('d date, v int', since), 'v', 'has a value by month of d: 2024-01..2024-05 0%, 2024-06..2024-12 100%'],
  ['a unit by device shows in the middle half of the values, also where a key leads to the device', [probes, readings], 'v', /middle half by probe\.mdl: C 1[5-7][\d.]*\.\.[\d.]+, F 6\d\.\.\d+/],
  ['groups that overlap are not told apart', table('k text, v int', times(80, (at) => [at % 2 === 0 ? 'a' : 'b', (at * 37) % 100])), 'v', '', 'middle half'],
]; // prettier-ignore

const made = (columns: string, row: (at: number) => Rows[number]): Given => table(columns, times(60, row));
const minutes = (at: number): string => String(at).padStart(2, '0');
const stamps = (a: (at: number) => string): Given => made('a timestamp, b timestamp', (at) => [a(at), `2024-01-${10 + (at % 19)} ${minutes(at % 24)}:${minutes(at)}:${minutes((at * 7) % 60)}`]); // prettier-ignore
const unrelated = made('a int, b int, c int', (at) => [(at * 7919) % 101, (at * 104729) % 97, (at * 1299709) % 89]);
const items = table(
  'cd text, eur int',
  times(12, (at) => [`C${at}`, 20 + at * 7]),
  { name: 'pk', primaryKey: ['cd'] },
);
const lines = table('ln int, cd text, pr int', times(90, (at) => [at, `C${at % 12}`, (20 + (at % 12) * 7) * 100]), { foreignKeys: [{ columns: ['cd'], table: 'pk', references: ['cd'] }] }); // prettier-ignore
const once = times(60, (at) => [at, 70 + ((at * 13) % 47), 10.5 + at * 3, `2024-03-${10 + (at % 20)} 1${at % 10}:00`, at * 31]); // prettier-ignore
const twice = [...once.map((row) => [...row, 'FC01']), ...once.slice(0, 15).map(([, ...rest], at) => [200 + at, ...rest, 'FC01_1'])] as Rows; // prettier-ignore

const derived: Case[] = [
  ['a copy', made('a int, b int', (at) => [at * 3, at * 3]), 'a', '= b in all 60 rows'],
  ['a constant difference', made('a int, b int', (at) => [at * at + 5, at * at]), 'a', '= b + 5 in all 60 rows'],
  ['a factor', made('lb numeric, kg numeric', (at) => [Number(((at + 3) * 2.2046).toFixed(2)), at + 3]), 'lb', '= kg * 2.20'],
  ['a sum', made('tot int, net int, tax int', (at) => [at * 7 + (at % 5) + 1, at * 7, (at % 5) + 1]), 'tot', '= net + tax in'],
  ['a product', made('amt int, n int, pr int', (at) => [(at + 2) * ((at % 9) + 2), at + 2, (at % 9) + 2]), 'amt', '= n * pr in'],
  ['a duration', made('min int, a timestamp, b timestamp', (at) => [5 + (at % 50), `2024-01-0${1 + (at % 9)} 10:${minutes(5 + (at % 50))}:00`, `2024-01-0${1 + (at % 9)} 10:00:00`]), 'min', '= a - b in minutes in all 60 rows'],
  ['a cut number', made('c int, v numeric', (at) => [Math.trunc(at * 1.37), Number((at * 1.37).toFixed(2))]), 'c', '= v cut to a whole number in all 60 rows'],
  ['the beginning of a text', made('p text, full text', (at) => [`K${100 + at}`, `K${100 + at}-${at % 7}x`]), 'p', '= the beginning of full in all 60 rows'],
  ['a time cut to the hour', stamps((at) => `2024-01-${10 + (at % 19)} ${minutes(at % 24)}:00:00`), 'a', '= b cut to the hour in all 60 rows'],
  ['a time cut to the day, as a date', stamps((at) => `2024-01-${10 + (at % 19)}`), 'a', '= b cut to the day in all 60 rows'],
  ['a time cut to the minute', stamps((at) => `2024-01-${10 + (at % 19)} ${minutes(at % 24)}:${minutes(at)}:00`), 'a', '= b cut to the minute in all 60 rows'],
  ['a date some days after another', made('a date, b date', (at) => [`2024-03-${minutes(4 + (at % 27))}`, `2024-03-${minutes(1 + (at % 27))}`]), 'a', '= b + 3 days in all 60 rows'],
  ['a date that is digits in a text, and one moved across the end of a month', made('a text, b text', (at) => [`202403${minutes(1 + (at % 28))}`, at % 28 === 0 ? '20240229' : `202403${minutes(at % 28)}`]), 'a', '= b + 1 days in all 60 rows'],
  ['but not of a few dates', made('a date, b date', (at) => [`202${at % 4}-12-31`, `202${at % 4}-12-28`]), 'a', '', '='],
  ['nor of a time that is cut in some rows only', stamps((at) => `2024-01-${10 + (at % 19)} ${minutes(at % 24)}:${at % 3 === 0 ? '07' : '00'}:00`), 'a', '', '='],
  ...['a', 'b', 'c'].map((column): Case => [`unrelated numbers: ${column}`, unrelated, column, '', '= ']),
  ['a number that is made of one which a key leads to says of which', [items, lines], 'pr', '= pk.eur * 100'],
  ['rows that were imported twice are counted, with the columns in which they differ', table('id int, l numeric, amt numeric, ts timestamp, odo int, fil text', twice, { primaryKey: ['id'] }), null, '15 rows repeat an earlier one in all columns but id, fil; only repeats: fil FC01_1 (15)'],
]; // prettier-ignore

const keys = table(
  'no text, h int',
  times(40, (at) => [`P000${1000 + at}`, at]),
  { name: 'pal', primaryKey: ['no'] },
);
const pets = table('id int, merged int, teeth int', times(200, (at) => [at + 1, at % 10 === 9 ? ((at * 7) % 199) + 1 : null, at % 3 === 0 ? at % 20 : null]), { primaryKey: ['id'] }); // prettier-ignore
const small = table(
  'id int, x text',
  times(40, (at) => [at + 1, `x${at}`]),
  { name: 'a', primaryKey: ['id'] },
);

const joins: Case[] = [
  ['a column that leads to a key which nobody declared says where', [keys, table('code text', times(80, (at) => [`P000${1000 + (at % 30)}`]))], 'code', '-> pal.no (all 30 values)'],
  ['a sparse column that leads to other rows of its own table says so', pets, 'merged', '-> t.id (all 20 values; 2 rows lead to one that has merged itself)'],
  ['small numbers lead to no row of their own table', pets, 'teeth', '', '-> t'],
  ['keys that meet only without case, padding and punctuation say how many do', [keys, table('code text', times(80, (at) => [`p-${1000 + (at % 30)}`]))], 'code', '-> pal.no: 0 of 30 values as they stand, 30 without case'],
  ['small numbers that are in every table lead nowhere', [small, table('qty int', times(60, (at) => [1 + (at % 20)]))], 'qty', '', '->'],
]; // prettier-ignore

test.each([...alone, ...derived, ...joins].map((each) => [each[0], each] as const))(
  '%s',
  async (_, [, given, column, says, never]) => {
    const text = await said([given].flat(), 't', column);
    for (const each of [says].flat()) expect(text).toEqual(typeof each === 'string' ? expect.stringContaining(each) : expect.stringMatching(each)); // prettier-ignore
    if (never !== undefined) expect(text).not.toContain(never);
  },
);

describe('control totals', () => {
  const rows = times(
    400,
    (at) => [at, ['R', 'P', 'G'][at % 3]!, `2024-0${1 + (at % 4)}-1${at % 9}`, 10 + ((at * 17) % 90)] as const,
  );
  const large: Given = {
    name: 'inv',
    columns: ['id int', 'typ text', 'dt date', 'tot numeric'],
    primaryKey: ['id'],
    rows,
  };
  const months = ['202401', '202402', '202403', '202404'];
  const total = (sign: (typ: string) => number) => (month: string) =>
    rows
      .filter(([, , dt]) => dt.slice(0, 4) + dt.slice(5, 7) === month)
      .reduce((sum, [, typ, , tot]) => sum + sign(typ) * tot, 0);
  const control = (sign: (typ: string) => number): Given => ({
    name: 'ctl',
    columns: ['per text', 'mv numeric'],
    rows: months.map((month) => [month, total(sign)(month)]),
  });

  test('a plain sum by month is found', async () => {
    expect(await said([large, control(() => 1)], 'ctl', 'mv')).toBe('= sum(tot) of inv by month of dt in all 4 rows');
  });

  test('so are the kinds that are left out or subtracted', async () => {
    const sign = (typ: string): number => (typ === 'R' ? 1 : typ === 'G' ? -1 : 0);
    expect(await said([large, control(sign)], 'ctl', 'mv')).toBe(
      '= sum(tot) of inv (without typ P; typ G subtracted) by month of dt in all 4 rows',
    );
  });

  /** The totals of readings by `label`, the period that a control table has them under. */
  async function shifted(type: string, label: (at: Date) => string): Promise<string> {
    const readings = times(900, (at) => ({ at: new Date(Date.UTC(2024, 0, 3, 5 * at)), v: 3 + ((at * 29) % 83) }));
    const sums = new Map<string, number>();
    for (const { at, v } of readings) sums.set(label(at), (sums.get(label(at)) ?? 0) + v);
    // The first and the last period are cut off.
    const control: Given = { name: 'ctl', columns: [`per ${type}`, 'v int'], rows: [...sums].slice(1, -1) };
    const read: Given = {
      name: 'rdg',
      columns: ['ts timestamp', 'v int'],
      rows: readings.map(({ at, v }) => [at.toISOString().slice(0, 19), v]),
    };
    return said([read, control], 'ctl', 'v');
  }
  const moved = (at: Date, hours: number): Date => new Date(at.getTime() + hours * 3_600_000);

  test('days that begin at seven are found, by the date on which they begin or end', async () => {
    expect(await shifted('date', (at) => moved(at, -7).toISOString().slice(0, 10))).toMatch(
      /= sum\(v\) of rdg by day of ts \(days from 07:00\) in all \d+ rows$/,
    );
    expect(await shifted('date', (at) => moved(at, 17).toISOString().slice(0, 10))).toMatch(
      /= sum\(v\) of rdg by day of ts \(days up to 07:00\) in all \d+ rows$/,
    );
  });

  test('months that begin on the 26th are found, by the month in which they begin or end', async () => {
    const month = (at: Date, by: number): string =>
      new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + by)).toISOString().slice(0, 7);
    expect(await shifted('text', (at) => month(at, at.getUTCDate() < 26 ? -1 : 0))).toMatch(
      /= sum\(v\) of rdg by month of ts \(months from day 26\) in all \d+ rows$/,
    );
    expect(await shifted('text', (at) => month(at, at.getUTCDate() < 26 ? 0 : 1))).toMatch(
      /= sum\(v\) of rdg by month of ts \(months up to day 25\) in all \d+ rows$/,
    );
  });

  test('a number that controls nothing is no total of anything', async () => {
    const noise: Given = {
      name: 'ctl',
      columns: ['per text', 'mv numeric'],
      rows: months.map((month, at) => [month, 7 + at * 31]),
    };
    expect(await said([large, noise], 'ctl', 'mv')).not.toContain('=');
  });

  test('a table of which only a sample was read controls nothing', async () => {
    expect(await said([{ ...large, whole: false }, control(() => 1)], 'ctl', 'mv')).not.toContain('=');
  });
});
