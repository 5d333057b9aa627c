/**
 * Forks over a store in a bucket, with encryption switched on before, in between and with changed keys, of searches whose
 * workflows are gone. Real command line, real S3 server, and an embedded Temporal of each user's own.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnswerRecord } from '../../src/domain';
import { createS3Store } from '../../src/adapters/s3/store';
import { userFolders } from '../../src/config/folders';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { findVersitygw, sharedS3Server, type S3Server } from '../helpers/s3-server';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { unique } from '../helpers/temporal';

const QUESTION = 'How many points did each team score in sprints in total, best team first?';
const KEYS = { FORK_KEY_1: randomBytes(32).toString('base64'), FORK_KEY_2: randomBytes(32).toString('base64') };
const keys = (...numbers: readonly number[]) => numbers.map((n) => ({ id: `k${n}`, env: `FORK_KEY_${n}` }));

let data: TestData;
let model: SimulatedModel;
let s3: S3Server;
let database: string;
let temporal: string;

// Where there is no S3 server it is built first, which takes a minute.
beforeAll(() => findVersitygw(), 600_000);
beforeAll(async () => {
  temporal = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  s3 = await sharedS3Server();
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({
    questions: data.questionFiles,
    databases: data.databases,
    rates: { doubt: 1, wrong: 1, inconclusive: 0.5, immaterial: 0 },
  });
  database = data.address({ engine: 'sqlite', database: 'sprint' });
});
afterAll(async () => {
  await model.close();
  data.close();
});

function homeIn(bucket: string): GateHome {
  s3.createBucket(bucket);
  const env = { ...s3.env(`s3://${bucket}/gate`), ...KEYS, TEMPORAL_ADDRESS: '', TEMPORAL_CLI_PATH: temporal };
  return gateHome({ baseUrl: model.baseUrl, env });
}

/** The server has stopped with the command that started it; the next one begins with nothing. */
function forgetHistories({ env }: GateHome): void {
  const servers = join(userFolders(env).state, 'temporal');
  if (!existsSync(servers)) throw new Error(`no history is in ${servers}`);
  rmSync(servers, { recursive: true });
}

function encrypt(home: GateHome, ...numbers: readonly number[]): void {
  const config = numbers.length === 0 ? {} : { encryption: { keys: keys(...numbers) } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify(config));
}

/** Every object of the bucket below the prefix, as the server keeps it. */
async function stored(bucket: string): Promise<ReadonlyMap<string, string>> {
  const { endpoint, region, accessKeyId, secretAccessKey } = s3;
  const place = { bucket, prefix: 'gate', endpoint, region, credentials: { accessKeyId, secretAccessKey } };
  const store = createS3Store(place);
  const texts = new Map<string, string>();
  for (const key of await store.list('')) texts.set(key, (await store.get(key)) ?? '');
  return texts;
}

async function forkAfterFirst(home: GateHome, parent: AnswerRecord, hint: string): Promise<AnswerRecord> {
  const args = ['fork', parent.id, '--at', '1', '--db', database, '--seed', '5', '--hint', hint, '--json'];
  const { code, out, err } = await home.here(args);
  expect({ code, err }).toMatchObject({ code: 0 });
  return JSON.parse(out) as AnswerRecord;
}

test.each([
  ['plain throughout', [], []],
  ['encrypted only from the fork on', [], [1]],
  ['encrypted with a new key from the fork on', [1], [2, 1]],
])('a search of which only the bucket is left is forked: %s', async (what, before, after) => {
  const bucket = unique(what.replaceAll(' ', '-'));
  const home = homeIn(bucket);
  encrypt(home, ...before);
  const parent = await home.ask([QUESTION, '--db', database, '--method', 'thorough']);
  forgetHistories(home);
  const old = await stored(bucket);
  encrypt(home, ...after);
  model.reset();

  const fork = await forkAfterFirst(home, parent, 'ties count for both');
  expect(fork).toMatchObject({ status: 'answered', rows: parent.rows });
  expect(fork.steering).toMatchObject([{ kind: 'hint', text: 'ties count for both' }]);
  expect(fork.id).not.toBe(parent.id);
  const { totals } = model.ledger();
  expect(totals.billed).toBe(fork.usage.llmCalls);
  expect(fork.usage.llmCalls).toBeLessThan(parent.usage.llmCalls);

  const now = await stored(bucket);
  const ofParent = [...old].filter(([key]) => key.startsWith(`runs/${parent.id}/`));
  expect(ofParent.length).toBeGreaterThan(10);
  for (const [key, text] of ofParent) expect({ key, text: now.get(key) }).toEqual({ key, text });
  const ofFork = [...now].filter(([key]) => key.startsWith(`runs/${fork.id}/`));
  const [current] = after;
  const sealed = ofFork.filter(([, text]) => text.startsWith(`gate-sealed 1 k${String(current)}`));
  expect(sealed).toHaveLength(current === undefined ? 0 : ofFork.length);

  expect(await home.here(['show', parent.id, '--diff', fork.id])).toMatchObject({ code: 0 });
});

test('without the key a fork is one line that names it, and nothing is written', async () => {
  const bucket = unique('fork-no-key');
  const home = homeIn(bucket);
  encrypt(home, 1);
  const parent = await home.ask([QUESTION, '--db', database, '--method', 'thorough']);
  const before = await stored(bucket);
  for (const numbers of [[], [2]]) {
    encrypt(home, ...numbers);
    const ended = await home.here(['fork', parent.id, '--at', '1', '--db', database]);
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err.trim().split('\n')).toEqual([
      expect.stringMatching(/encrypted with key 'k1'.* is not configured here/),
    ]);
    expect(await stored(bucket)).toEqual(before);
  }
});
