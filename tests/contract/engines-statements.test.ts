/** What every engine does with statements: rows, errors, limits, ends from outside, one snapshot, no write. */
import { eventually, options, rowsOf, runOne } from '../helpers/engine';
import { startTcpProxy } from '../helpers/tcp-proxy';
import { clubTables } from './engines/fixture';
import { everyEngine } from './engines/suite';

everyEngine('statements', clubTables, (claim, the) => {
  const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

  claim('answers each statement in order with columns, kinds and rows', async () => {
    const began = Date.now();
    const { results, takenAt } = await the
      .engine()
      .run(['SELECT id, code FROM team ORDER BY id DESC', 'SELECT count(*) AS n FROM player'], options());
    expect(results).toMatchObject([
      { kind: 'rows', columns: [{ name: the.stored('id'), kind: 'number' }, { name: the.stored('code'), kind: 'text' }], rows: [[3, 'GHI'], [2, 'DEF'], [1, 'ABC']], truncated: false },
      { kind: 'rows', columns: [{ name: the.stored('n'), kind: 'number' }], rows: [[3]] },
    ]); // prettier-ignore
    expect(Date.parse(takenAt)).toBeGreaterThanOrEqual(began);
    expect(Date.parse(takenAt)).toBeLessThanOrEqual(Date.now());
  });

  claim('a statement that fails does not keep the later ones from running', async () => {
    const { results } = await the.engine().run(['SELECT nope FROM team', 'SELECT 1', 'SELEC 2', 'SELECT 3'], options());
    expect(results.map(({ kind }) => kind)).toEqual([
      'sql-error',
      'rows',
      expect.stringMatching(/sql-error|refused/) as string,
      'rows',
    ]);
    expect(results[0]).toMatchObject({ message: expect.stringMatching(/nope/i) as string });
  });

  claim('a run-time error is a value, and the rows before it are not a result', async () => {
    expect(await runOne(the.engine(), the.fails)).toMatchObject({ kind: 'sql-error' });
  });

  claim('more rows than the cap are cut and said to be cut; exactly the cap is not', async () => {
    const cut = await runOne(the.engine(), the.series(500), { maxRows: 120 });
    expect(cut).toMatchObject({ kind: 'rows', truncated: true });
    expect(rowsOf(cut)).toHaveLength(120);
    expect(await runOne(the.engine(), the.series(120), { maxRows: 120 })).toMatchObject({ truncated: false });
  });

  claim('10,000 rows arrive whole and in order', async () => {
    const result = await runOne(the.engine(), `${the.series(10_000)} ORDER BY i`);
    expect(result).toMatchObject({ truncated: false });
    expect(rowsOf(result).map(([i]) => i)).toEqual(upTo(10_000));
  });

  claim('300 columns arrive whole and in order', async () => {
    const result = await runOne(the.engine(), `SELECT ${upTo(300).map((n) => `${n} AS c${n}`).join(', ')} FROM team`); // prettier-ignore
    expect(rowsOf(result)).toEqual([upTo(300), upTo(300), upTo(300)]);
    expect(result).toMatchObject({ columns: upTo(300).map((n) => ({ name: the.stored(`c${n}`), kind: 'number' })) });
  });

  claim('a result of more than 64 MB is cut and said to be cut', async () => {
    const mega = 1_000_000;
    const result = await runOne(the.engine(), `SELECT ${the.long(mega)} AS x FROM (${the.series(300)}) AS s`);
    expect(result).toMatchObject({ kind: 'rows', truncated: true });
    const rows = rowsOf(result);
    expect(rows.every(([x]) => String(x).length === mega)).toBe(true);
    expect(rows.length).toBeGreaterThan(60);
    // At most the page that was being read.
    expect(rows.length).toBeLessThan(130);
  });

  claim('an endless result costs no more than its cap', async () => {
    expect(rowsOf(await runOne(the.engine(), the.series(3_000_000), { maxRows: 10 }))).toHaveLength(10);
  });

  claim('a runaway query ends after one retry as a timeout, and its neighbours keep their results', async () => {
    const { results } = await the.engine().run(['SELECT 5', the.endless, 'SELECT 7'], options({ timeoutMs: 2_000 }));
    expect(results).toMatchObject([{ rows: [[5]] }, { kind: 'timeout', afterMs: 2_000 }, { rows: [[7]] }]);
    expect(await runOne(the.engine(), 'SELECT 8')).toMatchObject({ rows: [[8]] });
  });

  claim('an abort ends the statement at once, and the engine goes on working', async () => {
    const controller = new AbortController();
    const started = Date.now();
    setTimeout(() => controller.abort(new Error('cancelled by the user')), 150);
    await expect(runOne(the.engine(), the.endless, { signal: controller.signal })).rejects.toThrow(
      'cancelled by the user',
    );
    // Far below its time limit.
    expect(Date.now() - started).toBeLessThan(120_000);
    expect(await runOne(the.engine(), 'SELECT 9')).toMatchObject({ rows: [[9]] });
  });

  claim('an aborted signal starts nothing', async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(runOne(the.engine(), 'SELECT 1', { signal })).rejects.toThrow('too late');
  });

  claim('a connection that is lost in the middle is no fault of the statement, and the next run works', async () => {
    const { cutOff } = the;
    if (cutOff === undefined) throw new Error('the subject says neither how to end its sessions nor why it cannot');
    const lost = expect(runOne(the.engine(), the.endless)).rejects.toMatchObject({
      ...{ name: 'SqlEngineError', code: expect.stringMatching(/^(connection|lost)$/) as string },
      ...{ message: expect.not.stringContaining('\n') as string },
    });
    // One that an earlier claim gave up may take a moment to end, and would be the one that is ended here.
    let isOver = false;
    void lost.finally(() => (isOver = true)).catch(() => undefined);
    await eventually(async () => {
      if (!isOver) await cutOff();
      return isOver;
    });
    await lost;
    expect(await runOne(the.engine(), 'SELECT 1')).toMatchObject({ rows: [[1]] });
  });

  claim('a connection that is dropped on its way costs a statement, or a reading, its time limit', async () => {
    // Limits of minutes are over in a moment.
    jest.useFakeTimers({ advanceTimers: true, doNotFake: ['Date', 'nextTick', 'performance', 'setImmediate'] });
    const address = new URL(the.address);
    const proxy = await startTcpProxy({ host: address.hostname, port: Number(address.port) });
    address.port = String(proxy.port);
    const engine = the.another({ address: address.href, poolSize: 1 });
    /** The connection is dropped with so many pieces, the last of which is lost. */
    const asking = async <T>(ask: () => Promise<T>, pieces: number, limitMs: number): Promise<T> => {
      let isLost = false;
      proxy.at(proxy.sent() + pieces, () => {
        proxy.forget();
        isLost = true;
      });
      const asked = ask();
      asked.catch(() => undefined); // awaited below
      await eventually(() => isLost);
      jest.advanceTimersByTime(limitMs);
      return asked;
    };
    try {
      const whole = await engine.describe(options());
      const two = () => runOne(engine, 'SELECT 2', { timeoutMs: 20_000 });
      expect(await two()).toMatchObject({ rows: [[2]] });
      expect(await asking(two, 1, 23_000)).toMatchObject({ rows: [[2]] });
      expect(await asking(() => engine.describe(options()), 1, 33_000)).toEqual(whole);
      await expect(asking(() => engine.describe(options()), 4, 300_000)).rejects.toMatchObject({
        ...{ name: 'SqlEngineError', code: 'connection' },
        message: expect.stringMatching(/^lost .+: its catalogue was not read within 5 minutes: .+$/) as string,
      });
      expect(await engine.describe(options())).toEqual(whole);
    } finally {
      await engine.close();
      await proxy.close();
      jest.useRealTimers();
    }
  });

  claim('all statements of a run see one snapshot, the next run sees what was written since', async () => {
    await the.write(`CREATE TABLE counter (n ${the.types.integer})`);
    const count = 'SELECT count(*) FROM counter';
    const running = the.engine().run([count, the.slow, count], options());
    await new Promise((resolve) => setTimeout(resolve, 250));
    // An engine whose readers lock a writer out is consistent as well, so it writes only then.
    const written = the.subject.locks === true ? running.then(() => undefined) : Promise.resolve();
    await written
      .then(() => the.write('INSERT INTO counter VALUES (1)'))
      .catch((error: unknown) => {
        if (!/locked|busy/i.test((error as Error).message)) throw error;
      });
    const [first, slow, last] = (await running).results;
    expect(slow?.kind).toBe('rows');
    // What a machine under load begins later than the write sees it, in every statement.
    expect(rowsOf(last)).toEqual(rowsOf(first));
    await the.write('DELETE FROM counter', 'INSERT INTO counter VALUES (1)');
    expect(await runOne(the.engine(), count)).toMatchObject({ rows: [[1]] });
  });

  claim('runs at the same time do not disturb each other', async () => {
    const results = await Promise.all(
      upTo(12).map((index) => runOne(the.engine(), `SELECT ${index} FROM team WHERE id = 1`)),
    );
    expect(results.map((result) => rowsOf(result)[0]?.[0])).toEqual(upTo(12));
  });

  claim('comments, a final semicolon and line breaks are no obstacle', async () => {
    const sql = "-- first; a comment\n/* and ; another */ SELECT ';' AS a\n;  -- the end;\n";
    expect(await runOne(the.engine(), sql)).toMatchObject({ rows: [[';']] });
  });

  claim('columns of the same name all arrive', async () => {
    expect(await runOne(the.engine(), 'SELECT 1 AS a, 2 AS a, 3 AS b')).toMatchObject({
      rows: [[1, 2, 3]],
      columns: [{ name: the.stored('a') }, { name: the.stored('a') }, { name: the.stored('b') }],
    });
  });

  claim('a result without rows still has its columns', async () => {
    expect(await runOne(the.engine(), 'SELECT id, code FROM team WHERE id > 99')).toMatchObject({
      kind: 'rows',
      rows: [],
      columns: [{ name: the.stored('id') }, { name: the.stored('code') }],
    });
  });

  claim('a statement that is expected to cost more than the ceiling is refused, a small one is not', async () => {
    if (the.subject.ceiling === undefined) throw new Error('the subject has neither a ceiling nor a reason for none');
    const engine = the.another(the.subject.ceiling);
    const all = `SELECT count(*) FROM ${['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `player ${name}`).join(' CROSS JOIN ')}`;
    const { results } = await engine.run(['SELECT count(*) FROM team WHERE id = 1', all], options());
    expect(results).toMatchObject([
      { rows: [[1]] },
      { kind: 'refused', message: expect.stringMatching(/ceiling|bytes/) as string },
    ]);
  });

  claim('without any parser in front, the database refuses every write and every second statement', async () => {
    const writes = [
      'DROP TABLE team',
      "INSERT INTO team VALUES (9, 'X', 'Y')",
      'DELETE FROM team',
      "UPDATE team SET code = 'Z'",
      `CREATE TABLE t (a ${the.types.integer})`,
      `CREATE TEMPORARY TABLE t (a ${the.types.integer})`,
      'SELECT 1; DROP TABLE team',
      'SELECT 1; SELECT 2',
      'COMMIT',
      'COMMIT; DROP TABLE team',
      'ROLLBACK',
      'WITH gone AS (SELECT 1) DELETE FROM team',
    ];
    const { results } = await the.engine().run([...writes, 'SELECT count(*) FROM team'], options());
    const [count, ...refused] = [...results].reverse();
    expect(refused.filter(({ kind }) => kind !== 'refused' && kind !== 'sql-error')).toEqual([]);
    expect(count).toMatchObject({ rows: [[3]] });
  });
});
