import { createGuardedEngine } from '../../../../src/adapters/kit/guard';
import { createPostgresInspector } from '../../../../src/adapters/postgres';
import { createMysqlInspector } from '../../../../src/adapters/mysql';
import type { Opening } from '../../../../src/adapters/kit/module';
import { createSnowflakeInspector, engine as snowflake } from '../../../../src/adapters/snowflake';
import { createSqliteInspector } from '../../../../src/adapters/sqlite';
import type { DatabaseDescription, SqlResult, TableDescription } from '../../../../src/domain';
import type { SqlEngine } from '../../../../src/domain/ports/sql-engine';
import type { SqlInspector } from '../../../../src/domain/ports/sql-inspector';
import type { AccessLists } from '../../../../src/sql/access';

const table = (name: string, columns: string[], more: Partial<TableDescription> = {}): TableDescription => ({
  name, kind: 'table', comment: null, rowEstimate: null, primaryKey: ['id'], uniqueKeys: [], foreignKeys: [],
  columns: columns.map((column) => ({ name: column, type: 'text', nullable: true, comment: null, samples: ['x'] })), ...more,
}); // prettier-ignore

const DESCRIPTION: DatabaseDescription = {
  dialect: 'postgresql',
  version: 'test',
  fingerprint: 'f',
  tables: [
    table('patient', ['id', 'name', 'SSN', 'ward_id', 'min'], {
      uniqueKeys: [['SSN'], ['name']],
      foreignKeys: [{ columns: ['ward_id'], table: 'hospital.ward', references: ['id'] }],
    }),
    table('visit', ['id', 'patient_id', 'cost'], {
      foreignKeys: [{ columns: ['patient_id'], table: 'patient', references: ['id'] }],
    }),
    table('hospital.ward', ['id', 'label']),
    table('salary', ['id', 'amount']),
  ],
};

/** Answers every statement with its own text. */
function echo(dialect: SqlEngine['dialect']): SqlEngine & { readonly asked: string[][] } {
  const asked: string[][] = [];
  const rows = (sql: string): SqlResult => ({
    kind: 'rows',
    columns: [{ name: 'sql', kind: 'text' }],
    rows: [[sql]],
    truncated: false,
    elapsedMs: 0,
  });
  return {
    dialect,
    asked,
    run: (statements) => {
      asked.push([...statements]);
      return Promise.resolve({ takenAt: 'then', results: statements.map(rows) });
    },
    digest: () => Promise.resolve({ count: 1, hash: 'h' }),
    describe: () => Promise.resolve(DESCRIPTION),
    close: () => Promise.resolve(),
  };
}

const options = { timeoutMs: 1000, maxRows: 10, signal: new AbortController().signal, tag: 't' };
let postgres: SqlInspector;
beforeAll(async () => {
  postgres = await createPostgresInspector();
});

async function ask(sql: string, access: AccessLists = { allow: [], deny: [] }): Promise<SqlResult> {
  const { results } = await createGuardedEngine(echo('postgresql'), postgres, access).run([sql], options);
  return results[0]!;
}

