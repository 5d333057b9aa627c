import { readFileSync } from 'node:fs';
import { testTemporal } from '../helpers/temporal';

const bundle = () => readFileSync(testTemporal().bundle.codePath, 'utf8');
/** Webpack names each module by its path. */
const modules = () => [...new Set([...bundle().matchAll(/"(\.\/[^"\n]+\.[jt]s)"/g)].map(([, path]) => path ?? ''))];

test('the workflow bundle holds the control loop and no library or adapter', () => {
  const names = modules();
  expect(names.some((name) => name.endsWith('src/search/search.ts'))).toBe(true);
  expect(
    names.filter((name) => /node_modules\/(zod|openai|pg|libsql|libpg-query|sql-parser-cst)\//.test(name)),
  ).toEqual([]);
  expect(
    names.filter((name) => /src\/(adapters|activities|roles|record|schema|config|workers|cli|report)\//.test(name)),
  ).toEqual([]);
});

test('the workflow bundle without its source map stays below 1.2 MB', () => {
  const code = bundle().replace(/\/\/# sourceMappingURL=.*/s, '');
  expect(Buffer.byteLength(code)).toBeLessThan(1_200_000);
});

test('the bundle carries an empty source map: each worker would parse a whole one', () => {
  const [, encoded = ''] = bundle().split('sourceMappingURL=data:application/json;charset=utf-8;base64,').slice(-2);
  const map = JSON.parse(Buffer.from(encoded, 'base64').toString()) as Record<string, unknown>;
  expect(map).toMatchObject({ version: 3, sources: [], mappings: '' });
});
