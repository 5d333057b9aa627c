/**
 * What a hostile statement can do to a SQLite file through this engine, and to the machine that reads it: nothing that
 * lasts. The corpus runs as the file's owner on a file that may be written; in the full run also behind the parser's fence,
 * and on a file that may not be written. Before and after each group the bytes of the file, its folder, a scratch folder, the working
 * directory and the temporary folder are compared; a difference is traced to its statement.
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import type { SqlResult } from '../../src/domain';
import type { SqlEngine } from '../../src/domain/ports/sql-engine';
import { runOne } from '../helpers/engine';
import { extent } from '../helpers/extent';
import { fill, type Group } from './corpus';
import { bombsEnd, byTechnique, eachOnce, hostileRun, traces } from './file-engine';
import { acts, bombs } from './sqlite/statements';

const TIMEOUT_MS = 250;
const folder = mkdtempSync(join(tmpdir(), 'gate-hostile-lite-'));
const home = join(folder, 'home');
const out = join(folder, 'out');
const original = join(folder, 'original.sqlite');

const PREY = `
  CREATE TABLE account (id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT, balance NUMERIC);
  CREATE TABLE ledger (id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES account, amount NUMERIC);
  INSERT INTO account (owner, balance) VALUES ('ann', 10), ('bob', 20), ('cai', 30);
  INSERT INTO ledger (account_id, amount) VALUES (1, 5), (1, 5), (2, 20);
  CREATE INDEX by_owner ON account (owner);
  CREATE TRIGGER watch AFTER UPDATE ON account BEGIN INSERT INTO ledger (amount) VALUES (1); END;
  CREATE VIEW noisy AS SELECT id, owner FROM account;
  CREATE TRIGGER noisy_write INSTEAD OF INSERT ON noisy BEGIN DELETE FROM account; END;
  CREATE VIEW leaky AS SELECT writefile('${join(out, 'written')}', 'x') AS a;
  CREATE VIEW reader AS SELECT * FROM fsdir('/');
  CREATE VIRTUAL TABLE notes USING fts5(body);
  INSERT INTO notes VALUES ('first note'), ('second note');
  CREATE VIRTUAL TABLE places USING rtree(id, x0, x1, y0, y1);
  INSERT INTO places VALUES (1, 0, 1, 0, 1);
`;
/** In a process of its own: a connection that made tables keeps locks until its process ends. */
const MAKE = 'const [, library, file, sql] = process.argv; new (require(library))(file).exec(sql);';

interface Way {
  readonly name: string;
  readonly fence: boolean;
  readonly writable: boolean;
}

/** A file that may be written, without the fence, allows most: the other ways are in `npm run test:full` only. */
const allWays: readonly Way[] = [
  { name: 'a file that may be written, without the fence', fence: false, writable: true },
  { name: 'a file that may be written, behind the fence', fence: true, writable: true },
  { name: 'a file that may not be written, without the fence', fence: false, writable: false },
];
const ways = allWays.slice(0, extent({ usual: 1, full: 3 }));

const fileOf = ({ writable }: Way): string => join(home, writable ? 'open.sqlite' : 'closed.sqlite');

beforeAll(() => {
  mkdirSync(home);
  mkdirSync(out);
  execFileSync(process.execPath, ['-e', MAKE, require.resolve('libsql'), original, PREY]);
  restore();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function restore(): void {
  for (const way of ways) {
    rmSync(fileOf(way), { force: true });
    copyFileSync(original, fileOf(way));
    chmodSync(fileOf(way), way.writable ? 0o644 : 0o444);
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
}

const look = (): string[] => traces(ways.map(fileOf), [home, out], /etilqs|evil|written/);

function open(way: Way): SqlEngine {
  const engine = createSqliteEngine({ path: fileOf(way), poolSize: 1 });
  return way.fence ? createGuardedEngine(engine, createSqliteInspector()) : engine;
}

const run = (engine: SqlEngine, way: Way, sql: string): Promise<SqlResult> =>
  hostileRun(engine, fill(sql, { OUT: out, FILE: fileOf(way) }), TIMEOUT_MS);

async function culprits(engine: SqlEngine, way: Way, { statements }: Group): Promise<string[]> {
  const found: string[] = [];
  for (const sql of statements) {
    restore();
    const before = look();
    const { kind } = await run(engine, way, sql);
    const changed = look().filter((line, index) => line !== before[index]);
    if (changed.length > 0) found.push(`${sql} (${kind}) changed ${changed.join('; ')}`);
  }
  restore();
  return found;
}

eachOnce([...acts, ...bombs], 300);

/** Techniques of which nothing gives rows. */
const NEVER = new Set([
  'plain writes',
  'CTEs before writes',
  'structure',
  'transactions',
  'other files',
  'pragmas',
  'multiple statements',
]);

describe.each(ways)('$name', (way) => {
  let engine: SqlEngine;
  beforeAll(() => {
    engine = open(way);
  });
  afterAll(() => engine.close());

  test.each(byTechnique(acts))('%s: refused or harmless', async (technique, one) => {
    const before = look();
    const answered: string[] = [];
    for (const sql of one.statements) if ((await run(engine, way, sql)).kind === 'rows') answered.push(sql);
    if (look().some((line, index) => line !== before[index]))
      throw new Error((await culprits(engine, way, one)).join('\n'));
    if (NEVER.has(technique)) expect(answered).toEqual([]);
    // What a statement left in its connection would show here.
    const left =
      'SELECT (SELECT count(*) FROM account), (SELECT sum(amount) FROM ledger), (SELECT count(*) FROM notes)';
    expect(await runOne(engine, left)).toMatchObject({ rows: [[3, 30, 2]] });
  });
});

describe.each(ways.filter(({ writable, fence }) => writable && !fence))('$name', (way) => {
  bombsEnd(bombs, { open: () => open(way), run: (engine, sql) => run(engine, way, sql), look, timeoutMs: TIMEOUT_MS });
});