describe('the fence', () => {
  test('a refused statement is not sent, the others are, in order and in one run', async () => {
    const engine = echo('postgresql');
    const { results, takenAt } = await createGuardedEngine(engine, postgres).run(
      ['SELECT 1', 'DROP TABLE x', 'SELECT 2'],
      options,
    );
    expect(engine.asked).toEqual([['SELECT 1', 'SELECT 2']]);
    expect(takenAt).toBe('then');
    expect(results).toMatchObject([
      { rows: [['SELECT 1']] },
      { kind: 'refused', message: expect.stringContaining('DROP') as string },
      { rows: [['SELECT 2']] },
    ]);
  });

  test('when all are refused, nothing is sent', async () => {
    const engine = echo('postgresql');
    const { results } = await createGuardedEngine(engine, postgres).run(['DELETE FROM x'], options);
    expect(engine.asked).toEqual([]);
    expect(results).toMatchObject([{ kind: 'refused' }]);
  });

  test("a syntax error is an SQL error in PostgreSQL and the engine's own in SQLite", async () => {
    expect(await ask('SELEC 1')).toMatchObject({ kind: 'sql-error', code: '42601' });
    const engine = echo('sqlite');
    await createGuardedEngine(engine, createSqliteInspector()).run(['SELEC 1'], options);
    expect(engine.asked).toEqual([['SELEC 1']]);
  });

  test("with access lists nothing that SQLite's parser cannot read is sent", async () => {
    const engine = echo('sqlite');
    const { results } = await createGuardedEngine(engine, createSqliteInspector(), { allow: [], deny: ['salary'] }).run(
      ['SELEC 1'],
      options,
    );
    expect(engine.asked).toEqual([]);
    expect(results).toMatchObject([{ kind: 'sql-error' }]);
  });

  test('a message that quotes a value of many megabytes is cut, in a digest as well', async () => {
    const failed: SqlResult = {
      kind: 'sql-error',
      message: `bad: ${'😀'.repeat(3_000_000)}`,
      code: '22P02',
      elapsedMs: 1,
    };
    const engine = { ...echo('postgresql'), digest: () => Promise.resolve(failed) };
    engine.run = () => Promise.resolve({ takenAt: 'then', results: [failed] });
    const guarded = createGuardedEngine(engine, postgres);
    const expected = {
      kind: 'sql-error',
      code: '22P02',
      message: expect.stringMatching(/^bad: (😀){997} … \(cut: 6,000,005 characters\)$/u) as string,
    };
    expect((await guarded.run(['SELECT 1'], options)).results).toMatchObject([expected]);
    expect(await guarded.digest('SELECT 1', options)).toMatchObject(expected);
    expect(await ask(`SELECT 1 /*${'x'.repeat(50_000)}`)).toMatchObject({
      message: expect.stringContaining('(cut: ') as string,
    });
  });

  test('a digest is fenced as well', async () => {
    const guarded = createGuardedEngine(echo('postgresql'), postgres, { allow: [], deny: ['salary'] });
    expect(await guarded.digest('SELECT amount FROM salary', options)).toMatchObject({ kind: 'refused' });
    expect(await guarded.digest('SELECT cost FROM visit', options)).toEqual({ count: 1, hash: 'h' });
  });

  test('without lists the catalogues may be read, with lists not', async () => {
    const sql = 'SELECT table_name FROM information_schema.tables';
    expect(await ask(sql)).toMatchObject({ kind: 'rows' });
    expect(await ask(sql, { allow: [], deny: ['salary'] })).toMatchObject({ kind: 'refused' });
    expect(await ask('SELECT most_common_vals FROM pg_stats', { allow: [], deny: ['patient.ssn'] })).toMatchObject({
      kind: 'refused',
    });
  });
});

describe('tables', () => {
  test.each<[string, AccessLists, boolean]>([
    ['SELECT amount FROM salary', { allow: [], deny: ['salary'] }, false],
    ['SELECT amount FROM public.salary', { allow: [], deny: ['SALARY'] }, false],
    ['SELECT amount FROM "salary"', { allow: [], deny: ['public.sal*'] }, false],
    ['SELECT 1 WHERE EXISTS (SELECT 1 FROM salary)', { allow: [], deny: ['salary'] }, false],
    [
      'WITH salary AS (SELECT cost AS amount FROM visit) SELECT amount FROM salary',
      { allow: [], deny: ['salary'] },
      true,
    ],
    ['SELECT cost FROM visit', { allow: [], deny: ['salary'] }, true],
    ['SELECT cost FROM visit', { allow: ['visit'], deny: [] }, true],
    ['SELECT label FROM hospital.ward', { allow: ['visit'], deny: [] }, false],
    ['SELECT label FROM hospital.ward', { allow: ['hospital.*'], deny: [] }, true],
    ['SELECT label FROM hospital.ward', { allow: ['ward'], deny: [] }, true],
    ['SELECT label FROM hospital.ward', { allow: ['*'], deny: ['hospital.*'] }, false],
    ['SELECT 1 FROM visit_2020', { allow: [], deny: ['visit'] }, false],
  ])('%s under %j: %s', async (sql, access, passes) => {
    expect((await ask(sql, access)).kind).toBe(passes ? 'rows' : 'refused');
  });
});

