import type Database from 'libsql';
import { Compiler } from '../../../../src/adapters/sqlite/program';

/** Counts what is compiled; every statement has these columns. */
function compilerWith(columns: number): { compile(text: string, version?: string): void; compiled(): number } {
  let compiled = 0;
  const all = (): unknown[] => {
    compiled += 1;
    return [];
  };
  const database = { prepare: () => ({ raw: () => ({ all }) }), close: () => undefined };
  const compiler = new Compiler(() => database as unknown as Database.Database);
  const statement = {
    columns: () => Array.from({ length: columns }, (_, index) => ({ name: `column ${index}`, type: 'TEXT' })),
  } as unknown as Database.Statement;
  return {
    compile: (text, version = '1') => void compiler.compile(text, statement, version),
    compiled: () => compiled,
  };
}

test('a text is compiled once for each version of the schema', () => {
  const compiler = compilerWith(2);
  for (const version of ['1', '1', '2', '1']) compiler.compile('SELECT 1', version);
  expect(compiler.compiled()).toBe(3);
});

test('what is kept of statements with many columns is bounded', () => {
  const compiler = compilerWith(1000);
  for (let round = 0; round < 2; round += 1)
    for (let index = 0; index < 100; index += 1) compiler.compile(`SELECT ${index}`);
  expect(compiler.compiled()).toBe(200);
});
