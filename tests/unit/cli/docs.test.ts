import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchDocs, cliDocs } from '../../../scripts/generated-docs';

test.each([
  ['cli.md', cliDocs],
  ['gate-bench.md', benchDocs],
])('docs/%s is what the commands say (npx tsx scripts/write-cli-docs.ts writes it)', (name, docs) => {
  expect(readFileSync(join(__dirname, '../../../docs', name), 'utf8')).toBe(docs());
});
