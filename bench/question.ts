/**
 * What one question costs the parts around the model, with a folder and SQLite, and with S3 and PostgreSQL: processor time,
 * actions, requests and history of Temporal, requests and bytes of the store, transactions and connections of PostgreSQL. Asked
 * are questions of the simulated model and, over SQLite, those whose replies a strong model gave (GATE_SHARED_DATA names the
 * development data). Temporal counts actions as its cloud bills them in the metric `action`
 * (https://docs.temporal.io/cloud/migrate/estimate-actions).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { readRecording } from '../src/adapters/recording';
import { settingsFor } from '../src/config/presets';
import type { Dialect, SearchInput } from '../src/domain';
import { questionWorkflowId } from '../src/workflows/ids';
import { freePort } from '../tests/helpers/free-port';
import { startModelEndpoint } from '../tests/helpers/model-endpoint';
import { loadTestData, sharedDataFolder } from '../tests/helpers/shared-data';
import { bench, median, part, say, SHORT, type Figure } from './figure';
import { startCountedS3, type CountedS3 } from './world/counted-s3';
import { withLoadWorld, type LoadOptions, type LoadWorld } from './world/load-world';
import { processUse, type ProcessUse } from './world/process-use';
import { benchSearches } from './world/searches';

const COUNT = SHORT ? 12 : 40;
/** Few enough that steps do not wait for each other, as on a machine that is not full. */
const AT_A_TIME = 4;
const RECORDING = join(__dirname, '../../examples/recordings/hc_paw.jsonl');
/** PostgreSQL adds a session's counts to its statistics after it was idle for 10 s. */
const STATISTICS_MS = 11_000;
/** The server's metrics are gathered every second. */
const METRICS_MS = 2_500;

async function measureQuestion(): Promise<readonly Figure[]> {
  const simulated = (engine: Dialect) => (name: string, count: number) =>
    benchSearches({ shape: 'usual', count, engine, name });
  await part('folder and SQLite', () =>
    measured('folder and SQLite', { engine: 'sqlite', modelMs: 200 }, simulated('sqlite'), null, 100),
  );
  await part('S3 and PostgreSQL', () =>
    onS3('S3 and PostgreSQL', { engine: 'postgresql', modelMs: 200 }, simulated('postgresql'), 200),
  );
  if (sharedDataFolder() !== null) await part('recorded', recorded);
  else say('recorded replies are not measured: the database they were asked of is not here');
  return [];
}

async function onS3(kind: string, options: LoadOptions, inputs: Inputs, cpuAtMost?: number): Promise<Figure[]> {
  const s3 = await startCountedS3();
  try {
    return await measured(kind, { ...options, storeEnv: s3.env }, inputs, s3, cpuAtMost);
  } finally {
    await s3.stop();
  }
}

type Inputs = (name: string, count: number) => readonly SearchInput[];

async function measured(
  kind: string,
  options: LoadOptions,
  inputs: Inputs,
  s3: CountedS3 | null,
  cpuAtMost?: number,
): Promise<Figure[]> {
  const metricsPort = await freePort();
  return withLoadWorld({ ...options, metricsPort }, async (world) => {
    // The first question reads the schema and profiles the tables; that is not one question's.
    await world.ask(inputs('warm', 1));
    const before = await readAll(world, s3, metricsPort);
    const asked = await world.ask(inputs('count', COUNT), AT_A_TIME);
    const after = await readAll(world, s3, metricsPort);
    const histories = await Promise.all(
      asked.map(async ({ searchId, calls }) => {
        const handle = world.gate.client.workflow.getHandle(questionWorkflowId(searchId));
        const { historySize = 0, historyLength } = await handle.describe();
        return { bytes: historySize, events: historyLength, calls };
      }),
    );
    const grown = Object.entries(after)
      .map(([name, value]) => [name, (value - (before[name] ?? 0)) / asked.length] as const)
      .filter(([, value]) => value > 0);
    const calls = asked.reduce((total, one) => total + one.calls, 0) / asked.length;
    const figure = (name: string, value: number, how = `over ${String(asked.length)} questions`, atMost?: number) => ({
      ...{ name: `question, ${kind}: ${name}`, value, unit: '', how, atMost },
    });
    /** What was counted under these names, by what follows them. */
    const counted = (name: string, pattern: RegExp, atMost?: number): Figure => {
      const found = grown.filter(([counter]) => pattern.test(counter));
      const parts = found.map(([counter, value]) => [counter.replace(pattern, '').trim(), value] as const);
      const how = parts.filter(([rest]) => rest !== '').map(([rest, value]) => `${rest} ${value.toFixed(2)}`);
      return figure(
        name,
        found.reduce((sum, [, value]) => sum + value, 0),
        how.join(', ') || undefined,
        atMost,
      );
    };
    const events = (turns: number, atMost: number): Figure[] => {
      const lengths = histories.filter((one) => one.calls === turns).map((one) => one.events);
      const how = `the most of ${String(lengths.length)} questions, median ${String(median(lengths))}`;
      return lengths.length === 0 ? [] : [figure(`events, ${String(turns)} calls`, Math.max(...lengths), how, atMost)];
    };
    return [
      figure('model calls', calls),
      counted('processor time, ms', /^cpu ours /, cpuAtMost),
      counted('processor time besides, ms', /^cpu besides /),
      counted('actions', /^action /),
      counted('requests to Temporal', /^request /),
      counted('updates of its shards', /^shard /),
      figure('history, KB', median(histories.map(({ bytes }) => bytes)) / 1024),
      figure('history, events', median(histories.map((one) => one.events))),
      ...[...events(1, 14), ...events(2, 21)],
      ...(s3 === null
        ? []
        : [
            counted('S3 requests', /^s3 requests$/, 15),
            counted('S3 writes', /^s3 PUT /, 3 * calls + 4),
            counted('S3 reads', /^s3 (?=GET$|HEAD$)/, 12),
            counted('S3 lists', /^s3 LIST$/),
            counted('S3, KB written', /^s3 KB$/),
          ]),
      ...(world.postgres === null ? [] : [counted('SQL transactions', /^pg transactions$/)]),
      ...(world.postgres === null ? [] : [counted('SQL connections opened', /^pg sessions$/)]),
    ];
  });
}

