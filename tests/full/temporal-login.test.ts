/** Temporal Cloud and clusters of one's own: TLS, client certificates and API keys, by Temporal's own settings. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { createAuthority, type Authority, type Certificate } from '../helpers/certificates';
import { freePort } from '../helpers/free-port';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { testFolder, testTemporal, unique } from '../helpers/temporal';
import { openDoor, type DoorOptions, type TemporalDoor } from '../helpers/temporal-proxy';

const KEY = 'a-key-of-the-cloud';
let data: TestData;
let model: SimulatedModel;
let ours: Authority;
let theirs: Authority;
let server: Certificate;
let client: Certificate;
let home: GateHome;

beforeAll(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases });
  const folder = testFolder();
  ours = createAuthority(folder, 'ours');
  theirs = createAuthority(folder, 'theirs');
  server = ours.issue('server', 'localhost');
  client = ours.issue('client', 'worker');
  home = gateHome({ baseUrl: model.baseUrl, env: { TEMPORAL_ADDRESS: undefined } });
});
afterAll(async () => {
  await model.close();
  data.close();
});

async function withDoor(options: Partial<DoorOptions>, work: (door: TemporalDoor) => Promise<void>): Promise<void> {
  const door = await openDoor({ certificate: server, ...options });
  try {
    await work(door);
  } finally {
    await door.close();
  }
}

/** The environment of a user whose `temporal.toml` has this profile. */
function profile(lines: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const file = join(home.folder, `${unique('temporal')}.toml`);
  const toml = Object.entries(lines).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
  writeFileSync(file, `[profile.default]\n${toml.join('')}`);
  return { TEMPORAL_CONFIG_FILE: file };
}

const mutual = (door: TemporalDoor, more: object = {}): NodeJS.ProcessEnv =>
  profile({
    address: door.address,
    'tls.server_ca_cert_path': ours.cert,
    'tls.client_cert_path': client.cert,
    'tls.client_key_path': client.key,
    ...more,
  });

/** A user of their own: an answer in the store would be given without Temporal. */
async function answers(env: NodeJS.ProcessEnv): Promise<void> {
  const user = gateHome({ baseUrl: model.baseUrl, env: { TEMPORAL_ADDRESS: undefined } });
  const question = ['How many drivers are there?', '--db', data.databases[0]?.split('=')[1] ?? ''];
  expect(await user.ask(question, env)).toMatchObject({ code: 0, status: 'answered' });
}

/** One line of a command that needs Temporal. */
async function says(env: NodeJS.ProcessEnv): Promise<string> {
  const { code, out, err } = await home.here(['ops', 'temporal', 'setup'], env);
  expect({ code, out }).toEqual({ code: expect.any(Number) as number, out: '' });
  expect(code).not.toBe(0);
  expect(err).toMatch(/^gate: [^\n]+\n$/);
  return err;
}

test('with a client certificate of the right authority a question is asked and worked on', () =>
  withDoor({ clientAuthority: ours.cert }, async (door) => {
    await answers(mutual(door));
    expect(door.calls()).toBeGreaterThan(5);
  }));

test('with an API key a question is asked and worked on', () =>
  withDoor({ apiKey: KEY }, async (door) => {
    await answers(profile({ address: door.address, api_key: KEY, 'tls.server_ca_cert_path': ours.cert }));
    expect(door.calls()).toBeGreaterThan(5);
  }));

test('a profile is chosen by its name, and variables come before it', () =>
  withDoor({ apiKey: KEY }, async (door) => {
    const file = join(home.folder, 'two.toml');
    writeFileSync(file, `[profile.cloud]\naddress = "${door.address}"\napi_key = "old"\n`);
    const env = {
      ...{ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'cloud', TEMPORAL_API_KEY: KEY },
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: ours.cert,
    };
    expect(await home.here(['ops', 'temporal', 'setup'], env)).toMatchObject({ code: 0 });
    const chosen = await home.here(['ops', 'temporal', 'setup'], { ...env, TEMPORAL_PROFILE: 'clod' });
    expect(chosen).toMatchObject({ code: 2, err: expect.stringContaining("Profile 'clod' not found") as string });
  }));