describe('columns', () => {
  const access = { allow: [], deny: ['patient.ssn', 'patient.added'] };
  test.each([
    'SELECT name FROM patient',
    'SELECT p.min, p.ctid FROM patient p',
    'SELECT p.name, count(*) FROM patient p GROUP BY p.name',
    'SELECT count(*) FROM patient AS p JOIN visit v ON v.patient_id = p.id',
    'SELECT p.id * 2 * v.cost FROM patient p JOIN visit v ON v.patient_id = p.id WHERE p.name = $$ssn * $$',
    "SELECT name FROM public.patient WHERE name LIKE '%ssn%' -- not the ssn",
    'SELECT * FROM visit',
    'SELECT v.*, p.name FROM patient p JOIN visit v ON v.patient_id = p.id',
    'SELECT visit.*, p.name FROM public.visit, patient AS p WHERE EXISTS (SELECT 1 FROM visit)',
    'WITH a AS (SELECT id, name FROM patient) SELECT b.* FROM patient p, a AS b',
    'WITH a AS (SELECT id, name FROM patient) SELECT a.id FROM a',
    'SELECT lower(p.name) IN ($$a$$), (p.id) IN (SELECT id FROM visit), sum(p.id) OVER (PARTITION BY p.name), count(*) FILTER (WHERE p.id > 1) OVER () FROM patient p GROUP BY p.name, p.id',
    '(SELECT id FROM patient) UNION (SELECT id FROM visit)',
    'SELECT ARRAY[p.id], (ARRAY[1, 2])[p.ward_id] FROM patient p',
    'SELECT * FROM (SELECT count(*) AS examined FROM patient) AS checked LIMIT 1',
    'SELECT * FROM (WITH RECURSIVE a(n) AS (SELECT id FROM patient) SELECT * FROM a) AS checked LIMIT 1',
    'WITH op_a AS (SELECT id, name FROM patient), a AS (SELECT * FROM "op_a") SELECT a.name FROM a',
    "SELECT '\\', E'it\\'s', $a1$ ssn $a1$, /* ssn /* ssn */ ssn */ name FROM patient -- ssn",
    "SELECT trim(FROM p.name), extract(day FROM now()), p.name IS DISTINCT FROM 'x', count(*) AS count FROM patient p GROUP BY p.name",
    'SELECT DISTINCT ON (p.name) p.id FROM patient p JOIN (SELECT id FROM visit) v ON v.id = p.id',
    'SELECT sum(p.id) OVER (w ROWS UNBOUNDED PRECEDING), count(*) OVER (RANGE CURRENT ROW), max(p.id) OVER w AS m FROM patient p WINDOW w AS (ORDER BY p.name)',
    'SELECT u.x, v.n, q.b, g.d FROM patient p CROSS JOIN LATERAL unnest(ARRAY[p.id]) AS u(x) JOIN (VALUES (1)) v(n) ON true JOIN (SELECT id FROM visit) AS q(b) ON true, pg_catalog.generate_series(1, 2) g(d)',
    'SELECT q.json_agg, q.count FROM (SELECT json_agg(name), count(*) FROM patient) q',
    'WITH a AS (SELECT id FROM patient) SELECT DISTINCT * FROM a JOIN (SELECT id FROM patient) b ON a.id = b.id',
  ])('allowed: %s', async (sql) => {
    expect(await ask(sql, access)).toMatchObject({ kind: 'rows' });
  });

  test.each([
    'SELECT ssn FROM patient',
    'SELECT "SSN" FROM patient',
    'SELECT p."SSN" FROM patient p',
    'SELECT name FROM patient ORDER BY ssn',
    'SELECT count(*) FROM patient WHERE ssn LIKE $$1%$$',
    'SELECT * FROM patient',
    'SELECT DISTINCT ON (id) * FROM patient',
    'SELECT p.* FROM patient p',
    'SELECT (p).* FROM patient p',
    'SELECT v.id, * FROM visit v JOIN patient p ON true',
    'SELECT s.x FROM (SELECT *, 1 AS x FROM patient) s',
    'SELECT p FROM patient p',
    'SELECT p::text FROM patient p',
    'SELECT patient FROM patient',
    'SELECT row_to_json(p) FROM patient AS p',
    'SELECT to_jsonb(patient) FROM public.patient',
    'SELECT v.id, p FROM visit v JOIN patient p ON true',
    'SELECT c FROM patient AS p(a, b, c, d)',
    'SELECT c FROM patient p(a, b, c, d)',
    'SELECT c FROM patient AS patient(a, b, c, d)',
    'SELECT c FROM (patient p JOIN visit v ON v.id = p.id) AS j(a, b, c, d, e, f, g)',
    'SELECT c FROM (patient p JOIN visit v ON v.id = p.id) over(a, b, c, d, e, f, g)',
    'SELECT c FROM (patient p JOIN visit v ON v.id = p.id) filter(a, b, c, d, e, f, g)',
    'SELECT * FROM (SELECT * FROM patient) p',
    'WITH a AS (SELECT * FROM patient) SELECT * FROM a',
    'WITH a AS (SELECT id FROM patient) SELECT * FROM a JOIN patient ON a.id = patient.id',
    'WITH a AS (SELECT id FROM patient) SELECT * FROM a, hospital.ward w, public.patient',
    'WITH a AS (SELECT id FROM patient) SELECT * FROM (a JOIN patient ON true)',
    'WITH a AS (SELECT id FROM patient) SELECT *, a.id IS DISTINCT FROM 1 FROM patient, a',
    'WITH a AS (SELECT * FROM visit) SELECT a.id FROM a UNION SELECT * FROM patient',
    'TABLE patient',
    'SELECT U&"\\0053SN" FROM patient',
    'SELECT (ARRAY[p.id])[length(ssn)] FROM patient p',
    'SELECT c FROM ONLY (patient) AS x(a, b, c, d)',
    'SELECT c FROM ONLY (patient) x(a, b, c, d)',
    'SELECT c FROM visit v LEFT JOIN (patient p CROSS JOIN visit w) AS x(a, b, c, d) ON true',
    'SELECT c FROM ((patient p CROSS JOIN visit w)) AS x(a, b, c, d)',
    'SELECT c FROM visit v, (patient p CROSS JOIN visit w) x(a, b, c, d)',
    'SELECT c FROM ROWS FROM (generate_series(1, 2)) AS x(c), patient',
    'SELECT p.tags[length(ssn)] FROM patient p',
    "SELECT $a1$ ' $a1$, ssn, $a1$ ' $a1$ FROM patient",
    "SELECT $é$ ' $é$, ssn, $é$ ' $é$ FROM patient",
    "SELECT /* /* */ ' */ ssn /* ' */ FROM patient",
    "SELECT '\\', ssn, '\\' FROM patient",
    "SELECT E'a'\n'\\' ', ssn, '...' FROM patient",
    "SELECT 1 --\r, ssn --'\n FROM patient",
    'SELECT p.name FROM patient p NATURAL JOIN visit',
    'SELECT x FROM patient * x',
    'SELECT x FROM ONLY patient x',
    "SELECT trim(BOTH 'x' FROM p::text) FROM patient p",
    'SELECT 1 IS NOT DISTINCT FROM p FROM patient p',
    'SELECT DISTINCT ON (id) p FROM patient p',
    "SELECT 'a' OPERATOR(pg_catalog.||) p::text FROM patient p",
    'SELECT p.to_json FROM patient p',
    'SELECT public.patient.concat FROM public.patient',
    'SELECT p.own FROM patient p',
    'SELECT p.any_value FROM patient p',
    'SELECT j.row_to_json FROM (visit JOIN patient USING (id)) j',
    'SELECT p.own FROM patient p TABLESAMPLE SYSTEM (50)',
    'SELECT public.patient.own FROM patient',
    'SELECT j.own FROM (patient p CROSS JOIN visit v) AS j',
    'SELECT (SELECT p.own) FROM patient p',
    'SELECT o.x FROM patient p, LATERAL (SELECT p.own AS x) o',
    'SELECT v.id FROM visit v WHERE EXISTS (SELECT 1 FROM patient p WHERE p.own = v.patient_id::text)',
    'SELECT (SELECT count(p.id) FROM visit v JOIN visit w ON p.own = w.id, (SELECT 1 AS id) p) FROM patient p',
    'SELECT (SELECT p.own FROM (visit p CROSS JOIN visit w) AS j LIMIT 1) FROM patient p',
    'WITH p AS (SELECT 1 AS own) SELECT p.own FROM patient p',
    'SELECT (SELECT max(x) FROM (VALUES (NULL), (p.own)) v(x)) FROM patient p',
    'SELECT (SELECT max(x::text) FROM (VALUES (NULL), (p)) v(x)) FROM patient p',
    'SELECT v.*, p.* FROM patient p JOIN visit v ON v.patient_id = p.id',
    'SELECT v.* FROM (patient p CROSS JOIN visit w) AS v',
    'SELECT v.* FROM patient v WHERE EXISTS (SELECT 1 FROM visit v)',
    'SELECT v.* FROM (visit w JOIN patient p USING (id) AS v)',
    'SELECT v.* FROM ONLY (patient) v, LATERAL (SELECT 1 FROM visit v) w',
    'SELECT patient.* FROM visit patient, patient p',
    'SELECT w.* FROM patient p',
    "SELECT id FROM patient WHERE added = 'x'",
    'WITH a AS (TABLE public.patient) SELECT a.id FROM a',
    'WITH a AS (TABLE ONLY (public.patient)) SELECT a.id FROM a',
  ])('refused: %s', async (sql) => {
    expect(await ask(sql, access)).toMatchObject({ kind: 'refused' });
  });

  test('a denied column that was added after the description was made is not shown by *', async () => {
    const engine = echo('postgresql');
    const column = { name: 'Added', kind: 'text' } as const;
    engine.run = (statements) =>
      Promise.resolve({
        takenAt: 'then',
        results: statements.map(() => ({
          kind: 'rows',
          columns: [column],
          rows: [['x']],
          truncated: false,
          elapsedMs: 0,
        })),
      });
    const all = async (deny: string, sql: string): Promise<readonly SqlResult[]> =>
      (await createGuardedEngine(engine, postgres, { allow: [], deny: [deny] }).run([sql], options)).results;
    for (const deny of ['visit.added', '*.added', 'public.*.add*'])
      expect(await all(deny, 'SELECT * FROM visit')).toEqual([
        { kind: 'refused', message: 'the column Added may not be read here: leave it out' },
      ]);
    expect(await all('visit.add*', 'SELECT 1 AS added FROM visit')).toMatchObject([{ kind: 'rows' }]);
    expect(await all('ward.added', 'SELECT * FROM visit')).toMatchObject([{ kind: 'rows' }]);
    expect(await all('visit.*', 'SELECT count(*) FROM visit')).toMatchObject([{ kind: 'rows' }]);
  });

  test.each([
    ['visit.m*', 'SELECT max(cost) FROM visit'],
    ['visit.*name*', 'SELECT p.name AS full_name FROM patient p JOIN visit v ON v.patient_id = p.id'],
    ['visit.*name*', 'SELECT * FROM patient p JOIN visit v ON v.patient_id = p.id'],
  ])('%s denies no word that is no column: %s', async (deny, sql) => {
    expect(await ask(sql, { allow: [], deny: [deny] })).toMatchObject({ kind: 'rows' });
  });

  test('a denied column that was added since is found in a description made anew, which is made where the database changed', async () => {
    const engine = echo('postgresql');
    let columns = ['id', 'cost'];
    let described = 0;
    engine.describe = () => Promise.resolve({ ...DESCRIPTION, tables: [table('visit', columns)], version: String((described += 1)) }); // prettier-ignore
    engine.revision = () => Promise.resolve(String(columns));
    const guarded = createGuardedEngine(engine, postgres, { allow: [], deny: ['visit.m*'] });
    const run = async (): Promise<SqlResult | undefined> =>
      (await guarded.run(['SELECT id, mood FROM visit'], options)).results[0];
    expect([(await run())?.kind, (await run())?.kind]).toEqual(['rows', 'rows']);
    expect(described).toBe(2);
    columns = ['id', 'cost', 'mood'];
    expect(await run()).toMatchObject({ kind: 'refused', message: expect.stringContaining('visit.mood') as string });
  });

  test.each([
    ['visit.m*', 'SELECT * FROM visit AS x(a, b, c)'],
    ['*.mood', 'WITH x(a, b, c) AS (SELECT * FROM visit) SELECT c FROM x'],
    ['visit.mood', 'SELECT 1 AS a, 2 AS b, 3 AS c UNION ALL SELECT * FROM visit'],
    ['public.visit.mood', 'SELECT v::text AS a FROM visit v'],
  ])('%s: a column that was added since has no other name in %s', async (deny, sql) => {
    const engine = echo('postgresql');
    let columns = ['id', 'cost'];
    engine.describe = () => Promise.resolve({ ...DESCRIPTION, tables: [table('visit', columns)] });
    engine.revision = () => Promise.resolve(String(columns));
    const guarded = createGuardedEngine(engine, postgres, { allow: [], deny: [deny] });
    expect((await guarded.run([sql], options)).results).toMatchObject([{ kind: 'rows' }]);
    columns = ['id', 'cost', 'mood'];
    expect((await guarded.run([sql], options)).results).toMatchObject([{ kind: 'refused' }]);
  });

  test('a column that was added since is not read where only some are allowed', async () => {
    const engine = echo('postgresql');
    let columns = ['id', 'cost'];
    engine.describe = () => Promise.resolve({ ...DESCRIPTION, tables: [table('visit', columns)] });
    engine.revision = () => Promise.resolve(String(columns));
    const guarded = createGuardedEngine(engine, postgres, { allow: ['visit.id', 'visit.cost'], deny: [] });
    const statements = ['SELECT mood FROM visit', 'SELECT * FROM visit'];
    expect((await guarded.run(statements, options)).results).toMatchObject([{ kind: 'rows' }, { kind: 'rows' }]);
    columns = ['id', 'cost', 'mood'];
    expect((await guarded.run(statements, options)).results).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }]);
  });

  test.each<[SqlEngine['dialect'], string]>([
    ['sqlite', "SELECT v.* FROM (patient) 'v', (SELECT 1 FROM visit v)"],
    ['mysql', 'SELECT v.* FROM patient PARTITION (p0) AS v, (SELECT 1 AS one FROM visit v) w'],
    ['mysql', 'SELECT s.* FROM patient ſ, (SELECT 1 AS one FROM visit s) w'],
  ])('in %s the row of another table is not taken for that of the hidden one: %s', async (dialect, sql) => {
    const engine = echo(dialect);
    const inspector = dialect === 'sqlite' ? createSqliteInspector() : createMysqlInspector();
    await createGuardedEngine(engine, inspector, access).run([sql], options);
    expect(engine.asked).toEqual([]);
  });

  test.each([
    'SELECT \ufeffssn FROM patient',
    "SELECT '\\', ssn, '\\' FROM patient",
    "SELECT /* /* */ ssn /* ' */ FROM patient",
    'SELECT `ssn`, 1 FROM patient',
    'SELECT [ssn] FROM patient',
    "SELECT patient.'ssn' FROM patient",
  ])('in SQLite, refused: %s', async (sql) => {
    const engine = echo('sqlite');
    await createGuardedEngine(engine, createSqliteInspector(), access).run([sql], options);
    expect(engine.asked).toEqual([]);
  });

  test.each<[string, boolean]>([
    ['SELECT $1 FROM patient', false],
    ['SELECT p.$3 FROM patient p', false],
    ["SELECT 'it\\'s', ssn, 'it\\'s' FROM patient", false],
    ["SELECT 'it\\', ssn, \\'s' FROM patient", true],
    ['SELECT $$ssn$$, p.id FROM patient p, (VALUES (1)) v', true],
    ['SELECT ſsn FROM patient', false],
  ])('in Snowflake: %s', async (sql, passes) => {
    const engine = echo('snowflake');
    await createGuardedEngine(engine, createSnowflakeInspector(), access).run([sql], options);
    expect(engine.asked).toHaveLength(passes ? 1 : 0);
  });

  test.each(['rowid', 'p.oid', '"_ROWID_"'])('a hidden key is not read by its other name %s', async (name) => {
    const lists = { allow: [], deny: ['patient.id'] };
    const sqlite = echo('sqlite');
    await createGuardedEngine(sqlite, createSqliteInspector(), lists).run([`SELECT ${name} FROM patient p`], options);
    expect(sqlite.asked).toEqual([]);
    const mysql = echo('mysql');
    const guarded = createGuardedEngine(mysql, createMysqlInspector(), { allow: [], deny: ['patient.ssn'] });
    const { results } = await guarded.run(['SELECT p._rowid FROM patient p'], options);
    expect(results).toMatchObject([{ kind: 'refused', message: expect.stringContaining('_rowid') as string }]);
    await createGuardedEngine(sqlite, createSqliteInspector(), access).run(['SELECT rowid FROM patient'], options);
    expect(sqlite.asked).toHaveLength(1);
  });

  test('IN reads a virtual table that is written like a function', async () => {
    const engine = echo('sqlite');
    const guarded = createGuardedEngine(engine, createSqliteInspector(), { allow: [], deny: ['salary'] });
    const statements = ["SELECT NULL IN salary('5*')", "SELECT 1 IN main.salary('5*')", 'SELECT 1 IN json_each(1)'];
    const { results } = await guarded.run(statements, options);
    expect(results.map(({ kind }) => kind)).toEqual(['refused', 'refused', 'rows']);
  });

  test('of tables whose names differ in case alone, each hides its columns', async () => {
    const tables = [table('Note', ['id']), table('note', ['id', 'secret'])];
    const engine = { ...echo('mysql'), describe: () => Promise.resolve({ ...DESCRIPTION, tables }) };
    const guarded = createGuardedEngine(engine, createMysqlInspector(), { allow: [], deny: ['note.secret'] });
    expect((await guarded.run(['SELECT secret FROM note'], options)).results).toMatchObject([{ kind: 'refused' }]);
  });

  test("in Snowflake names without a schema are those of the address's schema", async () => {
    const address = 'snowflake://reader:secret@account/shop/sales';
    const path = snowflake.searchPath?.({ address, snowflake: { login: null } } as unknown as Opening);
    const run = async (sql: string, deny: string): Promise<SqlResult | undefined> => {
      const guarded = createGuardedEngine(
        echo('snowflake'),
        createSnowflakeInspector(),
        { allow: [], deny: [deny] },
        path,
      );
      return (await guarded.run([sql], options)).results[0];
    };
    expect(await run('SELECT id FROM sales.visit', 'salary')).toMatchObject({ kind: 'rows' });
    expect(await run('SELECT id FROM public.visit', 'salary')).toMatchObject({ kind: 'refused' });
    expect(await run('SELECT id FROM visit', 'sales.visit')).toMatchObject({ kind: 'refused' });
  });

  test('a relation that SQLite lets be called like the beginning of a query hides nothing', async () => {
    const named = ['with', 'recursive', 'offset'].flatMap((name) => [
      `WITH ${name} AS (SELECT 1 AS x) SELECT * FROM (${name} JOIN patient)`,
      `WITH ${name} AS (SELECT 1 AS x) SELECT * FROM (${name} recursive CROSS JOIN patient)`,
      `WITH ${name} AS (SELECT 1 AS x) SELECT * FROM ${name}, patient`,
    ]);
    const engine = echo('sqlite');
    const { results } = await createGuardedEngine(engine, createSqliteInspector(), access).run(named, options);
    expect(results.filter(({ kind }) => kind === 'rows')).toEqual([]);
  });

  test('the message says what to write instead', async () => {
    expect(await ask('SELECT * FROM patient', access)).toEqual({
      kind: 'refused',
      message: '* would read hidden columns of patient: name the columns',
    });
    expect(await ask('SELECT ssn FROM patient', access)).toEqual({
      kind: 'refused',
      message: 'the column patient.SSN may not be read here: leave it out',
    });
  });

  test('a wildcard hides a column wherever it is, and allowing columns hides the rest', async () => {
    expect(await ask('SELECT cost FROM visit', { allow: [], deny: ['*.cost'] })).toMatchObject({ kind: 'refused' });
    expect(await ask('SELECT name FROM patient', { allow: ['patient.name', 'visit'], deny: [] })).toMatchObject({
      kind: 'rows',
    });
    expect(await ask('SELECT id FROM patient', { allow: ['patient.name', 'visit'], deny: [] })).toMatchObject({
      kind: 'refused',
    });
    expect(await ask('SELECT label FROM hospital.ward', { allow: ['hospital.ward.label'], deny: [] })).toMatchObject({
      kind: 'rows',
    });
    expect(await ask('SELECT id FROM hospital.ward', { allow: ['hospital.ward.label'], deny: [] })).toMatchObject({
      kind: 'refused',
    });
  });
});

test('the description leaves out what is hidden, keys that name it included, and its fingerprint follows', async () => {
  const describe = (access: AccessLists): Promise<DatabaseDescription> =>
    createGuardedEngine(echo('postgresql'), postgres, access).describe(options);
  const part = await describe({ allow: [], deny: ['salary', 'patient.ssn', 'hospital.ward.id'] });
  expect(part.tables.map(({ name }) => name)).toEqual(['patient', 'visit', 'hospital.ward']);
  expect(part.tables[0]).toMatchObject({
    columns: [{ name: 'id' }, { name: 'name' }, { name: 'ward_id' }, { name: 'min' }],
    uniqueKeys: [['name']],
    foreignKeys: [],
  });
  expect(part.tables[1]?.foreignKeys).toHaveLength(1);
  expect(part.tables[2]?.primaryKey).toEqual([]);
  expect(part.fingerprint).not.toBe((await describe({ allow: [], deny: ['salary'] })).fingerprint);
  expect(await describe({ allow: [], deny: [] })).toBe(DESCRIPTION);
});
