import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliDocs } from '../../../src/cli/docs';

test('docs/cli.md is what the commands say (npx tsx scripts/write-cli-docs.ts writes it)', () => {
  expect(readFileSync(join(__dirname, '../../../docs/cli.md'), 'utf8')).toBe(cliDocs());
});
