/**
 * Data files, which nobody has read before: the time from Enter to an answer over a CSV file of a million rows, with a model that
 * answers at once, and what `gate db describe` takes for a Parquet file of ten million rows and forty columns: import, description
 * and profile. Memory is that of the command and of all processes that it starts, every tenth of a second.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { userFolders } from '../src/config/folders';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { bench, give, median, part, SHORT, type Figure } from './figure';
import { GATE, runGate, startDev } from './world/gate-command';
import { stop } from './world/load-world';
import { startModel } from './world/model';
import { treeBytes } from './world/process-use';

const CSV_ROWS = 1_000_000;
const PARQUET_ROWS = SHORT ? 1_000_000 : 10_000_000;
const PARQUET_COLUMNS = 40;
const RUNS = SHORT ? 1 : 3;

const ORDERS = `SELECT i AS id, DATE '2023-01-01' + CAST(i % 700 AS INTEGER) AS ordered_on, 1 + i % 9 AS quantity,
  round(3 + (i * 7919) % 5000 / 100.0, 2) AS price, round((1 + i % 9) * (3 + (i * 7919) % 5000 / 100.0), 2) AS amount,
  CASE i % 20 WHEN 0 THEN 'cancelled' WHEN 1 THEN 'open' ELSE 'paid' END AS state, 'customer ' || (i * 31) % 40000 AS customer
  FROM range(${CSV_ROWS}) AS r(i)`;

const WIDE_COLUMN: readonly ((at: number) => string)[] = [
  (at) => `(i * ${at + 7}) % 100000 AS n${at}`,
  (at) => `round((i * ${at + 3}) % 9973 / 7.0, 3) AS x${at}`,
  (at) => `'code ' || (i * ${at + 11}) % 500 AS t${at}`,
  (at) => `TIMESTAMP '2020-01-01' + to_seconds((i * ${at + 1}) % 100000000) AS s${at}`,
];

const WIDE = `SELECT ${Array.from({ length: PARQUET_COLUMNS }, (_, at) => WIDE_COLUMN[at % 4]?.(at) ?? '').join(', ')}
  FROM range(${PARQUET_ROWS}) AS r(i)`;

const REPLY = {
  action: 'commit',
  operators: [
    {
      name: 'op_paid',
      intent: 'what each paid order brought in',
      sql: "SELECT id, quantity * price AS revenue FROM orders WHERE state = 'paid'",
    },
    { name: 'op_answer', intent: 'what paid orders brought in', sql: 'SELECT sum(revenue) AS revenue FROM op_paid' },
  ],
  claims: [
    {
      operator: 'op_paid',
      statement: 'The price is that of one piece: with the quantity it gives the amount.',
      rows: 'paid orders',
      check: `SELECT count(*) AS examined, count(*) FILTER (WHERE abs(amount - revenue) < 0.01) AS matching
        FROM op_paid JOIN orders ON orders.id = op_paid.id`,
      rivals: [{ reading: 'The price is that of all pieces.', instead: { of: 'quantity * price', put: 'price' } }],
    },
  ],
  ordered: false,
  assumed: [{ operator: 'op_paid', statement: "The state 'paid' says that an order was paid.", risk: 0.1 }],
  control: 'SELECT count(*) AS orders FROM op_paid',
  sentence: 'Paid orders brought in {revenue}.',
};

async function measureFiles(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-files-'));
  try {
    await part('answer over a CSV file', () => answerOverCsv(folder));
    await part('profile of a Parquet file', () => profileOfParquet(folder));
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function answerOverCsv(folder: string): Promise<readonly Figure[]> {
  const csv = join(folder, 'orders.csv');
  await written(`COPY (${ORDERS}) TO '${csv}' (HEADER)`);
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const model = await startModel(REPLY);
  const homes = Array.from({ length: RUNS * 2 }, (_, at) => join(folder, `home${at}`));
  let server: ChildProcess | null = null;
  const envOf = (home: string): NodeJS.ProcessEnv => {
    mkdirSync(home, { recursive: true });
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      TEMPORAL_CLI_PATH: binary,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'none',
      GATE_MODEL: 'at-once',
      GATE_STORE: join(folder, 'store'),
    };
  };
  /** Each time as a user whose cache is empty. */
  const ask = async (home: string): Promise<number> => {
    const args = ['ask', 'What did paid orders bring in?', '--db', csv, '--memory', 'off', '--fresh'];
    const { wallSeconds, said } = await runGate(args, { cwd: folder, env: envOf(home) });
    if (!/^Answer +Paid orders brought in [\d,.]+\.$/m.test(said)) throw new Error(`another answer: ${said}`);
    return wallSeconds;
  };
  try {
    const cold: number[] = [];
    for (const home of homes.slice(0, RUNS)) cold.push(await ask(home));
    give({
      name: 'answer over 1,000,000 CSV rows, server has to start',
      value: median(cold),
      unit: 's',
      atMost: 6,
      how: `median of ${RUNS}`,
    });
    server = await startDev({ cwd: folder, env: envOf(homes[RUNS] ?? folder) });
    const warm: number[] = [];
    for (const home of homes.slice(RUNS)) warm.push(await ask(home));
    const again = await ask(homes[RUNS] ?? folder);
    return [
      { name: 'the same, server is up', value: median(warm), unit: 's', atMost: 6, how: `median of ${RUNS}` },
      { name: 'the same, file imported before', value: again, unit: 's', how: 'once' },
    ];
  } finally {
    if (server !== null) await stop(server);
    model.close();
  }
}

async function profileOfParquet(folder: string): Promise<readonly Figure[]> {
  const parquet = join(folder, 'wide.parquet');
  await written(`COPY (${WIDE}) TO '${parquet}' (FORMAT parquet)`);
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
  const started = performance.now();
  const child = spawn(process.execPath, [GATE, 'db', 'describe', parquet], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  let peak = 0;
  const look = setInterval(() => (peak = Math.max(peak, treeBytes(child.pid ?? 0))), 100);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearInterval(look);
  if (code !== 0) throw new Error(`gate db describe ended with ${String(code)}: ${said}`);
  const what = `${PARQUET_ROWS.toLocaleString('en-US')} Parquet rows of ${PARQUET_COLUMNS} columns`;
  const seconds = (performance.now() - started) / 1000;
  return [
    { name: `profile of ${what}`, value: seconds, unit: 's', atMost: 20, how: 'once, nothing imported before' },
    { name: `memory for it`, value: peak / 1024 ** 3, unit: 'GB', atMost: 1, how: 'peak of all processes' },
  ];
}

async function written(sql: string): Promise<void> {
  const database = await DuckDBInstance.create(':memory:', { memory_limit: '2GB' });
  const connection = await database.connect();
  await connection.run(sql);
  connection.closeSync();
  database.closeSync();
}

bench(measureFiles);
