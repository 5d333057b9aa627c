import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readableSecrets } from '../../../src/cli/doctor-secrets';

const folder = mkdtempSync(join(tmpdir(), 'gate-secrets-'));
chmodSync(folder, 0o755);
const at = (name: string): string => join(folder, name);
writeFileSync(at('open'), 'postgresql://u:hunter2@h/d', { mode: 0o644 });
writeFileSync(at('closed'), 'x', { mode: 0o600 });
writeFileSync(
  at('gate.config.json'),
  JSON.stringify({
    databases: { a: { urlFile: './open' }, b: { urlFile: 'closed' }, c: { urlFile: 'none' }, d: { path: 'open' } },
    models: { apiKeyFile: 'closed' },
    encryption: { keys: [{ id: 'k', file: 'open' }] },
  }),
);

test('a secret that every user may read is a note with what to do, once, and its text is not shown', () => {
  expect(readableSecrets(at('gate.config.json'), 'linux')).toEqual([
    {
      ...{ what: 'secrets', state: 'note', fix: `chmod 600 '${at('open')}'` },
      detail: `every user of this machine may read ${at('open')}`,
    },
  ]);
});

test('a closed folder keeps its files, and what cannot be looked at is passed over', () => {
  mkdirSync(at('private'), { mode: 0o700 });
  writeFileSync(at('private/key'), 'x', { mode: 0o644 });
  symlinkSync('loop', at('loop'));
  writeFileSync(
    at('other.json'),
    JSON.stringify({ models: { apiKeyFile: 'private/key' }, web: { apiKeyFile: 'loop' } }),
  );
  expect(readableSecrets(at('other.json'), 'linux')).toEqual([]);
});

test('there is nothing to say without a file, and where modes mean nothing', () => {
  expect(readableSecrets(null, 'linux')).toEqual([]);
  expect(readableSecrets(at('gate.config.json'), 'win32')).toEqual([]);
});
