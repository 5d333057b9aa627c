import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { methodSettings } from '../../../scripts/generated-docs';
import { METHODS } from '../../../src/config/method-specs';

const folder = join(__dirname, '../../../docs/methods');
const index = readFileSync(join(folder, 'README.md'), 'utf8');

test('the settings of docs/methods are those of the code (npx tsx scripts/write-cli-docs.ts writes them)', () => {
  const table = /<!-- settings -->\n\n([^]*)\n<!-- end of settings -->/.exec(index)?.[1] ?? '';
  const cells = (text: string) =>
    text.split('\n').map((row) => row.split('|').map((cell) => cell.trim().replace(/-+$/, '')));
  expect(cells(table)).toEqual(cells(methodSettings()));
});

test.each(Object.keys(METHODS))('method %s has a section that the index names', (method) => {
  const anchor = /\[`(.*)`\]\(#(.*)\)/;
  const sections = new Map(
    index.split('\n').flatMap((line) => (anchor.exec(line) ? [anchor.exec(line)!.slice(1)] : [])) as [string, string][],
  );
  const headings = [...index.matchAll(/^## (.*)$/gm)].map(([, title]) =>
    title!.toLowerCase().replace(/[`,]/g, '').replaceAll(' ', '-'),
  );
  expect(headings).toContain(sections.get(method));
});
