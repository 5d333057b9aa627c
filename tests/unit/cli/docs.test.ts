import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchDocs, benchSchemas, cliDocs, jsonSchemas } from '../../../scripts/generated-docs';

const DOCS = join(__dirname, '../../../docs');

test.each([
  ['cli.md', cliDocs],
  ['gate-bench.md', benchDocs],
])('docs/%s is what the commands say (npx tsx scripts/write-cli-docs.ts writes it)', (name, docs) => {
  expect(readFileSync(join(DOCS, name), 'utf8')).toBe(docs());
});

test('docs/schemas is what the code reads and writes (npx tsx scripts/write-json-schemas.ts writes it)', () => {
  const kept = readdirSync(join(DOCS, 'schemas')).map((name) => [
    name,
    readFileSync(join(DOCS, 'schemas', name), 'utf8'),
  ]);
  expect(Object.fromEntries(kept)).toEqual({ ...jsonSchemas(), ...benchSchemas() });
});
