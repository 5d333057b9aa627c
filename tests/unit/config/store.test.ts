import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type ConfigSource } from '../../../src/config';
import { embeddedPlace, storeLocation, type StoreConfig } from '../../../src/config/store';

const cwd = mkdtempSync(join(tmpdir(), 'gate-config-store-'));
afterAll(() => rmSync(cwd, { recursive: true }));

function load(store: unknown, env: ConfigSource['env'] = {}): StoreConfig {
  writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify({ store }));
  return loadConfig({ cwd, env: { HOME: '/home/x', ...env }, platform: 'linux' }).store;
}

const S3 = { kind: 's3', bucket: 'my-bucket', prefix: '', endpoint: null, region: null, credentials: null };

test('without a setting the store is in the data folder of the user', () => {
  expect(load({})).toEqual({ kind: 'directory', directory: '/home/x/.local/share/gate/store' });
});

test('GATE_STORE is a folder or a bucket with a prefix', () => {
  expect(load({}, { GATE_STORE: 'here' })).toEqual({ kind: 'directory', directory: join(cwd, 'here') });
  expect(load({}, { GATE_STORE: 's3://my-bucket' })).toMatchObject(S3);
  expect(load({}, { GATE_STORE: 's3://my-bucket/team/gate/' })).toMatchObject({ ...S3, prefix: 'team/gate' });
});

test.each(['a-file', join('a-file', 'below', 'it')])('a store at %s, where a file is, is refused', (path) => {
  writeFileSync(join(cwd, 'a-file'), 'text');
  const says = `GATE_STORE: ${join(cwd, 'a-file')} is a file; a store is a folder`;
  expect(() => load({}, { GATE_STORE: path })).toThrow(says);
  expect(() => load({ directory: path }, {})).toThrow(/store\.directory: .*a-file is a file; a store is a folder/);
});

test('GATE_STORE replaces bucket and prefix of the file and keeps its endpoint', () => {
  const file = { s3: { bucket: 'other', prefix: 'p', endpoint: 'http://127.0.0.1:7070', region: 'eu-west-1' } };
  expect(load(file)).toMatchObject({ bucket: 'other', prefix: 'p', region: 'eu-west-1' });
  expect(load(file, { GATE_STORE: 's3://my-bucket/q' })).toMatchObject({
    ...{ bucket: 'my-bucket', prefix: 'q' },
    endpoint: 'http://127.0.0.1:7070',
  });
});

test('endpoint, region, profile and key come from the variables of AWS tools', () => {
  const env = {
    GATE_STORE: 's3://my-bucket',
    AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'hush',
  };
  const store = load({}, env);
  expect(store).toMatchObject({ endpoint: 'http://127.0.0.1:1', region: 'eu-central-1' });
  if (store.kind !== 's3') throw new Error('no bucket');
  expect(store.credentials?.()).toEqual({ accessKeyId: 'id', secretAccessKey: 'hush' });
  expect(JSON.stringify(store)).not.toContain('hush');
  expect(storeLocation(store)).toBe('s3://my-bucket at http://127.0.0.1:1');
});

test('the file may name other variables for the key, and a profile before all variables', () => {
  const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', MINE_ID: 'c', MINE_KEY: 'd' };
  const own = load({ s3: { bucket: 'my-bucket', accessKeyIdEnv: 'MINE_ID', secretAccessKeyEnv: 'MINE_KEY' } }, env);
  expect(own.kind === 's3' && own.credentials?.()).toEqual({ accessKeyId: 'c', secretAccessKey: 'd' });
  const profile = load({ s3: { bucket: 'my-bucket', profile: 'work' } }, env);
  expect(profile).toMatchObject({ profile: 'work', credentials: null });
});

test.each<[string, unknown, Record<string, string>, string]>([
  ['another scheme', {}, { GATE_STORE: 'gs://x/y' }, "GATE_STORE: 'gs://x/y' is not a store; give a folder or s3://"],
  ['no bucket', {}, { GATE_STORE: 's3://' }, "GATE_STORE: 's3://' is not a store; give a folder or s3://BUCKET/PREFIX"],
  ['a bucket that cannot be', {}, { GATE_STORE: 's3://Big_One' }, 'use 3 to 63 lower-case letters'],
  ['both kinds', { directory: 'a', s3: { bucket: 'abc' } }, {}, 'store: set directory or s3, not both'],
  [
    'a key in the file',
    { s3: { bucket: 'abc', secretAccessKey: 'x' } },
    {},
    'store.s3.secretAccessKey: unknown setting',
  ],
  ['a variable that is not set', { s3: { bucket: 'abc', accessKeyIdEnv: 'NO_ID' } }, {}, 'set the variables NO_ID and'],
  ['a prefix that climbs', { s3: { bucket: 'abc', prefix: '../x' } }, {}, "store: '../x' is not a valid prefix"],
  ['an endpoint that is no URL', {}, { GATE_STORE: 's3://abc', AWS_ENDPOINT_URL_S3: 'nine' }, "'nine' is not a URL"],
  ['a negative retention', { retentionDays: -1 }, {}, 'store.retentionDays'],
])('%s is one line that says what is allowed', (_claim, store, env, line) => {
  expect(() => load(store, env)).toThrow(line);
});

test('a password in GATE_STORE is not repeated', () => {
  expect(() => load({}, { GATE_STORE: 'http://me:hush@host/x' })).toThrow("'http://***@host/x' is not a store");
});

test('the embedded server lies with its store, and that of a bucket in the state folder', () => {
  const homeOf = (env: ConfigSource['env']) =>
    embeddedPlace(loadConfig({ cwd, env: { HOME: '/home/x', ...env }, platform: 'linux' })).home;
  writeFileSync(join(cwd, 'gate.config.json'), '{}');
  expect(homeOf({ XDG_STATE_HOME: '/other' })).toBe('/home/x/.local/share/gate/store/.temporal');
  expect(homeOf({ XDG_DATA_HOME: '/data' })).toBe('/data/gate/store/.temporal');
  expect(homeOf({ GATE_STORE: 'here' })).toBe(join(cwd, 'here', '.temporal'));
  expect(homeOf({ GATE_STORE: 's3://my-bucket' })).toMatch(/^\/home\/x\/\.local\/state\/gate\/temporal\/\w{12}$/);
  expect(homeOf({ GATE_STORE: 's3://my-bucket/2' })).not.toBe(homeOf({ GATE_STORE: 's3://my-bucket' }));
});