describe('one line says what to change', () => {
  test('no client certificate', () =>
    withDoor({ clientAuthority: ours.cert }, async (door) => {
      const env = profile({ address: door.address, 'tls.server_ca_cert_path': ours.cert });
      expect(await says(env)).toMatch(
        /localhost:\d+ wants a client certificate .*: set client_cert_path and client_key_path/,
      );
    }));

  test('an expired client certificate, by its date', () =>
    withDoor({ clientAuthority: ours.cert }, async (door) => {
      const { cert, key } = ours.issue('expired', 'worker', -1);
      const env = mutual(door, { 'tls.client_cert_path': cert, 'tls.client_key_path': key });
      expect(await says(env)).toMatch(
        /client certificate for Temporal expired on \w+ +\d+ .* 20\d\d GMT: renew client_cert_path/,
      );
    }));

  test('a client certificate of another authority', () =>
    withDoor({ clientAuthority: ours.cert }, async (door) => {
      const { cert, key } = theirs.issue('stranger', 'worker');
      const env = mutual(door, { 'tls.client_cert_path': cert, 'tls.client_key_path': key });
      expect(await says(env)).toContain('refuses the client certificate');
    }));

  test('a client key of another certificate, a file that is no certificate, a certificate without its key', () =>
    withDoor({ clientAuthority: ours.cert }, async (door) => {
      for (const wrong of [{ 'tls.client_key_path': server.key }, { 'tls.client_cert_path': client.key }])
        expect(await says(mutual(door, wrong))).toMatch(
          /client certificate or its key for Temporal cannot be used \(.+\): correct client_cert_path/,
        );
      const half = profile({ address: door.address, 'tls.client_cert_path': client.cert });
      expect(await says(half)).toContain('a client certificate needs its key');
      const none = mutual(door, { 'tls.client_key_path': join(home.folder, 'none.key') });
      expect(await says(none)).toMatch(/temporal.toml or TEMPORAL_\*: ENOENT.*none\.key/);
    }));

  test('an expired certificate of the server', () =>
    withDoor({ certificate: ours.issue('old', 'localhost', -1) }, async (door) => {
      expect(await says(mutual(door))).toMatch(
        /the certificate of Temporal at localhost:\d+ has expired: renew it on the server/,
      );
    }));

  test('a certificate for another host, until its name is given', () =>
    withDoor({ certificate: ours.issue('elsewhere', 'temporal.internal') }, async (door) => {
      expect(await says(mutual(door))).toMatch(
        /is for temporal\.internal: correct TEMPORAL_ADDRESS, or set server_name/,
      );
      const named = mutual(door, { 'tls.server_name': 'temporal.internal' });
      expect(await home.here(['ops', 'temporal', 'setup'], named)).toMatchObject({ code: 0 });
    }));

  test('an authority that is not trusted', () =>
    withDoor({}, async (door) => {
      const line = await says(profile({ address: door.address, 'tls.server_name': 'localhost' }));
      expect(line).toMatch(/is signed by an unknown authority: name it in server_ca_cert_path/);
    }));

  test('a wrong API key, and none', () =>
    withDoor({ apiKey: KEY }, async (door) => {
      const tls = { address: door.address, 'tls.server_ca_cert_path': ours.cert };
      const wrong = await says(profile({ ...tls, api_key: 'wrong-key' }));
      expect(wrong).toMatch(/localhost:\d+ refuses the API key \(unknown key\): correct or renew it: TEMPORAL_API_KEY/);
      expect(wrong).not.toContain('wrong-key');
      expect(await says(profile(tls))).toMatch(/wants a login \(unknown key\): set an API key/);
    }));

  test('a wrong API key at a gateway that tells anybody its version, for each command', () =>
    withDoor({ apiKey: KEY, open: ['GetSystemInfo'] }, async (door) => {
      const env = profile({ address: door.address, 'tls.server_ca_cert_path': ours.cert, api_key: 'wrong-key' });
      const on = ['--db', data.databases[0]?.split('=')[1] ?? ''];
      const question = ['ask', 'How many drivers are there?', ...on];
      for (const command of [
        ['ops', 'temporal', 'setup'],
        ['ops', 'worker', ...on],
        question,
        [...question, '--detach'],
      ]) {
        const { code, out, err } = await home.here(command, env);
        expect({ code, out }).toEqual({ code: 1, out: '' });
        expect(err).toMatch(/refuses the API key \(unknown key\): correct or renew it: TEMPORAL_API_KEY.*\n$/);
      }
      const list = await home.here(['list'], env);
      expect(list.err).toMatch(/refuses the API key \(unknown key\): showing what the store holds/);
    }));

  test('a gateway that tells anybody its version and answers nothing else', () =>
    withDoor({ apiKey: KEY, open: ['GetSystemInfo'], silent: true }, async (door) => {
      const env = profile({ address: door.address, 'tls.server_ca_cert_path': ours.cert, api_key: 'wrong-key' });
      expect(await says(env)).toMatch(/no Temporal answers at localhost:\d+: start it, or correct TEMPORAL_ADDRESS/);
    }));

  test('of a worker whose API key is refused later: in its log and in /readyz', () =>
    withDoor({ apiKey: KEY }, async (door) => {
      const env = profile({ address: door.address, 'tls.server_ca_cert_path': ours.cert, api_key: KEY });
      const port = String(await freePort());
      const on = ['--db', data.databases[0]?.split('=')[1] ?? ''];
      const worker = home.start(['ops', 'worker', ...on, '--health-port', port], env);
      await worker.said(/Ctrl-C stops/);
      const health = `http://127.0.0.1:${port}`;
      const ready = async () => {
        const response = await fetch(`${health}/readyz`);
        return `${String(response.status)} ${await response.text()}`;
      };
      // A Temporal that takes more than a second to answer is not ready either.
      const until = async (said: RegExp): Promise<void> => {
        while (!said.test(await ready())) await sleep(20);
      };
      await until(/^200 ok\n$/);
      door.revoke();
      await until(/^503 Temporal at localhost:\d+ refuses the API key \(unknown key\)\n$/);
      await worker.said(/refuses the API key \(unknown key\): correct or renew it: TEMPORAL_API_KEY.*goes on trying/);
      worker.child.kill('SIGTERM');
      expect((await worker.ended).code).toBe(0);
    }));

  test('TLS where the server has none, and none where it wants it', async () => {
    const plain = await says({ TEMPORAL_ADDRESS: testTemporal().address, TEMPORAL_API_KEY: KEY });
    expect(plain).toContain('does not speak TLS');
    await withDoor({}, async (door) => {
      expect(await says({ TEMPORAL_ADDRESS: door.address })).toMatch(/localhost:\d+ wants TLS: set TEMPORAL_TLS=true/);
    });
  });

  test('a settings file that is not there or cannot be read', async () => {
    expect(await says({ TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml' })).toContain('no file /nowhere/temporal.toml');
    const file = join(home.folder, 'broken.toml');
    writeFileSync(file, '[profile.default\n');
    expect(await says({ TEMPORAL_CONFIG_FILE: file })).toContain('temporal.toml or TEMPORAL_*: Invalid TOML');
  });

  test('the store is shown all the same', () =>
    withDoor({ clientAuthority: ours.cert }, async (door) => {
      const list = await home.here(['list'], profile({ address: door.address, 'tls.server_ca_cert_path': ours.cert }));
      expect(list).toMatchObject({ code: 0, err: expect.stringContaining('wants a client certificate') as string });
      expect(list.err).toContain('showing what the store holds');
    }));
});
