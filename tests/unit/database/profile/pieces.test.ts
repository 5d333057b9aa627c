import { said, times, type Given } from './tables';

const table = (columns: readonly string[], rows: Given['rows'], more: Partial<Given> = {}): Given[] => [
  { name: 't', columns, rows, ...more },
];

describe('a column by itself', () => {
  test('a small domain is listed whole, with counts, most frequent first', async () => {
    const rows = times(40, (at) => [at, at % 4 === 0 ? 'D' : 'E']);
    expect(await said(table(['id int', 'st text'], rows), 't', 'st')).toBe('E (30), D (10)');
  });

  test('NULL, blank and a placeholder are three things', async () => {
    const values = [null, '', 'n/a', ...times(37, (at) => `v${at % 20}`)];
    const text = await said(
      table(
        ['v text'],
        values.map((value) => [value]),
      ),
      't',
      'v',
    );
    expect(text).toContain('NULL 3%');
    expect(text).toContain('blank 3%');
    expect(text).toContain('no value? n/a (1)');
  });

  test.each([
    ['9999-12-31', 'timestamp'],
    ['1970-01-01 00:00:00', 'timestamp'],
  ])('%s among dates is no date, and no end of their range', async (value, type) => {
    const rows = times(40, (at) => [at % 4 === 0 ? value : `2024-01-${String(10 + (at % 19))}`]);
    const text = await said(table([`d ${type}`], rows), 't', 'd');
    expect(text).toContain(`no value? `);
    expect(text).toContain('2024-01-10 to 2024-01-28');
  });

  test('-999 far below the rest is a placeholder; 99 among ages is an age', async () => {
    const low = times(40, (at) => [at % 10 === 0 ? -999 : 20 + at]);
    expect(await said(table(['v int'], low), 't', 'v')).toContain('no value? -999 (4)');
    const ages = times(40, (at) => [60 + at]);
    expect(await said(table(['age int'], ages), 't', 'age')).not.toContain('no value');
  });

  test('codes show their formats, also several of them; words show none', async () => {
    const rows = times(40, (at) => [
      at % 2 === 0 ? `P${1000 + at}` : `p-${1000 + at}`,
      ['red car', 'big old house', 'a tree'][at % 3]!,
    ]);
    const given = table(['code text', 'words text'], rows);
    expect(await said(given, 't', 'code')).toContain('like A9999 (20), a-9999 (20)');
    expect(await said(given, 't', 'words')).not.toContain('like');
  });

  test('documents show their keys with how many have them, types and small domains', async () => {
    const rows = times(30, (at) => [JSON.stringify(at < 10 ? { v: 2, door: { s: at } } : { s: at, note: `n${at}` })]);
    const text = await said(table(['pl jsonb'], rows), 't', 'pl');
    expect(text).toContain('JSON of 2 shapes in 30');
    expect(text).toContain('$.v (10): 2');
    expect(text).toContain('$.door.s (10): integer 0 to 9');
    expect(text).toContain('$.note (20): a99');
  });

  test('a table of a few rows is shown whole, and nothing is said of its columns', async () => {
    const given = table(
      ['k text', 'n int'],
      [
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ],
    );
    expect(await said(given, 't', null)).toBe('a | 1\nb | 2\nc | 3');
    expect(await said(given, 't', 'n')).toBe('');
  });

  test('of a longer one three rows are shown as they stand, from its beginning, middle and end', async () => {
    const given = table(
      ['id int', 'x text'],
      times(41, (at) => [at, at === 20 ? null : `x${at}`]),
    );
    expect(await said(given, 't', null)).toBe('0 | x0; 20 | NULL; 40 | x40');
  });
});

