/**
 * What one question costs the parts around the model: actions, requests and history of Temporal, requests and bytes of the
 * store (an S3 server), transactions and connections of PostgreSQL, processor time. Two kinds of questions: the recorded
 * replies of a strong model (over SQLite; GATE_SHARED_DATA names the development data), and those of the simulated
 * model. Temporal counts actions as its cloud bills them in the metric `action`
 * (https://docs.temporal.io/cloud/migrate/estimate-actions).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { readRecording } from '../src/adapters/recording';
import { settingsFor } from '../src/config/presets';
import type { SearchInput } from '../src/domain';
import { questionWorkflowId } from '../src/workflows/ids';
import { freePort } from '../tests/helpers/free-port';
import { startModelEndpoint } from '../tests/helpers/model-endpoint';
import { loadTestData, sharedDataFolder } from '../tests/helpers/shared-data';
import { bench, median, say, SHORT, type Figure } from './figure';
import { startCountedS3, type CountedS3 } from './world/counted-s3';
import { withLoadWorld, type LoadOptions, type LoadWorld } from './world/load-world';
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
  const simulated = await counted({ engine: 'postgresql', modelMs: 200 }, (name, count) =>
    benchSearches({ shape: 'usual', count, engine: 'postgresql', name }),
  );
  return [
    ...figures('recorded', sharedDataFolder() === null ? null : await recorded()),
    ...figures('simulated', simulated),
  ];
}

interface Counts {
  readonly questions: number;
  /** Per question, by name. */
  readonly each: Readonly<Record<string, number>>;
  readonly how: Readonly<Record<string, string>>;
}

async function counted(
  options: LoadOptions,
  inputs: (name: string, count: number) => readonly SearchInput[],
): Promise<Counts> {
  const s3 = await startCountedS3();
  const metricsPort = await freePort();
  try {
    return await withLoadWorld({ ...options, storeEnv: s3.env, metricsPort }, async (world) => {
      // The first question reads the schema and profiles the tables; that is not one question's.
      await world.ask(inputs('warm', 1));
      const before = await readAll(world, s3, metricsPort);
      const asked = await world.ask(inputs('count', COUNT), AT_A_TIME);
      const after = await readAll(world, s3, metricsPort);
      const sizes = await Promise.all(
        asked.map(async ({ searchId }) => {
          const handle = world.gate.client.workflow.getHandle(questionWorkflowId(searchId));
          const { historySize = 0, historyLength } = await handle.describe();
          return { bytes: historySize, events: historyLength };
        }),
      );
      const grown = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)] as const);
      const sum = (pattern: RegExp): number =>
        grown.reduce((total, [name, value]) => total + (pattern.test(name) ? value : 0), 0) / asked.length;
      const list = (pattern: RegExp): string =>
        grown
          .filter(([name, value]) => pattern.test(name) && value > 0)
          .map(([name, value]) => `${name.replace(pattern, '')} ${(value / asked.length).toFixed(2)}`)
          .join(', ');
      return {
        questions: asked.length,
        each: {
          'model calls': asked.reduce((total, { calls }) => total + calls, 0) / asked.length,
          actions: sum(/^action /),
          'requests to Temporal': sum(/^request /),
          'updates of its shards': sum(/^shard /),
          'history, KB': median(sizes.map(({ bytes }) => bytes)) / 1024,
          'history, events': median(sizes.map(({ events }) => events)),
          'S3 writes': sum(/^s3 PUT$/),
          'S3 reads': sum(/^s3 (GET|HEAD)$/),
          'S3 lists': sum(/^s3 LIST$/),
          'S3, KB written': sum(/^s3 bytes$/) / 1024,
          ...(world.postgres === null ? {} : { 'SQL transactions': sum(/^pg transactions$/) }),
          ...(world.postgres === null ? {} : { 'SQL connections opened': sum(/^pg sessions$/) }),
          'processor of the worker, ms': sum(/^cpu worker$/),
          'processor of the server, ms': sum(/^cpu server$/),
        },
        how: {
          actions: list(/^action /),
          'requests to Temporal': list(/^request /),
          'updates of its shards': list(/^shard /),
          'S3 writes': list(/^s3 PUT /),
        },
      };
    });
  } finally {
    await s3.stop();
  }
}

/** Everything that is counted, as it stands. */
async function readAll(world: LoadWorld, s3: CountedS3, metricsPort: number): Promise<Record<string, number>> {
  const { worker, server } = world.uses();
  const cpu = {
    'cpu worker': 1000 * ((worker?.cpuSeconds ?? 0) + (worker?.childCpuSeconds ?? 0)),
    'cpu server': 1000 * (server?.cpuSeconds ?? 0),
  };
  const store = Object.fromEntries(Object.entries(s3.counts()).map(([name, value]) => [`s3 ${name}`, value]));
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
async function recorded(): Promise<Counts> {
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
    return await counted({ engine: 'sqlite', modelMs: 0, asked }, inputs);
  } finally {
    await endpoint.close();
    data.close();
  }
}

function figures(kind: string, counts: Counts | null): Figure[] {
  if (counts === null) {
    say('recorded replies are not measured: the database they were asked of is not here');
    return [];
  }
  return Object.entries(counts.each).map(([name, value]) => ({
    ...{ name: `question, ${kind}: ${name}`, value, unit: '' },
    how: counts.how[name] ?? `over ${String(counts.questions)} questions`,
  }));
}

bench(measureQuestion);
