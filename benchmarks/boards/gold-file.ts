/** What BIRD and Spider share: a file of gold queries beside that of the questions, and a folder of SQLite databases. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BenchmarkDataError } from '../benchmark';
import { firstPath, textIn } from './files';
import { someOf } from '../../src/counted';

/**
 * The gold queries, a line `SQL<tab>database` for each question. The gold file decides where there is one, because it is what
 * the official scorer reads; else the queries `written` beside the questions.
 */
export async function pairedGolds(
  path: string | null,
  databases: readonly string[],
  questions: string,
  written: readonly (string | null)[],
): Promise<readonly (string | null)[]> {
  if (path === null) return written.map((sql) => (sql === '' ? null : sql));
  const lines = (await textIn(path)).trimEnd().split('\n');
  if (lines.length !== databases.length) {
    const counts = `${String(lines.length)} gold queries, but ${questions} has ${String(databases.length)} questions`;
    throw new BenchmarkDataError(`${path} has ${counts}: take both from the same release`);
  }
  return lines.map((line, at) => {
    const [sql = '', database, ...more] = line.trim().split('\t');
    const expected = databases[at] ?? '';
    if (database === expected && more.length === 0) return sql;
    const found = database === undefined || more.length > 0 ? 'is not "SQL<tab>database"' : `is for ${database}`;
    throw new BenchmarkDataError(
      `${path}, line ${String(at + 1)} ${found}, but question ${String(at)} is for ${expected}`,
    );
  });
}

/** The folder of the databases, `DB/DB.sqlite` each, in the first of these places. */
export function assureDatabases(folder: string, places: readonly string[], databases: readonly string[]): string {
  const root = firstPath(folder, ...places);
  const [usual = ''] = places;
  if (root === null)
    throw new BenchmarkDataError(`${folder} is incomplete: the folder ${usual} of databases is missing`);
  const missing = [...new Set(databases)].filter((name) => !existsSync(join(root, name, `${name}.sqlite`)));
  const [first = ''] = missing;
  if (missing.length === 0) return root;
  const place = join(first, `${first}.sqlite`);
  throw new BenchmarkDataError(
    `${root} is incomplete: ${place} is missing; databases without a file: ${someOf(missing)}`,
  );
}
