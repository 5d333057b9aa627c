import { storeLocation } from '../../../src/config/store';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { AnswerRecord } from '../../../src/domain';
import { howToGoOn } from '../../../src/app/read';
import { searchIdOf } from '../../../src/record/search-id';
import { openServices, saveAsked } from '../../../src/app/services';
import { writeIndex } from '../../../src/record/search-index';
import { createRunStore } from '../../../src/record/run-store';
import { record, state, trace } from '../report/fixture';
import { run } from '../../../src/cli/program';
import { testProcess, type TestProcess } from './test-io';

async function withSearch(
  status: AnswerRecord['status'] | null = 'answered',
  more: Partial<AnswerRecord> = {},
): Promise<TestProcess> {
  const process = testProcess();
  const { store } = openServices(process.io);
  const asked = await saveAsked(store, trace.input!, Date.UTC(2026, 0, 5, 10));
  const run = createRunStore(store, record.id);
  await run.put('checkpoint', 'i3', state);
  if (status === null) return process;
  await run.put('result', record.id, { ...record, status, ...more });
  const ended = { status, answer: record.answer, costUsd: record.usage.costUsd };
  await writeIndex(store, asked, ended);
  return process;
}

describe('what is stored is shown without Temporal', () => {
  test('list shows what was asked and answered', async () => {
    const process = await withSearch();
    const { code, out } = await process.gate('list');
    expect(code).toBe(0);
    expect(out).toMatch(/q-0123456789abcdef\s+answered\s+2026-01-05 10:00\s+races/);
    expect(JSON.parse((await process.gate('list', '--json')).out)).toMatchObject([
      { id: record.id, status: 'answered', costUsd: 0.0123 },
    ]);
  });

  test('list shows the question on a terminal of 80 columns', async () => {
    const { io } = await withSearch();
    let out = '';
    await run(['list'], { ...io, outIsTerminal: true, columns: 80, out: (text) => void (out += text) });
    expect(out.replace(/\n {2}/g, ' ')).toContain(` ${record.question} `);
    expect(out.split('\n').every((line) => line.length <= 80)).toBe(true);
  });

  test('list without questions says how to begin', async () => {
    expect((await testProcess().gate('list')).err).toContain('begin with: gate ask');
  });

  test('show prints answer, SQL, rows, evidence, rejected readings, open assumptions and the report', async () => {
    const { code, out } = await (await withSearch()).gate('show', 'last');
    expect(code).toBe(0);
    for (const text of [
      record.answer!,
      'op_times AS (',
      'Rows (1 row)',
      'op_times  proved',
      'Every rider stores an absolute time. (refuted: 144 of 162',
      'against   118 of 120 rows match, 2 do not',
      'Read as: A gap of exactly',
      '4 model calls, 9,527 tokens',
      'method fast',
      '.html',
    ]) {
      expect(out).toContain(text);
    }
  });

  test('show --json is the record with the places of its report and UI', async () => {
    const { out } = await (await withSearch()).gate('show', record.id, '--json');
    const printed = JSON.parse(out) as Record<string, unknown>;
    expect(AnswerRecord.parse(printed)).toEqual(record);
    expect(printed['ui']).toBeNull();
    expect(existsSync(printed['report'] as string)).toBe(true);
  });

  test('show --sql is the SQL alone, laid out; what must be known of it is on standard error', async () => {
    const sql = `SELECT name, count(*) AS races FROM drivers JOIN results ON results.driver = drivers.id WHERE name <> '' GROUP BY 1`;
    const { code, out, err } = await (await withSearch('answered', { sql })).gate('show', 'last', '--sql');
    expect(code).toBe(0);
    expect(out).toMatch(/^SELECT\n {2}name,\n/);
    expect(out.replace(/\s+/g, '')).toBe(sql.replace(/\s+/g, ''));
    expect(err).toContain(`1 of 2 proved; 1 assumed; gate show ${record.id} shows the evidence`);
    const none = await (
      await withSearch('unanswerable', { sql: null, reason: 'it is not stored' })
    ).gate('show', '--sql');
    expect(none).toEqual({ code: 0, out: '', err: 'no SQL, unanswerable: it is not stored\n' });
  });

  describe('show --csv', () => {
    const columns = [
      { name: 'name', kind: 'text' as const },
      { name: 'a "total"', kind: 'number' as const },
    ];
    const rows = [
      ['=1+1, "x"', 1.5],
      ['', null],
      ['two\nlines', -2],
    ];

    test('is the rows alone, exact and by RFC 4180; what must be known of them is on standard error, and a cut is one', async () => {
      const process = await withSearch('answered', { columns, rows, truncated: true });
      const { code, out, err } = await process.gate('show', 'last', '--csv');
      expect(code).toBe(1);
      expect(out).toBe('name,"a ""total"""\n"=1+1, ""x""",1.5\n"",\n"two\nlines",-2\n');
      expect(err).toContain('cut after 3 rows');
      expect(err).toContain(`1 of 2 proved; 1 assumed; gate show ${record.id} shows the evidence`);
    });

    test.each([
      ['answered', 0],
      ['unanswerable', 0],
      ['abstained', 0],
      ['cancelled', 3],
      ['failed', 1],
    ] as const)('without rows, %s, prints one line that says so and ends with %i', async (status, exit) => {
      const none = { columns: [], rows: [], answer: null, sql: null, reason: 'the price\nis not stored' };
      const { code, out, err } = await (await withSearch(status, none)).gate('show', 'last', '--csv');
      expect({ code, out, err }).toEqual({ code: exit, out: '', err: `no rows, ${status}: the price is not stored\n` });
    });

    test('an empty result is its header', async () => {
      const { out } = await (await withSearch('answered', { columns, rows: [] })).gate('show', 'last', '--csv');
      expect(out).toBe('name,"a ""total"""\n');
    });

    test('with --json is wrong usage, and so is gate ask --csv --detach', async () => {
      expect((await (await withSearch()).gate('show', 'last', '--csv', '--json')).code).toBe(2);
      expect((await testProcess().gate('ask', 'x', '--csv', '--detach')).code).toBe(2);
    });
  });

  test('the commands of a report name the database that is configured, else leave it open', async () => {
    const process = await withSearch();
    const { out } = await process.gate('show', 'last', '--report', 'r.html');
    expect(readFileSync(out.trim(), 'utf8')).toContain('gate db sql --db DATABASE');
    writeFileSync(join(process.home, 'gate.config.json'), JSON.stringify({ databases: { races: { path: 'r.db' } } }));
    await process.gate('show', 'last', '--report', 'r.html');
    expect(readFileSync(out.trim(), 'utf8')).toContain('gate db sql --db races');
  });

  test('a search that failed says why', async () => {
    const reason = 'the model gave no usable plan in 4 tries: the reply was empty';
    const process = await withSearch('failed', { columns: [], rows: [], answer: null, sql: null, reason });
    expect((await process.gate('show', 'last')).out).toContain(`Failed  ${reason}\n`);
    expect(JSON.parse((await process.gate('show', 'last', '--json')).out)).toMatchObject({
      status: 'failed',
      reason,
    });
  });

  test('nobody asks Temporal about searches that have ended', async () => {
    const process = await withSearch();
    Object.assign(process.io.env, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(await process.gate('list')).toMatchObject({ code: 0, err: '' });
  });

  test('with a configured Temporal that does not answer, nobody knows whether it still runs', async () => {
    const process = await withSearch(null);
    Object.assign(process.io.env, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    const since = performance.now();
    const { code, out, err } = await process.gate('list');
    expect(performance.now() - since).toBeLessThan(60_000);
    expect(code).toBe(0);
    expect(out).toMatch(/q-0123456789abcdef\s+unknown/);
    expect(err).toMatch(/^no Temporal answers at 127\.0\.0\.1:1: showing what the store holds.*\n$/);
    const commands = [['show'], ['show', '--plan'], ['show', '--csv'], ['hint', 'look again']];
    const [status, plan, result, hint] = await Promise.all(
      commands.map(([name = '', ...more]) => process.gate(name, record.id, ...more)),
    );
    expect(status).toMatchObject({ code: 0, err, out: expect.stringContaining('no Temporal answers') as string });
    expect(plan).toMatchObject({ code: 0, err });
    // Of the store alone: Temporal is not asked.
    expect(await process.gate('show', '--trace')).toMatchObject({ code: 0, err: '' });
    expect(result?.code).toBe(1);
    expect(result?.err).toBe(`${err}gate: ${record.id} has no result: it may still run\n`);
    expect(hint?.err).toMatch(
      /^gate: no Temporal answers at 127\.0\.0\.1:1: the command cannot reach q-0123456789abcdef; .*\n$/,
    );
  });

  test('a Temporal that accepts connections and says nothing holds a listing up for a few seconds only', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const process = await withSearch(null);
    Object.assign(process.io.env, { TEMPORAL_ADDRESS: address });
    const { code, out, err } = await process.gate('list');
    silent.close();
    for (const socket of sockets) socket.destroy();
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('unknown') as string });
    expect(err).toContain(`no Temporal answers at ${address}`);
  });

  test('a search without a result was interrupted, and says how to go on', async () => {
    const process = await withSearch(null);
    expect(await process.gate('show', 'last', '--csv')).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'start gate ops worker with the same configuration and --db: the search continues where it was',
      ) as string,
    });
    const status = await process.gate('show', 'q-0123');
    expect(status.out).toContain('interrupted');
    expect(status.out).toContain('4 model calls');
  });

  test('asking again is offered only where it finds the same search', () => {
    const input = { ...trace.input!, namespace: 'user' };
    const asked = { ...input, searchId: searchIdOf(input) };
    expect(howToGoOn(asked)).toMatch(/^ask the same question again/);
    expect(howToGoOn({ ...input, searchId: searchIdOf(input, 'fresh') })).toMatch(/^start gate ops worker/);
    const replayed = { ...input, namespace: 'replay-1' };
    expect(howToGoOn({ ...replayed, searchId: searchIdOf(replayed) })).toMatch(/^run the same command again/);
  });

  test('evidence is wrapped, not cut: why a reading was refuted is the proof', async () => {
    const { out } = await (await withSearch()).gate('show', 'last');
    const reason = record.evidence.flatMap(({ rejected }) => rejected)[0]!.reason;
    expect(out.replace(/\s+/g, ' ')).toContain(reason);
    expect(out.split('\n').every((line) => line.length <= 100 || !line.startsWith('    '))).toBe(true);
  });

  test('trace prints the tree, report writes the file that it names', async () => {
    const process = await withSearch();
    expect((await process.gate('show', '--trace')).out).toContain('t0 iteration 0: the question · open');
    const { out } = await process.gate('show', 'last', '--report', 'r.html');
    expect(out.trim()).toBe(join(process.home, 'r.html'));
    expect(readFileSync(out.trim(), 'utf8')).toContain('<!doctype html>');
  });

  test('a report beside the store is for its owner only', async () => {
    const { out } = await (await withSearch()).gate('show', 'last', '--json');
    expect(statSync((JSON.parse(out) as { report: string }).report).mode & 0o777).toBe(0o600);
  });

  test('an unknown id ends with 1, an ambiguous one with 2', async () => {
    const process = await withSearch();
    expect(await process.gate('show', 'q-ffffffffffffffff')).toMatchObject({ code: 1 });
    const { store } = openServices(process.io);
    await saveAsked(store, { ...trace.input!, searchId: 'q-0123456789abcde0' }, 0);
    expect(await process.gate('show', 'q-0123')).toMatchObject({
      code: 2,
      err: expect.stringContaining('is the beginning of several search ids') as string,
    });
  });

  test('a damaged record is one line that names the object', async () => {
    const process = await withSearch();
    const { config } = openServices(process.io);
    const { store } = openServices(process.io);
    const [key] = await store.list(`runs/${record.id}/result/`);
    await store.put(key!, '{}', { overwrite: true });
    expect(storeLocation(config.store).startsWith(process.home)).toBe(true);
    const { code, err } = await process.gate('show', 'last');
    expect(code).toBe(1);
    expect(err).toMatch(/^gate: runs\/q-0123456789abcdef\/result\/.* is damaged[^\n]*\n$/);
  });
});
