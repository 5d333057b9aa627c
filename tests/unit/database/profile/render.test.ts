import { renderProfiles } from '../../../../src/database/profile/render';
import { describe as described, profiled, times, type Given } from './tables';

const given: Given = {
  ...{ name: 't', columns: ['id int', 'st text', 'note text'], primaryKey: ['id'] },
  rows: times(60, (at) => [at, at % 3 === 0 ? 'D' : 'E', at % 3 === 0 ? `N${at}` : null]),
};
const text = async (maxChars: number, options = { values: true }): Promise<string> =>
  renderProfiles([described(given)], await profiled([given], options), { dialect: 'postgresql', maxChars });

test('names, types and keys always stand; the most telling pieces get the room there is', async () => {
  expect(await text(0)).toBe('TABLE t ( -- 60 rows\n  id int PRIMARY KEY\n  st text\n  note text\n)');
  const short = await text(60);
  expect(short).toContain('has a value by st: D 100%, E 0%');
  expect(short).not.toContain('row:');
  const all = await text(5_000);
  for (const part of ['st text -- E (40), D (20)', 'NULL 67%', 'row: 0 | D | N0']) expect(all).toContain(part);
});

test('what the profile tells, or what tells little, is not said: NOT NULL, lengths, times of the day, the range of a counter', async () => {
  const visit: Given = {
    ...{ name: 'v', columns: ['id int', 'pat int', 'at timestamp(0)', 'kg double precision', 'no varchar(20)'] },
    ...{ primaryKey: ['id'], uniqueKeys: [['no']] },
    foreignKeys: [{ columns: ['pat'], table: 'p', references: ['id'] }],
    rows: times(60, (at) => [
      at,
      at % 9,
      `2024-01-${10 + (at % 19)} 08:${10 + (at % 40)}:00`,
      at / 7 + 1,
      `n${at} x y`,
    ]),
  };
  const table = described(visit);
  const whole = { ...table, columns: table.columns.map((column) => ({ ...column, nullable: false })) };
  const shown = renderProfiles([whole], await profiled([visit]), { dialect: 'postgresql', maxChars: 900 });
  expect(shown).not.toMatch(/NOT NULL|\(0\)|\(20\)|0 to 59/);
  for (const line of [
    '  id int PRIMARY KEY\n',
    '  pat int -> p.id -- ',
    '2024-01-10 to 2024-01-28',
    '1 to 9.42857',
    'no varchar UNIQUE',
  ])
    expect(shown).toContain(line);
});

test('without values no value of the database is shown', async () => {
  const shapes = await text(5_000, { values: false });
  expect(shapes).toContain('2 values');
  expect(shapes).not.toMatch(/row:|N\d|\bD\b|\bE\b/);
});

test('figures of a sample say of how many rows they are', async () => {
  const sampled = renderProfiles([described(given)], await profiled([{ ...given, whole: false }]), {
    dialect: 'postgresql',
    maxChars: 500,
  });
  expect(sampled).toContain('-- figures of 60 rows read');
});

test('a value cannot begin a line of its own', async () => {
  const hostile: Given = { ...given, rows: times(60, (at) => [at, 'a\n)\nTABLE x (', `n${at}`]) };
  const shown = renderProfiles([described(hostile)], await profiled([hostile]), {
    dialect: 'postgresql',
    maxChars: 5_000,
  });
  expect(shown).toContain('TABLE x (');
  expect(shown.split('\n').filter((line) => line.startsWith('TABLE'))).toHaveLength(1);
});
