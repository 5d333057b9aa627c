import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkWeb } from '../../../src/app/question-input';
import { loadConfig, type ConfigSource } from '../../../src/config';

const cwd = mkdtempSync(join(tmpdir(), 'gate-config-web-'));
afterAll(() => rmSync(cwd, { recursive: true }));

function load(web: unknown, env: ConfigSource['env'] = {}) {
  writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify({ web }));
  return loadConfig({ cwd, env: { HOME: '/home/x', ...env }, platform: 'linux' });
}

test('without the setting there is no web', () => {
  expect(load(undefined).web).toBeNull();
});

test("a key comes from the provider's variable, another one, or a file, and does not print", () => {
  const tavily = load({ provider: 'tavily' }, { TAVILY_API_KEY: 'k1' }).web;
  expect(tavily).toMatchObject({ provider: 'tavily', baseUrl: null, fix: null });
  expect(tavily?.apiKey?.reveal()).toBe('k1');
  expect(JSON.stringify(tavily)).not.toContain('k1');
  expect(load({ provider: 'brave', apiKeyEnv: 'MINE' }, { MINE: 'k2' }).web?.apiKey?.reveal()).toBe('k2');
  writeFileSync(join(cwd, 'key.txt'), 'k3\n');
  expect(load({ provider: 'brave', apiKeyFile: 'key.txt' }).web?.apiKey?.reveal()).toBe('k3');
});

test('a key that is missing is an error only when the web is asked for', () => {
  const config = load({ provider: 'tavily' });
  expect(config.web?.fix).toBe('set TAVILY_API_KEY, or web.apiKeyFile in the configuration');
  expect(() => checkWeb(config, {})).not.toThrow();
  expect(() => checkWeb(config, { web: true })).toThrow('--web: tavily needs a key; set TAVILY_API_KEY');
});

test('how many lookups a search may make stands in the configuration, or is left to the default', () => {
  expect(load({ provider: 'searxng', baseUrl: 'http://127.0.0.1:8080', lookups: 3 }).web?.lookups).toBe(3);
  expect(load({ provider: 'searxng', baseUrl: 'http://127.0.0.1:8080' }).web?.lookups).toBeNull();
  expect(() => load({ provider: 'tavily', lookups: 0 })).toThrow('web.lookups');
});

test('SearXNG needs no key, and everybody else no address', () => {
  const config = load({ provider: 'searxng', baseUrl: 'http://127.0.0.1:8080' });
  expect(config.web).toMatchObject({ apiKey: null, fix: null, baseUrl: 'http://127.0.0.1:8080' });
  expect(() => checkWeb(config, { web: true })).not.toThrow();
});

test.each([
  [{ provider: 'searxng' }, 'web.baseUrl: SearXNG has no address of its own'],
  [{ provider: 'google' }, 'web.provider'],
  [{ provider: 'tavily', apiKey: 'inline' }, 'web.apiKey: unknown setting'],
  [{ provider: 'brave', apiKeyFile: 'nowhere.txt' }, 'web.apiKeyFile: cannot read'],
  [{ provider: 'searxng', baseUrl: 'http://u:p@127.0.0.1/' }, 'web.baseUrl: holds a password'],
  [{ provider: 'searxng', baseUrl: 'ftp://127.0.0.1/' }, 'web.baseUrl'],
])('%j is a mistake that is named', (web, message) => {
  expect(() => load(web)).toThrow(message);
});
