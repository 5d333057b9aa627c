import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { importFiles } from '../../../src/adapters/duckdb/files';
import { loadConfig } from '../../../src/config';
import { testProcess } from '../cli/test-io';

const here = testProcess();

const options = () => ({ cacheFolder: loadConfig(here.io).folders.cache, signal: new AbortController().signal });
const counts = async (...flags: readonly string[]): Promise<unknown> => {
  const { code, out } = await here.gate('ops', 'gc', '--older-than', '2d', '--json', ...flags);
  expect(code).toBe(0);
  return (JSON.parse(out) as { readonly imports: { readonly files: number } }).imports.files;
};
const threeDaysAgo = (): Date => new Date(here.io.now() - 3 * 86_400_000);

test('an import of data files goes when no question has read it for as long', async () => {
  const csv = join(here.home, 'orders.csv');
  writeFileSync(csv, 'id,name\n1,Ann\n');
  const { path } = await importFiles(csv, options());
  expect(await counts()).toBe(0);
  utimesSync(join(dirname(path), 'report.json'), threeDaysAgo(), threeDaysAgo());
  expect(await counts('--dry-run')).toBe(1);
  expect(existsSync(path)).toBe(true);
  expect(await counts()).toBe(1);
  expect(existsSync(dirname(path))).toBe(false);
});

test('what is left of an import that failed goes too, and is not counted as an import', async () => {
  const empty = join(here.home, 'empty.csv');
  writeFileSync(empty, '');
  await expect(importFiles(empty, options())).rejects.toThrow();
  const imports = join(options().cacheFolder, 'files');
  const folders = (): string[] => readdirSync(imports).filter((name) => !name.endsWith('.lock'));
  expect(folders()).toHaveLength(1);
  expect([await counts(), folders().length]).toEqual([0, 1]);
  utimesSync(join(imports, ...folders()), threeDaysAgo(), threeDaysAgo());
  expect([await counts(), folders().length]).toEqual([0, 0]);
});
