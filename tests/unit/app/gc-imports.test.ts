import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { importFiles } from '../../../src/adapters/duckdb/files';
import { loadConfig } from '../../../src/config';
import { testProcess } from '../cli/test-io';

const here = testProcess();

test('an import of data files goes when no question has read it for as long', async () => {
  const csv = join(here.home, 'orders.csv');
  writeFileSync(csv, 'id,name\n1,Ann\n');
  const { cache } = loadConfig(here.io).folders;
  const { path } = await importFiles(csv, { cacheFolder: cache, signal: new AbortController().signal });
  const counts = async (...flags: readonly string[]): Promise<unknown> => {
    const { code, out } = await here.gate('ops', 'gc', '--older-than', '2d', '--json', ...flags);
    expect(code).toBe(0);
    return (JSON.parse(out) as { readonly imports: { readonly files: number } }).imports.files;
  };
  expect(await counts()).toBe(0);
  const old = new Date(here.io.now() - 3 * 86_400_000);
  utimesSync(join(dirname(path), 'report.json'), old, old);
  expect(await counts('--dry-run')).toBe(1);
  expect(existsSync(path)).toBe(true);
  expect(await counts()).toBe(1);
  expect(existsSync(dirname(path))).toBe(false);
});
