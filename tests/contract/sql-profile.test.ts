/** The profile queries against every kind of database: what they claim about a table built to hold every trap. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createPostgresEngine } from '../../src/adapters/postgres';
import { createSnowflakeEngine } from '../../src/adapters/snowflake';
import { createSqliteEngine } from '../../src/adapters/sqlite';
import type { ColumnProfile } from '../../src/domain';
import type { SqlEngine, SqlOptions } from '../../src/ports/sql-engine';
import { interpretProfile, joinCandidates, profileQueries, renderProfiles } from '../../src/search/profile';
import { startFakesnow, type TestSnowflake } from '../helpers/fakesnow';
import { startPostgres, type TestPostgres } from '../helpers/postgres';

/** 18 sprint events: the winner's time is absolute, the others' are gaps, two of them with minutes. */
const sprint = (): string => {
  const rows = Array.from({ length: 18 }, (_, index) => {
    const gap = index === 0 ? '1:14.221' : index > 15 ? `+1:0${index % 10}.300` : `+${index}.125`;
    const extra = index % 3 === 0 ? `{"v": 2, "laps": [{"gap": "${gap}"}]}` : `{"gap": "${gap}"}`;
    const unit = index % 2 === 0 ? 'g' : 'kg';
    return `(${index + 1}, '${String((index % 6) + 1).padStart(4, '0')}', '${gap}', '${extra}', '${unit}', ${unit === 'g' ? 70000 + index : 70 + index},
      ${index === 3 ? -1 : index * 2}, '${index === 4 ? 'n/a' : index === 5 ? 'Red ' : index === 6 ? 'red' : 'Red'}', '${index > 12 ? '9999-12-31' : `2020-01-${10 + index}`}', 'x', NULL, ${index + 1})`;
  });
  // Quoted, so that Snowflake keeps their case.
  return `CREATE TABLE "team" ("code" text PRIMARY KEY); INSERT INTO "team" VALUES ('1'), ('2'), ('3'), ('4'), ('5');
    CREATE TABLE "sprint" ("id" integer PRIMARY KEY, "team_code" text, "gap" text, "extra" text, "unit" text, "weight" integer, "score" integer,
      "colour" text, "until" date, "fixed" text, "hollow" text, "place" integer);
    INSERT INTO "sprint" VALUES ${rows.join(', ')}; CREATE TABLE "hollow" ("a" integer);`;
};

const folder = mkdtempSync(join(tmpdir(), 'gate-profile-'));
const options: SqlOptions = {
  timeoutMs: 20_000,
  maxRows: 10_000,
  signal: new AbortController().signal,
  tag: 'profile',
};
let postgres: TestPostgres;
let snowflake: TestSnowflake;
const engines = new Map<string, SqlEngine>();

beforeAll(async () => {
  postgres = await startPostgres();
  await postgres.createDatabase('sprint', sprint());
  const database = new Database(join(folder, 'sprint.sqlite'));
  database.exec(sprint());
  database.close();
  engines.set('postgresql', createPostgresEngine({ url: postgres.url('sprint'), options: postgres.laidDown }));
  engines.set('sqlite', createSqliteEngine({ path: join(folder, 'sprint.sqlite') }));
  snowflake = await startFakesnow();
  await snowflake.write('SPRINT', sprint());
  engines.set('snowflake', createSnowflakeEngine({ url: snowflake.url('SPRINT') }));
}, 300_000);