/** Everything that is counted, as it stands. */
async function readAll(world: LoadWorld, s3: CountedS3 | null, metricsPort: number): Promise<Record<string, number>> {
  const { worker, server, model, postgres, starter } = world.uses();
  const ms = (use: ProcessUse | undefined, of: 'cpuSeconds' | 'childCpuSeconds'): number => 1000 * (use?.[of] ?? 0);
  const cpu = {
    'cpu ours worker': ms(worker, 'cpuSeconds'),
    'cpu ours readers of SQLite': ms(worker, 'childCpuSeconds'),
    'cpu ours Temporal': ms(server, 'cpuSeconds'),
    'cpu besides model': ms(model, 'cpuSeconds'),
    'cpu besides PostgreSQL': ms(postgres, 'cpuSeconds') + ms(postgres, 'childCpuSeconds'),
    'cpu besides S3 server': ms(s3 === null ? undefined : processUse(s3.pid), 'cpuSeconds'),
    'cpu besides this bench': ms(starter, 'cpuSeconds'),
  };
  const store = Object.fromEntries(Object.entries(s3?.counts() ?? {}).map(([name, value]) => [`s3 ${name}`, value]));
  await sleep(world.postgres === null ? METRICS_MS : STATISTICS_MS);
  return { ...cpu, ...store, ...(await temporalCounts(metricsPort)), ...(await postgresCounts(world)) };
}

async function temporalCounts(port: number): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
  const counts: Record<string, number> = {};
  for (const [, metric, labels = '', value] of text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)) {
    const label = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const add = (name: string): void => void (counts[name] = (counts[name] ?? 0) + Number(value));
    const operation = label('operation');
    if (metric === 'action' && label('namespace') === 'default') add(`action ${label('action_type')}`);
    // Polls wait for work; how many there are says how long the bench took.
    if (metric === 'service_requests' && label('service_name') === 'frontend' && label('namespace') === 'default')
      if (!/^(Poll|Describe|GetWorkflowExecutionHistory$)/.test(operation)) add(`request ${operation}`);
    if (metric === 'persistence_requests' && /^(Create|Update)WorkflowExecution$/.test(operation))
      add(`shard ${operation}`);
  }
  return counts;
}

async function postgresCounts({ postgres }: LoadWorld): Promise<Record<string, number>> {
  if (postgres === null) return {};
  const { Client } = await import('pg');
  const client = new Client({ connectionString: postgres.url('postgres') });
  await client.connect();
  const { rows } = await client.query<{ transactions: string; sessions: string }>(
    "SELECT xact_commit + xact_rollback AS transactions, sessions FROM pg_stat_database WHERE datname = 'sprint_pg'",
  );
  await client.end();
  return { 'pg transactions': Number(rows[0]?.transactions), 'pg sessions': Number(rows[0]?.sessions) };
}

/** The replies of a recording in their order, question by question, as its contract test feeds them. */
async function recorded(): Promise<Figure[]> {
  const { exchanges } = await readRecording(RECORDING);
  const questionOf = (messages: readonly { readonly content: string }[]): string =>
    messages.map(({ content }) => /^Question: (.*)$/m.exec(content)?.[1]).find((found) => found !== undefined) ?? '';
  const replies = new Map<string, string[]>();
  for (const { messages, reply } of exchanges) {
    const question = questionOf(messages);
    replies.set(question, [...(replies.get(question) ?? []), reply.text]);
  }
  const left = new Map<string, string[]>();
  const endpoint = await startModelEndpoint({
    latencyMs: 200,
    models: ['recorded'],
    reply: ({ messages }) => {
      const question = questionOf(messages);
      const mine = left.get(question) ?? [...(replies.get(question) ?? [])];
      left.set(question, mine);
      return mine.shift() ?? { fault: 'status', status: 400 };
    },
  });
  const data = await loadTestData(null, { only: ['conventions'] });
  const path = data.address({ engine: 'sqlite', database: 'hc_paw' });
  const questions = [...replies.keys()];
  const inputs = (name: string, count: number): SearchInput[] => {
    left.clear();
    return Array.from({ length: Math.min(count, questions.length) }, (_, at) => ({
      ...{ searchId: `${name}-${at}`, namespace: 'bench', identity: 'hc_paw' },
      settings: settingsFor({ method: 'fast', models: { default: 'recorded' } }),
      question: {
        ...{ text: questions[at] ?? '', database: 'hc_paw', outputMode: 'answer' },
        ...{ tools: ['execute_sql'], context: null, instructions: null, documents: [] },
      },
    }));
  };
  try {
    const asked = { modelUrl: endpoint.baseUrl, database: 'hc_paw', path };
    return await onS3('recorded', { engine: 'sqlite', modelMs: 0, asked }, inputs);
  } finally {
    await endpoint.close();
    data.close();
  }
}

bench(measureQuestion);
