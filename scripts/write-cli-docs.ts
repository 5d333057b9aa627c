/** Writes docs/cli.md from the commands' own help, so that the two cannot drift (tests/unit/cli/docs.test.ts). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliDocs } from '../src/cli/docs';

writeFileSync(join(__dirname, '..', 'docs', 'cli.md'), cliDocs());
