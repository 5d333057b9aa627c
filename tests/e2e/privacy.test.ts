/**
 * What is readable at rest after (and in the middle of) real searches over HTTP on PostgreSQL: every byte below the
 * user's folder (the Temporal server's database with its write-ahead log, the store, logs, state) is searched for values
 * planted in rows, in the question, in SQL, in errors that quote them, and in secrets. Searches are asked in the
 * foreground, by the worker that `--detach` starts, and in a batch. Results of a batch and reports are plain by design:
 * they lie elsewhere and are searched for secrets only.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { userFolders } from '../../src/config/folders';
import { SIMULATED_MODEL, startSimulatedModel } from '../../simulated-model';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { startModelEndpoint, type ModelEndpoint } from '../helpers/model-endpoint';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';
import { testFolder } from '../helpers/temporal';

const NAME = 'Zyxwora Quillonbrack';
const BADGE = 'QX77134VELDT';
const PLACE = 'Thunderplumhaven';
const SQL_MARK = 'glimmerwickcolumn';
const READABLE = { NAME, BADGE, PLACE, SQL_MARK } as const;
const API_KEY = 'sk-plantedkey5f2c9e7b1d44';
const PASSWORD = 'plantedpassword918273';
const SECRETS = { API_KEY, PASSWORD } as const;

const ASKED = `Which badge does the member of ${PLACE} called like the founder wear?`;
const REFUSED = `Who of ${PLACE} has no badge?`;
const COUNTED = `How many members of ${PLACE} wear a badge?`;
/** Asked of a background worker, and in a batch. */
const LATER = `Which badge of ${PLACE} is the founder's?`;
const BATCHED = `How many badges are there in ${PLACE}?`;

let postgres: TestPostgres;
let binary: string;

beforeAll(async () => {
  postgres = await sharedPostgres();
  binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  await postgres.createDatabase(
    'privacy_club',
    `CREATE TABLE members (id integer PRIMARY KEY, name text NOT NULL, place text NOT NULL, badge text NOT NULL);
     INSERT INTO members VALUES (1, '${NAME}', '${PLACE}', '${BADGE}'), (2, 'Other Person', 'Elsewhere', '12');`,
  );
});

/** A user with an embedded server of their own, whose database is a file below the user's folder. */
function user(baseUrl: string, encryption: object | null): GateHome {
  const home = gateHome({
    baseUrl,
    env: {
      TEMPORAL_ADDRESS: '',
      TEMPORAL_CLI_PATH: binary,
      OPENAI_API_KEY: API_KEY,
      CLUB_URL: withPassword(postgres.url('privacy_club')),
      TEST_KEY_1: KEYS.first,
      TEST_KEY_2: KEYS.second,
    },
  });
  configure(home, encryption);
  return home;
}

const KEYS = { first: randomBytes(32).toString('base64'), second: randomBytes(32).toString('hex') };

function configure(home: GateHome, encryption: object | null): void {
  const databases = { club: { urlEnv: 'CLUB_URL' } };
  writeFileSync(
    join(home.folder, 'gate.config.json'),
    JSON.stringify({ databases, ...(encryption === null ? {} : { encryption }) }),
  );
}

function withPassword(text: string): string {
  const url = new URL(text);
  url.password = PASSWORD;
  return url.href;
}

interface Script {
  readonly endpoint: ModelEndpoint;
  /** Resolves when the model is asked for the answer, after a failed and a good query; the reply waits for `release`. */
  readonly reached: Promise<void>;
  readonly release: () => void;
}

/** ReAct over HTTP: a query whose error quotes a row's value, a query that reads the row, the answer. */
async function scriptedModel(): Promise<Script> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let reach: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const act = (fields: object): string =>
    JSON.stringify({
      ...{ note: `the founder is ${NAME}`, action: 'tool_call', tool: 'execute_sql', sql: null },
      ...{ answer: null, finalSql: null, unanswerable: false, ...fields },
    });
  const endpoint = await startModelEndpoint({
    models: [SIMULATED_MODEL],
    reply: async (body) => {
      const said = body.messages.map(({ content }) => content).join('\n');
      // An endpoint that quotes what it was sent: the failure of the search carries it.
      if (said.includes(REFUSED))
        return { fault: 'status', status: 400, error: { message: `cannot answer: ${REFUSED} (${NAME})` } };
      const turns = body.messages.filter(({ role }) => role === 'assistant').length;
      if (turns === 0) return act({ sql: `SELECT CAST(badge AS integer) AS ${SQL_MARK} FROM members` });
      if (turns === 1) return act({ sql: `SELECT name, badge AS ${SQL_MARK} FROM members WHERE place = '${PLACE}'` });
      reach();
      await released;
      const finalSql = `SELECT badge AS ${SQL_MARK} FROM members WHERE name = '${NAME}'`;
      return act({ action: 'end', tool: null, finalSql, answer: `${NAME} wears ${BADGE}` });
    },
  });
  return { endpoint, reached, release };
}