describe('what goes with what', () => {
  test('a column filled for one category only says for which', async () => {
    const rows = times(60, (at) => [at % 3 === 0 ? 'TLK' : 'HLM', at % 3 === 0 ? `D-${10 + at}` : null]);
    expect(await said(table(['dp text', 'drv text'], rows), 't', 'drv')).toContain(
      'has a value by dp: HLM 0%, TLK 100%',
    );
  });

  test('of two that are filled in the same rows the first says what that goes with, the second that it goes with the first', async () => {
    const rows = times(60, (at) => {
      const isDone = at % 3 === 0;
      return [isDone ? 'E' : 'A', isDone ? `2024-03-${10 + (at % 20)}` : null, isDone ? `S${at}` : null];
    });
    const given = table(['st text', 'done date', 'sig text'], rows);
    expect(await said(given, 't', 'done')).toContain('has a value by st: A 0%, E 100%');
    expect(await said(given, 't', 'sig')).toContain('has a value exactly where done has one');
  });

  test('a column filled from a month on says so', async () => {
    const rows = times(120, (at) => {
      const month = 1 + Math.floor(at / 10);
      return [`2024-${String(month).padStart(2, '0')}-${10 + (at % 10)}`, month >= 6 ? at * 7 : null];
    });
    const text = await said(table(['d date', 'v int'], rows), 't', 'v');
    expect(text).toContain('has a value by month of d: 2024-01..2024-05 0%, 2024-06..2024-12 100%');
  });

  test('a unit by device shows in the middle half of the values, also where a key leads to the device', async () => {
    const probes: Given = {
      name: 'probe',
      columns: ['pid int', 'mdl text'],
      primaryKey: ['pid'],
      rows: times(20, (at) => [500 + at, at % 2 === 0 ? 'F' : 'C']),
    };
    const readings: Given = {
      ...{ name: 'rdg', columns: ['pid int', 'v numeric'] },
      foreignKeys: [{ columns: ['pid'], table: 'probe', references: ['pid'] }],
      rows: times(200, (at) => [500 + (at % 20), at % 2 === 0 ? 60 + (at % 13) : 15 + (at % 11) / 2]),
    };
    expect(await said([probes, readings], 'rdg', 'v')).toMatch(
      /middle half by probe\.mdl: C 1[5-7][\d.]*\.\.[\d.]+, F 6\d\.\.\d+/,
    );
  });

  test('groups that overlap are not told apart', async () => {
    const rows = times(80, (at) => [at % 2 === 0 ? 'a' : 'b', (at * 37) % 100]);
    expect(await said(table(['k text', 'v int'], rows), 't', 'v')).not.toContain('middle half');
  });
});

