import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type ConfigSource } from '../../../src/config';
import { openEmbedder } from '../../../src/workers/open-embedder';

const cwd = mkdtempSync(join(tmpdir(), 'gate-config-schema-'));
afterAll(() => rmSync(cwd, { recursive: true }));

function load(embeddings: unknown, env: ConfigSource['env'] = {}) {
  const schema = embeddings === undefined ? {} : { schema: { embeddings } };
  writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify(schema));
  return loadConfig({ cwd, env: { HOME: '/home/x', ...env }, platform: 'linux' });
}

test('without the setting nothing is embedded', () => {
  expect(load(undefined).embeddings).toBeNull();
  expect(openEmbedder(load(undefined))).toBeNull();
});

test('a model alone is asked at the endpoint of the models, with its key', () => {
  const { embeddings } = load({ model: 'text-embedding-3-small' });
  expect(embeddings).toMatchObject({ model: 'text-embedding-3-small', own: null, apiKeySource: 'OPENAI_API_KEY' });
  expect(embeddings).toMatchObject({ batchSize: 96, dimensions: null, requestTimeoutMs: 30_000 });
});

test('an endpoint of its own has a key of its own, from a variable or a file, that does not print', () => {
  const own = load({ model: 'm', baseUrl: 'http://127.0.0.1:11434/v1', apiKeyEnv: 'MINE' }, { MINE: 'k1' }).embeddings;
  expect(own?.own?.apiKey?.reveal()).toBe('k1');
  expect(own?.apiKeySource).toBe('MINE');
  expect(JSON.stringify(own)).not.toContain('k1');
  writeFileSync(join(cwd, 'key.txt'), 'k2\n');
  const file = load({ model: 'm', baseUrl: 'https://e.example/v1', apiKeyFile: 'key.txt' }).embeddings;
  expect(file?.own?.apiKey?.reveal()).toBe('k2');
  expect(load({ model: 'm', baseUrl: 'http://127.0.0.1:11434/v1' }, { OPENAI_API_KEY: 'k3' }).embeddings?.own?.apiKey).toBeNull(); // prettier-ignore
});

test.each([
  [{}, 'schema.embeddings.model'],
  [{ model: '' }, 'schema.embeddings.model'],
  [{ model: 'm', apiKey: 'inline' }, 'schema.embeddings.apiKey: unknown setting'],
  [{ model: 'm', apiKeyEnv: 'MINE' }, 'schema.embeddings: has a key but no baseUrl'],
  [{ model: 'm', baseUrl: 'http://u:p@127.0.0.1/' }, 'schema.embeddings.baseUrl: holds a password'],
  [{ model: 'm', baseUrl: 'ftp://127.0.0.1/' }, 'schema.embeddings.baseUrl'],
  [{ model: 'm', baseUrl: 'http://127.0.0.1/v1', apiKeyFile: 'nowhere.txt' }, 'schema.embeddings.apiKeyFile: cannot read'],
  [{ model: 'm', batchSize: 0 }, 'schema.embeddings.batchSize'],
  [{ model: 'm', dimensions: 1.5 }, 'schema.embeddings.dimensions'],
])('%j is a mistake that is named', (embeddings, message) => {
  expect(() => load(embeddings)).toThrow(message);
}); // prettier-ignore

test('what is closed ends what is under way', async () => {
  const config = load({ model: 'm', baseUrl: 'http://127.0.0.1:9/v1' });
  const opened = openEmbedder(config);
  const embedder = await opened?.embedder.open();
  opened?.close();
  const failed = embedder?.embed(['x'], { signal: new AbortController().signal });
  await expect(failed).rejects.toMatchObject({ name: 'ModelError', message: 'this process was stopped' });
});