interface File {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Whatever lies below a folder, the configuration and the programs of others excepted. */
function everything(folder: string): File[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? [{ path: name, bytes: readFileSync(path) }] : [];
  });
}

/** `what in file`: as it is, in capitals or not, and as base64 at each of the three offsets. */
function found(files: readonly File[], planted: Readonly<Record<string, string>>): string[] {
  return Object.entries(planted).flatMap(([what, value]) =>
    files.flatMap(({ path, bytes }) => {
      const text = bytes.toString('latin1').toLowerCase();
      const plain = text.includes(Buffer.from(value).toString('latin1').toLowerCase());
      return plain || base64Forms(value).some((form) => bytes.includes(form)) ? [`${what} in ${path}`] : [];
    }),
  );
}

function base64Forms(value: string): string[] {
  return [0, 1, 2].map((offset) => {
    const text = Buffer.from('x'.repeat(offset) + value).toString('base64');
    return text.slice(offset === 0 ? 0 : offset + 1, -4);
  });
}

interface Lived {
  readonly home: GateHome;
  readonly middle: File[];
  readonly end: File[];
  readonly id: string;
  /** What the search in the foreground and the one in the background said on stderr. */
  readonly said: readonly string[];
  /** A batch's results and a report, which are written in plain where the user wants them. */
  readonly plain: File[];
}

/**
 * The whole programme of one user: a search looked at in its middle, a failing one, both again in the background, one of
 * the other method, a batch and a report.
 */
async function live(encryption: object | null): Promise<Lived> {
  const script = await scriptedModel();
  const home = user(script.endpoint.baseUrl, encryption);
  try {
    const asking = home.start(['ask', ASKED, '--db', 'club', '--method', 'react', '--json']);
    await Promise.race([script.reached, asking.ended.then(({ err }) => Promise.reject(new Error(err)))]);
    const middle = everything(home.folder);
    script.release();
    const { out, err } = await asking.ended;
    const record = JSON.parse(out) as { id: string; status: string; rows: unknown; report: string | null };
    expect({ err, ...record }).toMatchObject({ status: 'answered', rows: [[BADGE]] });
    const refused = await home.here(['ask', REFUSED, '--db', 'club', '--method', 'react']);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('cannot answer') as string });
    const background = await searchDetached(home);
    const elsewhere = testFolder();
    await searchWithPlans(home, elsewhere);
    expect(await home.here(['show', record.id, '--report', join(elsewhere, 'report.html')])).toMatchObject({ code: 0 });
    const plain = everything(elsewhere).filter(({ path }) => !path.endsWith('questions.jsonl'));
    return { home, middle, end: everything(home.folder), id: record.id, said: [err, background], plain };
  } finally {
    await home.here(['dev', '--stop']);
    await script.endpoint.close();
  }
}

/** By the worker that `--detach` leaves behind: one that is answered, one that fails and is logged. */
async function searchDetached(home: GateHome): Promise<string> {
  const detached = async (question: string): Promise<{ readonly id: string; readonly err: string }> => {
    const asked = ['ask', question, '--db', 'club', '--method', 'react', '--fresh', '--detach', '--json'];
    const { out, err } = await home.run(asked);
    return { id: (JSON.parse(out) as { id: string }).id, err };
  };
  const { id, err } = await detached(LATER);
  expect(await home.here(['show', id, '--wait'])).toMatchObject({
    code: 0,
    out: expect.stringContaining(BADGE) as string,
  });
  const refused = await detached(REFUSED);
  expect(await home.here(['show', refused.id, '--wait'])).toMatchObject({ code: 1 });
  return err;
}

/** One question alone, another in a batch whose files lie in `folder`. */
async function searchWithPlans(home: GateHome, folder: string): Promise<void> {
  const questions = [COUNTED, BATCHED].map((question) => ({
    ...{ id: question === COUNTED ? 'planted' : 'batched', engine: 'postgresql' as const, database: 'club', question },
    ...{ answerable: true, gold_sql: [`SELECT count(badge) AS ${SQL_MARK} FROM members WHERE place = '${PLACE}'`] },
  }));
  const model = await startSimulatedModel({
    questions,
    databases: [`club=${postgres.url('privacy_club')}`],
    rates: { doubt: 1, wrong: 0.5, failingSql: 0.3 },
  });
  try {
    const env = { OPENAI_BASE_URL: model.baseUrl, GATE_MODEL: SIMULATED_MODEL };
    const { code, err } = await home.here(['ask', COUNTED, '--db', 'club'], env);
    expect({ code, err }).toMatchObject({ code: 0 });
    const file = join(folder, 'questions.jsonl');
    writeFileSync(file, `${JSON.stringify(questions[1])}\n`);
    const batch = await home.here(['batch', 'run', file, '--db', 'club=club', '--out', join(folder, 'out')], env);
    expect(batch).toMatchObject({ code: 0 });
  } finally {
    await model.close();
  }
}

