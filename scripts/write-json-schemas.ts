/** Writes docs/schemas from the schemas in the code, so that the two cannot drift (tests/unit/cli/json-schemas.test.ts). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchSchemas, jsonSchemas } from './generated-docs';

for (const [name, text] of Object.entries({ ...jsonSchemas(), ...benchSchemas() }))
  writeFileSync(join(__dirname, '..', 'docs', 'schemas', name), text);