describe('what follows from what', () => {
  const derived = async (columns: readonly string[], rows: Given['rows'], column: string): Promise<string> =>
    said(table(columns, rows), 't', column);

  test.each<[string, readonly string[], (at: number) => Given['rows'][number], string, string]>([
    ['a copy', ['a int', 'b int'], (at) => [at * 3, at * 3], 'a', '= b in all 60 rows'],
    ['a constant difference', ['a int', 'b int'], (at) => [at * at + 5, at * at], 'a', '= b + 5 in all 60 rows'],
    [
      'a factor',
      ['lb numeric', 'kg numeric'],
      (at) => [Number(((at + 3) * 2.2046).toFixed(2)), at + 3],
      'lb',
      '= kg * 2.20',
    ],
    [
      'a sum',
      ['tot int', 'net int', 'tax int'],
      (at) => [at * 7 + (at % 5) + 1, at * 7, (at % 5) + 1],
      'tot',
      '= net + tax in',
    ],
    [
      'a product',
      ['amt int', 'n int', 'pr int'],
      (at) => [(at + 2) * ((at % 9) + 2), at + 2, (at % 9) + 2],
      'amt',
      '= n * pr in',
    ],
    [
      'a duration',
      ['min int', 'a timestamp', 'b timestamp'],
      (at) => [
        5 + (at % 50),
        `2024-01-0${1 + (at % 9)} 10:${String(5 + (at % 50)).padStart(2, '0')}:00`,
        `2024-01-0${1 + (at % 9)} 10:00:00`,
      ],
      'min',
      '= a - b in minutes in all 60 rows',
    ],
    [
      'a cut number',
      ['c int', 'v numeric'],
      (at) => [Math.trunc(at * 1.37), Number((at * 1.37).toFixed(2))],
      'c',
      '= v cut to a whole number in all 60 rows',
    ],
    [
      'the beginning of a text',
      ['p text', 'full text'],
      (at) => [`K${100 + at}`, `K${100 + at}-${at % 7}x`],
      'p',
      '= the beginning of full in all 60 rows',
    ],
  ])('%s', async (_name, columns, row, column, expected) => {
    expect(await derived(columns, times(60, row), column)).toContain(expected);
  });

  test('unrelated numbers follow from nothing', async () => {
    const rows = times(60, (at) => [(at * 7919) % 101, (at * 104729) % 97, (at * 1299709) % 89]);
    for (const column of ['a', 'b', 'c'])
      expect(await derived(['a int', 'b int', 'c int'], rows, column)).not.toContain('= ');
  });

  test('a number that is made of one which a key leads to says of which', async () => {
    const items: Given = {
      name: 'pk',
      columns: ['cd text', 'eur int'],
      primaryKey: ['cd'],
      rows: times(12, (at) => [`C${at}`, 20 + at * 7]),
    };
    const lines: Given = {
      ...{
        name: 'il',
        columns: ['ln int', 'cd text', 'pr int'],
        rows: times(90, (at) => [at, `C${at % 12}`, (20 + (at % 12) * 7) * 100]),
      },
      foreignKeys: [{ columns: ['cd'], table: 'pk', references: ['cd'] }],
    };
    expect(await said([items, lines], 'il', 'pr')).toContain('= pk.eur * 100');
  });

  test('rows that were imported twice are counted, with the columns in which they differ', async () => {
    const once = times(60, (at) => [
      at,
      70 + ((at * 13) % 47),
      10.5 + at * 3,
      `2024-03-${10 + (at % 20)} 1${at % 10}:00`,
      at * 31,
    ]);
    const again = once.slice(0, 15).map(([, ...rest], at) => [200 + at, ...rest]);
    const rows = [...once.map((row) => [...row, 'FC01']), ...again.map((row) => [...row, 'FC01_1'])] as Given['rows'];
    const given = table(['id int', 'l numeric', 'amt numeric', 'ts timestamp', 'odo int', 'fil text'], rows, {
      primaryKey: ['id'],
    });
    expect(await said(given, 't', null)).toContain(
      '15 rows repeat an earlier one in all columns but id, fil; only repeats: fil FC01_1 (15)',
    );
  });
});

describe('how tables hang together', () => {
  const keys: Given = {
    name: 'pal',
    columns: ['no text', 'h int'],
    primaryKey: ['no'],
    rows: times(40, (at) => [`P000${1000 + at}`, at]),
  };

  test('a column that leads to a key which nobody declared says where', async () => {
    const rows = times(80, (at) => [`P000${1000 + (at % 30)}`]);
    expect(await said([keys, { name: 's', columns: ['code text'], rows }], 's', 'code')).toContain(
      '-> pal.no (all 30 values)',
    );
  });

  test('a sparse column that leads to other rows of its own table says so; small numbers do not', async () => {
    const rows = times(200, (at) => [
      at + 1,
      at % 10 === 9 ? ((at * 7) % 199) + 1 : null,
      at % 3 === 0 ? at % 20 : null,
    ]);
    const given: Given = { name: 'pet', columns: ['id int', 'merged int', 'teeth int'], rows, primaryKey: ['id'] };
    expect(await said([given], 'pet', 'merged')).toContain(
      '-> pet.id (all 20 values; 2 rows lead to one that has merged itself)',
    );
    expect(await said([given], 'pet', 'teeth')).not.toContain('-> pet');
  });

  test('keys that meet only without case, padding and punctuation say how many do', async () => {
    const rows = times(80, (at) => [`p-${1000 + (at % 30)}`]);
    const text = await said([keys, { name: 's', columns: ['code text'], rows }], 's', 'code');
    expect(text).toContain('-> pal.no: 0 of 30 values as they stand, 30 without case');
  });

  test('small numbers that are in every table lead nowhere', async () => {
    const one: Given = {
      name: 'a',
      columns: ['id int', 'x text'],
      primaryKey: ['id'],
      rows: times(40, (at) => [at + 1, `x${at}`]),
    };
    const other: Given = { name: 'b', columns: ['qty int'], rows: times(60, (at) => [1 + (at % 20)]) };
    expect(await said([one, other], 'b', 'qty')).not.toContain('->');
  });
});

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