describe('with encryption on', () => {
  const first = { keys: [{ id: 'k1', env: 'TEST_KEY_1' }] };
  const rotated = {
    keys: [
      { id: 'k2', env: 'TEST_KEY_2' },
      { id: 'k1', env: 'TEST_KEY_1' },
    ],
  };
  const wrong = { keys: [{ id: 'k2', env: 'TEST_KEY_2' }] };
  let lived: Lived;
  beforeAll(async () => (lived = await live(first)));

  test('nothing planted is readable in any byte below the user’s folder, in the middle and after', () => {
    const { middle, end } = lived;
    // The server's database is among the files, and large enough to have been written to.
    for (const files of [middle, end]) {
      expect(files.some(({ path, bytes }) => /sqlite/.test(path) && bytes.includes('answerQuestion'))).toBe(true);
    }
    expect(end.some(({ path, bytes }) => path.startsWith('store/') && bytes.includes('gate-sealed 1 k1'))).toBe(true);
    expect(found(middle, { ...READABLE, ...SECRETS })).toEqual([]);
    expect(found(end, { ...READABLE, ...SECRETS })).toEqual([]);
    expect(found(end, { KEY: KEYS.first, HEX: KEYS.second })).toEqual([]);
  });

  test('the log of the background worker is among them, and so is what a batch stores', () => {
    const { end } = lived;
    const log = end.find(({ path }) => /workers\/club-[0-9a-f]{12}\.log$/.test(path));
    // It says that a step failed, not with what.
    expect(log?.bytes.toString()).toMatch(/Activity failed/);
    expect(end.some(({ path, bytes }) => path.startsWith('store/batches/') && bytes.includes('gate-sealed 1 k1'))).toBe(
      true,
    );
  });

  test('results of a batch and a report are plain where the user wants them, without any secret', () => {
    const { plain } = lived;
    expect(plain.map(({ path }) => path).sort()).toEqual([
      ...[
        'out/.gate-batch.lock',
        'out/report.html',
        'out/report.md',
        'out/results.jsonl',
        'out/summary.json',
        'report.html',
      ],
    ]);
    const readable = found(plain, READABLE);
    expect(readable).toEqual(expect.arrayContaining(['SQL_MARK in out/results.jsonl', 'BADGE in report.html']));
    expect(found(plain, { ...SECRETS, KEY: KEYS.first, HEX: KEYS.second })).toEqual([]);
  });

  test('after the link into the UI stands how it shows plain text', () => {
    for (const said of lived.said) {
      expect(said).toMatch(
        /Temporal UI .*\nEncrypted payloads are shown there in plain while gate ops codec-server runs \(http:\/\/127.0.0.1:8834\)\n/,
      );
    }
  });

  test('the commands show everything to whoever has the key', async () => {
    const { home, id } = lived;
    for (const view of [[], ['--trace']]) {
      const { code, out, err } = await home.here(['show', id, ...view]);
      expect({ view, code, err }).toMatchObject({ code: 0 });
      expect(out).toContain(BADGE);
    }
    const listed = await home.here(['list', '--json']);
    expect(listed.out).toContain(PLACE);
  });

  test.each([
    ['another key', wrong, 1],
    ['no key at all', null, 1],
  ])(
    'with %s, the answer, its trace, its report and its plan are one line that names the key, and nothing is lost',
    async (_what, encryption, code) => {
      const { home, id } = lived;
      configure(home, encryption);
      try {
        for (const view of [[], ['--trace'], ['--report', 'r.html'], ['--plan']]) {
          const ended = await home.here(['show', id, ...view]);
          expect({ view, ...ended }).toMatchObject({ view, code, out: '' });
          expect(ended.err).toMatch(/^gate: .*encrypted with key 'k1', which is not configured here: add it to .*\n$/);
          expect(ended.err.trim().split('\n')).toHaveLength(1);
        }
      } finally {
        configure(home, first);
      }
      expect((await home.here(['show', id])).out).toContain(BADGE);
    },
  );

  test('after a rotation old answers are read with the old key and new ones are written with the new', async () => {
    const { home, id } = lived;
    configure(home, rotated);
    try {
      expect((await home.here(['show', id])).out).toContain(BADGE);
      const { out } = await home.here(['doctor']);
      expect(out).toMatch(/encryption +on; key 'k2' encrypts, k1 only decrypts/);
    } finally {
      configure(home, first);
    }
  });
});

describe('with encryption off', () => {
  test('no secret is readable; row values are, in the store, which proves that this test can see them', async () => {
    const { end } = await live(null);
    expect(found(end, SECRETS)).toEqual([]);
    const store = end.filter(({ path }) => path.startsWith('store/'));
    expect(new Set(found(store, READABLE).map((line) => line.split(' ')[0]))).toEqual(new Set(Object.keys(READABLE)));
    const database = end.filter(({ path }) => /sqlite/.test(path));
    expect(found(database, { PLACE }).length).toBeGreaterThan(0);
  });
});
