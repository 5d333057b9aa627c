/**
 * Writes docs/cli.md and docs/gate-bench.md from the commands' own help, and the settings in docs/methods from their table, so that they cannot drift
 * (tests/unit/cli/docs.test.ts, tests/unit/config/method-docs.test.ts).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { benchDocs, cliDocs, methodSettings } from './generated-docs';

const docs = join(__dirname, '..', 'docs');
writeFileSync(join(docs, 'cli.md'), cliDocs());
writeFileSync(join(docs, 'gate-bench.md'), benchDocs());

const methods = join(docs, 'methods', 'README.md');
const [before = '', after = ''] = readFileSync(methods, 'utf8').split(
  /(?<=<!-- settings -->)[^]*(?=<!-- end of settings -->)/,
);
void format(`${before}\n\n${methodSettings()}\n${after}`, { parser: 'markdown', printWidth: 120 }).then((text) =>
  writeFileSync(methods, text),
);
