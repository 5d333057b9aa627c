import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { loadConfig, type Config } from '../../../src/config';
import { codecEndpoint } from '../../../src/config';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'gate-keys-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const HEX = 'ab'.repeat(32);
const BASE64 = Buffer.alloc(32, 7).toString('base64');

function load(encryption: unknown, env: Record<string, string> = {}): Config {
  writeFileSync(join(folder, 'gate.config.json'), JSON.stringify({ encryption }));
  return loadConfig({ env: { HOME: folder, ...env }, cwd: folder });
}

test('keys come from variables and files, as base64 or hexadecimal, in the order given', () => {
  writeFileSync(join(folder, 'old.key'), `${HEX}\n`);
  const { encryption } = load(
    {
      keys: [
        { id: 'k2', env: 'NEW_KEY' },
        { id: 'k1', file: 'old.key' },
      ],
    },
    { NEW_KEY: BASE64 },
  );
  expect(encryption?.keys.map(({ id, key }) => [id, key.reveal().toString('hex')])).toEqual([
    ['k2', '07'.repeat(32)],
    ['k1', HEX],
  ]);
  expect(JSON.stringify(encryption) + inspect(encryption, { depth: 9 })).not.toMatch(/abab|BwcH|0707/);
});

test('without the setting nothing is encrypted', () => {
  expect(load(undefined).encryption).toBeNull();
});

test('the address of the codec server is taken as it is, without the slash at its end; else it is on this machine', () => {
  const keys = [{ id: 'k1', env: 'GOOD' }];
  const of = (codecServer?: string) => load({ keys, codecServer }, { GOOD: BASE64 }).encryption!;
  expect(codecEndpoint(of('https://codec.internal/gate/'))).toBe('https://codec.internal/gate');
  expect(of()).toMatchObject({ codecServer: null });
  expect(codecEndpoint(of())).toBe('http://127.0.0.1:8834');
  expect(() => of('codec.internal:8834')).toThrow(/encryption.codecServer: give a URL, for example http:\/\/127/);
});

test.each([
  [{ keys: [] }, /encryption.keys: give at least one key, or leave "encryption" out/],
  [{ keys: [{ id: 'k1' }] }, /keys.0 \('k1'\): set exactly one of env, file/],
  [{ keys: [{ id: 'k1', env: 'A', file: 'b' }] }, /set exactly one of env, file/],
  [{ keys: [{ id: 'k1', key: BASE64 }] }, /encryption.keys.0.key: unknown setting/],
  [{ keys: [{ id: 'k 1', env: 'A' }] }, /encryption.keys.0.id: use letters, digits/],
  [{ keys: [{ id: 'k1', env: 'UNSET' }] }, /set the variable UNSET; make one with: openssl rand -base64 32/],
  [{ keys: [{ id: 'k1', env: 'SHORT' }] }, /SHORT is not a key of 32 bytes in base64 or hexadecimal; make one with/],
  [{ keys: [{ id: 'k1', file: 'none.key' }] }, /cannot read .*none.key \(ENOENT\)/],
  [
    {
      keys: [
        { id: 'k1', env: 'GOOD' },
        { id: 'k1', env: 'GOOD' },
      ],
    },
    /keys.1 \('k1'\): this id is given twice/,
  ],
])('%j is one line', (encryption, line) => {
  expect(() => load(encryption, { SHORT: 'c2VjcmV0', GOOD: BASE64 })).toThrow(line);
  try {
    load(encryption, { SHORT: 'c2VjcmV0', GOOD: BASE64 });
  } catch (error) {
    expect((error as Error).message.split('\n')).toHaveLength(1);
    expect((error as Error).message).not.toContain('c2VjcmV0');
  }
});