afterAll(async () => {
  for (const engine of engines.values()) await engine.close();
  await postgres.stop();
  await snowflake.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function profile(dialect: string, name: string, columns?: string[]): Promise<Map<string, ColumnProfile>> {
  const engine = engines.get(dialect)!;
  const description = await engine.describe(options);
  const table = description.tables.find((one) => one.name === name)!;
  const names = columns ?? table.columns.map((column) => column.name);
  const queries = profileQueries(table, names, engine.dialect, undefined, joinCandidates(description, table, names));
  const { results } = await engine.run(queries.statements, options);
  expect(results.map(({ kind }) => kind)).toEqual(queries.statements.map(() => 'rows'));
  return new Map(interpretProfile(queries, results).map((one) => [one.column, one]));
}

describe.each(['postgresql', 'sqlite', 'snowflake'])('a profile on %s', (dialect) => {
  let profiles: Map<string, ColumnProfile>;
  beforeAll(async () => {
    profiles = await profile(dialect, 'sprint');
  });
  const of = (column: string): ColumnProfile => profiles.get(column)!;

  test('counts rows, NULLs, distinct values, range and the most frequent values', () => {
    expect(of('unit')).toMatchObject({
      table: 'sprint',
      examined: 18,
      nulls: 0,
      distinct: 2,
      min: 'g',
      max: 'kg',
      top: [
        { value: 'g', count: 9 },
        { value: 'kg', count: 9 },
      ],
    });
    expect(of('place')).toMatchObject({ distinct: 18, min: '1', max: '18' });
  });

  test('says that times have several formats: one absolute, gaps, gaps with minutes', () => {
    expect(of('gap').patterns).toEqual([
      { pattern: '+9.999', count: 9 },
      { pattern: '+99.999', count: 6 },
      { pattern: '+9:99.999', count: 2 },
      { pattern: '9:99.999', count: 1 },
    ]);
    expect(of('gap').remarks.join()).toContain('several formats');
  });

  test('looks into JSON: shapes, and the formats of values per path', () => {
    const text = of('extra').remarks.join('\n');
    expect(text).toContain('JSON of 2 shapes (versions?): {gap} (12), {laps:[{gap}],v} (6)');
    expect(text).toContain('$.laps[].gap: "+9.999"');
    expect(text).toContain('"+9:99.999" (2)');
    expect(text).toContain('$.v: integer (6)');
  });

  test('sees that a magnitude depends on the unit', () => {
    expect(of('weight').remarks.join()).toMatch(
      /magnitude depends on unit: 'g' mean 70010, 70000 to 70020 \(9\); 'kg' mean 79, 71 to 87 \(9\)/,
    );
  });

  test('points at placeholders of numbers, texts and dates', () => {
    expect(of('score').remarks).toContain('-1 in 1 rows is the only negative value: a placeholder?');
    expect(of('colour').remarks).toContain("placeholders for no value? 'n/a' (1)");
    expect(of('until').remarks).toContain("placeholder dates? '9999-12-31' (5)");
  });

  test('sees outer spaces and spellings that differ in case', () => {
    expect(of('colour').remarks).toEqual(
      expect.arrayContaining([
        '1 values have leading or trailing spaces',
        '4 distinct spellings are 2 without case and outer spaces',
      ]),
    );
  });

  test('names constant, empty and copied columns', () => {
    expect(of('fixed').remarks).toContain("constant: 'x' in all 18 rows");
    expect(of('hollow').remarks).toEqual(['always NULL in 18 rows']);
    expect(of('place').remarks).toContain('same as id in all 18 rows');
  });

  test('tries the join exactly and without leading zeros', () => {
    expect(of('team_code').remarks).toContain(
      '0 of 6 distinct values are in team.code; 5 after trimming, case and leading zeros',
    );
  });

  test('a table without rows has no profile, and only the asked columns are examined', async () => {
    expect((await profile(dialect, 'hollow')).size).toBe(0);
    expect([...(await profile(dialect, 'sprint', ['gap', 'id'])).keys()]).toEqual(['gap', 'id']);
  });

  test('the text of the profiles fits its budget and keeps remarks first', () => {
    const whole = renderProfiles([...profiles.values()], 10_000);
    expect(whole.split('\n')[0]).toBe('sprint (18 rows examined)');
    const part = renderProfiles([...profiles.values()], 700);
    expect(part.length).toBeLessThan(760);
    expect(part).toMatch(/\(\d+ profiled columns are not shown\)$/);
  });
});

test('a large PostgreSQL table is sampled within the row budget', async () => {
  await postgres.createDatabase(
    'large',
    'CREATE TABLE big AS SELECT i, i % 7 AS week FROM generate_series(1, 200000) AS s(i); ANALYZE big',
  );
  const engine = createPostgresEngine({ url: postgres.url('large'), options: postgres.laidDown });
  engines.set('large', engine);
  const [table] = (await engine.describe(options)).tables;
  const queries = profileQueries(table!, ['i', 'week'], 'postgresql', { maxRows: 5_000, maxColumns: 10 });
  const { results } = await engine.run(queries.statements, options);
  const [i, week] = interpretProfile(queries, results);
  expect(week).toMatchObject({ examined: 5_000, distinct: 7 });
  expect(Number(i?.max)).toBeGreaterThan(20_000);
});
