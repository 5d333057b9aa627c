/** Checks of the layer on real databases: counted again after every write, and only then. */
import Database from 'libsql';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createPostgresEngine, createPostgresInspector } from '../../src/adapters/postgres';
import { createMemoryStore, scriptedModel } from '../helpers/scripted';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import type { SqlEngine, SqlInspector } from '../../src/domain/ports';
import { sha256 } from '../../src/sha256';
import { openStep } from '../../src/roles/shared/context';
import { storeInput } from '../../src/record/run-store';
import { runChecks } from '../../src/roles/layer/recall';
import { startPostgres, type TestPostgres } from '../helpers/postgres';
import { searchInput } from '../unit/roles/fixtures';

const SETUP = 'CREATE TABLE sale (amount integer); INSERT INTO sale VALUES (300), (500), (150);';
const CHECKS = ['SELECT count(*) AS n FROM sale', 'SELECT sum(amount) AS n FROM sale'];

interface Opened {
  readonly engine: SqlEngine;
  readonly inspector: SqlInspector;
  readonly write: (sql: string) => Promise<void>;
}

let postgres: TestPostgres;
const folder = mkdtempSync(join(tmpdir(), 'gate-checks-'));
beforeAll(async () => {
  // A server of its own: the revision of rows moves with every write on the server, another test's too.
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const OPEN: Readonly<Record<'sqlite' | 'postgresql', () => Promise<Opened>>> = {
  sqlite: async () => {
    const path = join(folder, 'shop.sqlite');
    const write = async (sql: string): Promise<void> => {
      const database = new Database(path);
      database.exec(sql);
      database.close();
    };
    await write(SETUP);
    return { engine: createSqliteEngine({ path }), inspector: createSqliteInspector(), write };
  },
  postgresql: async () => {
    await postgres.createDatabase('counted_shop', SETUP);
    const write = async (sql: string): Promise<void> => {
      const client = new Client({ connectionString: postgres.url('counted_shop') });
      await client.connect();
      await client.query(sql).finally(() => client.end());
    };
    const engine = createPostgresEngine({ url: postgres.url('counted_shop'), options: postgres.laidDown });
    return { engine, inspector: await createPostgresInspector(), write };
  },
};

test.each(['sqlite', 'postgresql'] as const)(
  '%s: a check runs once while no row changes, and again after a write',
  async (dialect) => {
    const { engine, inspector, write } = await OPEN[dialect]();
    const ran: string[][] = [];
    const deps = {
      store: createMemoryStore(),
      hash: sha256,
      clock: { now: () => 1_000 },
      models: () => scriptedModel({ replies: {} }),
      engine: async () => ({
        inspector,
        engine: {
          ...engine,
          run: (...[statements, options]: Parameters<SqlEngine['run']>) => {
            ran.push([...statements]);
            return engine.run(statements, options);
          },
        },
      }),
    };
    const input = searchInput();
    await storeInput(deps, input);
    const context = await openStep(deps, { searchId: input.searchId, position: 'prepare' });
    const revision = async () => (await engine.dataRevision?.({ signal: context.signal })) ?? null;
    const counts = async (checks = CHECKS) => {
      const { results, usage } = await runChecks(context, checks, await revision());
      return {
        counts: results.map((result) => (result.kind === 'rows' ? Number(result.rows[0]?.[0]) : result.kind)),
        ran: usage.sqlExecutions ?? 0,
      };
    };

    expect(await counts(CHECKS.slice(1))).toEqual({ counts: [950], ran: 1 });
    expect(await counts()).toEqual({ counts: [3, 950], ran: 1 });
    expect(await counts()).toEqual({ counts: [3, 950], ran: 0 });
    await write('INSERT INTO sale VALUES (50)');
    expect(await counts()).toEqual({ counts: [4, 1000], ran: 2 });
    expect(ran).toEqual([[CHECKS[1]], [CHECKS[0]], CHECKS]);
    // A check that failed is not remembered, and without a revision every check runs.
    expect(await counts(['SELECT no_such FROM sale'])).toMatchObject({ counts: ['sql-error'], ran: 1 });
    expect(await counts(['SELECT no_such FROM sale'])).toMatchObject({ counts: ['sql-error'], ran: 1 });
    const { usage } = await runChecks(context, CHECKS, null);
    expect(usage.sqlExecutions).toBe(2);
    await engine.close();
  },
);
