import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchSchemas, jsonSchemas } from '../../../scripts/generated-docs';

const FOLDER = join(__dirname, '../../../docs/schemas');

test('docs/schemas is what the code reads and writes (npx tsx scripts/write-json-schemas.ts writes it)', () => {
  const kept = Object.fromEntries(readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]));
  expect(kept).toEqual({ ...jsonSchemas(), ...benchSchemas() });
});
