/**
 * Published gold queries pass the fence: those of the development data when it is there (GATE_SHARED_DATA, or ../shared),
 * always those of the fixture. And whatever a fence lets through, both engines' own grammars must agree on.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPostgresInspector } from '../../src/adapters/postgres';
import { createSnowflakeInspector } from '../../src/adapters/snowflake';
import { createSqliteInspector } from '../../src/adapters/sqlite';
import type { SqlInspector } from '../../src/domain/ports/sql-inspector';
import fixture from '../fixtures/gold-statements.json';

interface Gold {
  readonly id: string;
  readonly engine: string;
  readonly sql: string;
}

const shared = process.env['GATE_SHARED_DATA'] ?? join(__dirname, '..', '..', '..', 'shared', 'data');

function goldOf(folder: string): Gold[] {
  const lines = readFileSync(join(shared, folder, 'questions.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.flatMap((line) => {
    const { id, engine, gold_sql } = JSON.parse(line) as { id: string; engine: string; gold_sql: string[] };
    return gold_sql.map((sql) => ({ id, engine, sql }));
  });
}

const folders = existsSync(shared)
  ? readdirSync(shared).filter((name) => existsSync(join(shared, name, 'questions.jsonl')))
  : [];
const sets: [string, Gold[]][] = [
  ['the fixture', fixture.statements],
  ...folders.map((name): [string, Gold[]] => [name, goldOf(name)]),
];

let inspectors: Record<string, SqlInspector>;
beforeAll(async () => {
  inspectors = {
    postgresql: await createPostgresInspector(),
    sqlite: createSqliteInspector(),
    snowflake: createSnowflakeInspector(),
  };
});

test.each(sets)('every gold query of %s is accepted as one SELECT', (_, gold) => {
  const refused = gold.flatMap(({ id, engine, sql }) => {
    const inspection = inspectors[engine]?.inspect(sql);
    return inspection?.kind === 'select' ? [] : [{ id, sql, inspection }];
  });
  expect(refused).toEqual([]);
});

test.each([
  [
    'WITH a AS (SELECT * FROM t), b AS (SELECT * FROM a JOIN u ON true) SELECT * FROM b JOIN v ON true',
    ['t', 'u', 'v'],
  ],
  ['SELECT (SELECT max(x) FROM t) FROM u WHERE y IN (SELECT y FROM v) UNION ALL SELECT 1', ['t', 'u', 'v']],
  ['WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r JOIN t ON true) SELECT * FROM r', ['t']],
  ['WITH t AS (SELECT 1 AS x) SELECT * FROM (WITH t AS (SELECT * FROM u) SELECT * FROM t) s JOIN t ON true', ['u']],
])('all dialects read the same relations in: %s', (sql, relations) => {
  for (const inspector of Object.values(inspectors))
    expect(inspector.inspect(sql)).toMatchObject({ kind: 'select', relations });
});
