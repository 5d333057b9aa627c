/** What every engine tells of its schema, what its guard lets through, and the SQL that GATE itself writes, really run. */
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { withoutDoubt } from '../../src/database/profile/row-doubts';
import { firstRows, readTables, rowsQueries, rowsWith } from '../../src/database/profile/table-rows';
import { DatabaseDescription, type TableDescription } from '../../src/domain';
import { clockOperator } from '../../src/sql/clock';
import { compilePlan, type PlanOperator } from '../../src/sql/compile';
import { quoted, quoteIdentifier } from '../../src/sql/dialects';
import { predicateStatements, readAgreement, readPredicate } from '../../src/sql/proof';
import { options, rowsOf, runOne } from '../helpers/engine';
import { clubTables } from './engines/fixture';
import { everyEngine } from './engines/suite';

everyEngine('schema', clubTables, (claim, the) => {
  const { dialect } = the.subject;
  const describe = async (): Promise<DatabaseDescription> =>
    DatabaseDescription.parse(await the.engine().describe(options()));
  const tableOf = async (name: string): Promise<TableDescription> => {
    const { tables } = await describe();
    const found = tables.find((table) => table.name === name);
    if (found === undefined) throw new Error(`no table ${name} among ${tables.map((table) => table.name).join(', ')}`);
    return found;
  };

  claim('the description has tables, views, columns, keys and samples', async () => {
    const { stored } = the;
    expect((await describe()).version).toMatch(/^[A-Z]\w+ \d+/);
    const player = await tableOf(stored('player'));
    expect(player).toMatchObject({
      ...{ kind: 'table', rowEstimate: 3, primaryKey: [stored('id')] },
      uniqueKeys: [[stored('team_id'), stored('name')]],
      foreignKeys: [{ columns: [stored('team_id')], table: stored('team'), references: [stored('id')] }],
    });
    expect(player.columns.map(({ name, type, nullable, samples }) => [name, type, nullable, samples])).toEqual([
      [stored('id'), the.type('integer'), false, ['1', '2', '3']],
      [stored('team_id'), the.type('integer'), true, ['1', '2']],
      [stored('name'), the.type('text'), true, ['Ann', 'Bob', 'Cai']],
      [stored('joined'), the.type('date'), true, ['2020-01-31', '2021-02-28']],
      [stored('weight'), the.type('double'), true, ['61.5', '80.25']],
    ]);
    expect(await tableOf(stored('roman'))).toMatchObject({
      kind: 'view',
      columns: [{ name: stored('name'), samples: ['Ann', 'Bob'] }],
    });
  });

  claim('the fingerprint follows the structure and not the data', async () => {
    const fingerprint = async (): Promise<string> => (await describe()).fingerprint;
    const before = await fingerprint();
    await the.write("INSERT INTO team VALUES (4, 'JKL', 'Oslo')");
    expect(await fingerprint()).toBe(before);
    await the.write('DELETE FROM team WHERE id = 4', `CREATE TABLE later (n ${the.types.integer})`);
    expect(await fingerprint()).not.toBe(before);
    await the.write('DROP TABLE later');
    expect(await fingerprint()).toBe(before);
  });

  claim('comments of tables and columns are told, as far as the engine keeps any', async () => {
    await the.write(`CREATE TABLE told (a ${the.types.integer})`);
    if (the.comment !== null) await the.write(...the.comment('told', 'a', 'as told')); // prettier-ignore
    const comment = the.comment === null ? null : 'as told';
    expect(await tableOf(the.stored('told'))).toMatchObject({ comment, columns: [{ comment }] });
  });

  claim('a key of several columns keeps their order, and a broken view costs the other tables nothing', async () => {
    const { integer } = the.types;
    await the.write(
      `CREATE TABLE pair (z ${integer} NOT NULL, a ${integer} NOT NULL, n ${integer}, PRIMARY KEY (z, a))`,
      `CREATE TABLE part (p ${integer}, q ${integer}, FOREIGN KEY (p, q) REFERENCES pair (z, a))`,
      `CREATE TABLE gone (n ${integer})`,
      'CREATE VIEW hollow AS SELECT n FROM gone',
      'INSERT INTO pair VALUES (1, 2, 3)',
    );
    const { stored } = the;
    await the.write(dialect === 'postgresql' ? 'CREATE OR REPLACE VIEW hollow AS SELECT 1 / (n - n) AS n FROM gone; INSERT INTO gone VALUES (1)' : 'DROP TABLE gone'); // prettier-ignore
    expect((await tableOf(stored('pair'))).primaryKey).toEqual([stored('z'), stored('a')]);
    expect((await tableOf(stored('part'))).foreignKeys).toEqual([
      { columns: [stored('p'), stored('q')], table: stored('pair'), references: [stored('z'), stored('a')] },
    ]);
    expect((await tableOf(stored('pair'))).columns[2]).toMatchObject({ samples: ['3'] });
    await the.write('DROP VIEW hollow');
  });

  claim('odd names are told as they are stored, and quoted where the engine needs it', async () => {
    const table = 'Odd "t"';
    const columns = ['order', 'Mixed Case', 'a"b', 'été', '1st', 'plain'];
    const q = (name: string): string => quoted(name, dialect);
    await the.write(
      `CREATE TABLE ${q(table)} (${columns.map((name) => `${q(name)} ${the.types.integer}`).join(', ')})`,
      `INSERT INTO ${q(table)} VALUES (1, 2, 3, 4, 5, 6)`,
    );
    const described = await tableOf(table);
    expect(described.columns.map(({ name }) => name)).toEqual(columns);
    expect(described.columns.map(({ samples }) => samples)).toEqual([['1'], ['2'], ['3'], ['4'], ['5'], ['6']]);
    const written = columns.map((name) => quoteIdentifier(name, dialect)).slice(0, 5);
    const sql = `SELECT ${written.join(', ')} FROM ${quoteIdentifier(table, dialect)}`;
    const guarded = createGuardedEngine(the.engine(), the.inspector());
    expect(await runOne(guarded, sql)).toMatchObject({
      rows: [[1, 2, 3, 4, 5]],
      columns: columns.slice(0, 5).map((name) => ({ name })),
    });
    for (const query of [...rowsQueries(described, dialect), firstRows(described, dialect, 3)])
      expect(rowsOf(await runOne(guarded, query))).toEqual([[1, 2, 3, 4, 5, 6]]);
    await the.write(`DROP TABLE ${q(table)}`);
  });

  claim('a hidden column can be neither read nor profiled, the rest can', async () => {
    const access = { allow: [], deny: ['player.weight', 'team'] };
    const guarded = createGuardedEngine(the.engine(), the.inspector(), access);
    const { tables } = await guarded.describe(options());
    const player = tables.find((table) => table.name === the.stored('player'))!;
    expect(tables.map(({ name }) => name)).not.toContain(the.stored('team'));
    expect(player.columns.map(({ name }) => name)).toEqual(['id', 'team_id', 'name', 'joined'].map(the.stored));
    const written = rowsQueries(player, dialect);
    const refused = [
      'SELECT weight FROM player',
      'SELECT * FROM player',
      'SELECT p.* FROM player p',
      'SELECT 1 FROM team',
      'SELECT name FROM player WHERE weight > 1',
      'SELECT name FROM player ORDER BY weight',
      'SELECT count(*) FROM player WHERE team_id IN (SELECT id FROM team)',
      'WITH x AS (SELECT weight AS w FROM player) SELECT w FROM x',
    ];
    const { results } = await guarded.run([...written, ...refused, 'SELECT name FROM player'], options());
    expect(results.map(({ kind }) => kind)).toEqual([
      ...written.map(() => 'rows'),
      ...refused.map(() => 'refused'),
      'rows',
    ]);
  });

  claim("an error of the statement is the engine's own, and is one line", async () => {
    const guarded = createGuardedEngine(the.engine(), the.inspector());
    expect(await runOne(guarded, 'SELECT nope FROM team')).toMatchObject({
      kind: 'sql-error',
      message: expect.stringMatching(/nope/i) as string,
    });
    expect(await runOne(guarded, 'SELECT FROM WHERE')).toMatchObject({ kind: 'sql-error' });
  });

  claim('what the compiler writes runs: operators, their bindings, recursion, the clock', async () => {
    const guarded = createGuardedEngine(the.engine(), the.inspector());
    const operator = (name: string, sql: string, bindings: Record<string, string> = {}): PlanOperator => {
      const inspection = the.inspector().inspect(sql);
      if (inspection.kind !== 'select') throw new Error(inspection.message);
      const reads = inspection.relations.filter((relation) => /^op_|^gate_clock$/i.test(relation));
      return { name, body: { sql, reads, relations: [...inspection.relations], hasWith: inspection.hasWith }, bindings };
    };
    const rows = async (...operators: PlanOperator[]): Promise<unknown[][]> =>
      rowsOf(await runOne(guarded, compilePlan(operators, dialect)));
    const a = operator('op_a', "SELECT 'a' AS v");
    const b = operator('op_b', "SELECT 'b' AS v");
    expect(await rows(a, operator('op_c', 'WITH t AS (SELECT v FROM op_a) SELECT v FROM t ORDER BY v'))).toEqual([['a']]);
    const ordered = operator('op_o', "WITH t AS (SELECT code AS v FROM team, op_a) SELECT v FROM t ORDER BY v DESC");
    expect(await rows(a, ordered)).toEqual([['GHI'], ['DEF'], ['ABC']]);
    const swapped = { op_a: 'op_b', op_b: 'op_a' };
    expect(await rows(a, b, operator('op_c', 'SELECT x.v AS a, y.v AS b FROM op_a x, op_b y', swapped))).toEqual([['b', 'a']]);
    // A name of a body means the same wherever the body is read.
    const over = operator('op_v', 'SELECT v FROM op_a');
    expect(await rows(a, b, over, operator('op_w', 'SELECT x.v AS a, y.v AS b FROM op_a x, op_v y', { op_a: 'op_b' }))).toEqual([['b', 'a']]);
    expect(await rows(operator('op_r', 'SELECT 1 AS n UNION ALL SELECT n + 1 FROM op_r WHERE n < 3'))).toEqual([[1], [2], [3]]);
    const clock = clockOperator('2026-11-22 09:30:00', dialect);
    const [[now, today] = []] = await rows(clock, operator('op_n', 'SELECT now, today FROM gate_clock'));
    expect(String(now)).toMatch(/^2026-11-22[ T]09:30:00$/);
    expect(today).toBe('2026-11-22');
    const later = operator('op_n', 'SELECT count(*) AS n FROM player, gate_clock WHERE joined < today');
    expect(await rows(clock, later)).toEqual([[2]]);
  }); // prettier-ignore

  claim('what the proof writes runs: predicates over a probe are true, false, or not established', async () => {
    const guarded = createGuardedEngine(the.engine(), the.inspector());
    const predicates = [
      'count(*) = 3',
      'SELECT count(*) > 3 FROM observation',
      "(SELECT count(*) FROM observation WHERE name = 'Ann') = 1 AND (SELECT min(weight) FROM observation) > 60",
      'sum(weight) > 1000 OR max(team_id) = 2',
      'max(joined) IS NULL',
      'weight > 70',
      'min(CASE WHEN weight > 9999 THEN 1 END) = 1',
      'EXISTS (SELECT 1 FROM observation WHERE weight IS NULL)',
      'WITH w AS (SELECT count(*) AS n FROM observation) SELECT n = 3 FROM w',
      "(WITH w AS (SELECT name FROM observation) SELECT count(*) FROM w) > (SELECT count(*) FROM (WITH w AS (SELECT name FROM observation WHERE name <> 'Ann') SELECT * FROM w) AS v)",
    ];
    const hypotheses = [{ id: 'h1', says: 'x', predicates, agreement: null }];
    const written = predicateStatements('SELECT name, team_id, joined, weight FROM player', { hypotheses } as never, dialect);
    const { results } = await guarded.run(written, options());
    const outcomes = results.map((result) => readPredicate(result, dialect).outcome);
    expect(predicates.map((predicate, at) => [predicate, outcomes[at]])).toEqual([
      [predicates[0], 'true'],
      [predicates[1], 'false'],
      [predicates[2], 'true'],
      [predicates[3], 'true'],
      [predicates[4], 'false'],
      [predicates[5], 'not-established'],
      [predicates[6], 'not-established'],
      [predicates[7], 'true'],
      [predicates[8], 'true'],
      [predicates[9], 'true'],
    ]);
  }); // prettier-ignore

  claim('a probe may read a table called observation', async () => {
    const guarded = createGuardedEngine(the.engine(), the.inspector());
    const { integer } = the.types;
    await the.write(`CREATE TABLE observation (n ${integer})`, 'INSERT INTO observation VALUES (1), (2), (3)');
    const predicates = ['count(*) = 2', 'WITH w AS (SELECT max(n) AS most FROM observation) SELECT most = 2 FROM w', 'min(n) = 2'];
    const hypotheses = [{ id: 'h1', says: 'x', predicates, agreement: { matching: 'max(n)', examined: '(WITH w AS (SELECT n FROM observation) SELECT count(*) FROM w)' } }];
    const written = predicateStatements('WITH t AS (SELECT n FROM observation WHERE n < 3) SELECT n FROM t', { hypotheses } as never, dialect);
    const { results } = await guarded.run(written, options());
    expect(results.slice(0, 3).map((result) => readPredicate(result, dialect).outcome)).toEqual(['true', 'true', 'false']);
    expect(readAgreement(results[3])).toEqual({ matching: 2, examined: 2 });
  }); // prettier-ignore

  claim('what the profile writes runs: the rows of a table, rows by their values, a sample of a large table', async () => {
    const guarded = createGuardedEngine(the.engine(), the.inspector());
    const team = await tableOf(the.stored('team'));
    const read = (sql: string, maxRows: number) => runOne(guarded, sql, { maxRows });
    expect(await readTables({ dialect }, [team], read, () => false)).toMatchObject([
      { read: 3, whole: true, columns: [{ kind: 'number' }, { kind: 'text' }, { kind: 'text', values: ['Rome', null, 'Bern'] }] },
    ]);
    const rome = rowsWith(team, { column: the.stored('city'), values: ['Rome', "O'Hara"] }, dialect, 5);
    expect(rowsOf(await runOne(guarded, rome))).toEqual([[1, 'ABC', 'Rome']]);
    const { integer } = the.types;
    await the.write(
      `CREATE TABLE large (n ${integer}, m ${integer})`,
      `INSERT INTO large SELECT i, i % 7 FROM (${the.series(200_000)}) AS s`,
    );
    const large = { ...(await tableOf(the.stored('large'))), rowEstimate: 200_000 };
    const [sampled] = await readTables({ dialect }, [large], read, () => false, 10_000);
    // A sample is of rows from all over the table, where the engine can give one.
    expect(sampled?.whole).toBe(false);
    expect(sampled?.read).toBeGreaterThan(500);
    const [again] = await readTables({ dialect }, [large], read, () => false, 10_000);
    expect(again?.columns).toEqual(sampled?.columns);
  }); // prettier-ignore

  claim('what a doubt about rows writes runs: without the repeats, and with a placeholder as NULL', async () => {
    const guarded = createGuardedEngine(the.engine(), the.inspector());
    const { integer, text } = the.types;
    await the.write(
      `CREATE TABLE sale (id ${integer}, what ${text}, price ${integer})`,
      `INSERT INTO sale VALUES (1, 'a', 10), (2, 'a', 10), (3, 'b', -999), (4, 'c', 5)`,
    );
    const sale = await tableOf(the.stored('sale'));
    const [, what, price] = sale.columns.map(({ name }) => name);
    const total = 'SELECT sum(price) AS total FROM sale';
    const doubts = [
      { kind: 'repeated' as const, table: sale.name, columns: [what!, price!], rows: 1 },
      { kind: 'placeholder' as const, table: sale.name, column: price!, value: -999, rows: 1 },
    ];
    const written = doubts.map((doubt) => withoutDoubt(total, doubt, sale, dialect));
    // Where no CTE can take a table's place there is no rival, and `hidden` says so.
    if (written[0] === null) expect(written).toEqual([null, null]);
    else expect((await guarded.run(written.map(String), options())).results.map(rowsOf)).toEqual([[[-984]], [[25]]]);
    expect(await runOne(guarded, total)).toMatchObject({ rows: [[-974]] });
  });
});
