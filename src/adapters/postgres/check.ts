/**
 * Proves by trying that a session cannot write. It opens the same session as for statements of a search and attempts
 * writes without any parser before it, so that only the server can refuse them. Everything is rolled back in any case.
 * Then it reads which writing rights login and role have, and gives the statements that would revoke them.
 */
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { attempted, latencyOf, type DatabaseCheck, type WriteAttempt, type WritingRight } from '../kit/database-check';
import { identifier, literal } from '../kit/engine';
import type { Opening } from '../kit/module';
import { connect, readAddress, type GateClient } from './connection';
import { OF_USERS } from './describe';
import { toEngineError } from './errors';
import { PostgresSession } from './session';

type CheckedOpening = Pick<Opening, 'address' | 'role' | 'schemas'>;

const TIMEOUT_MS = 10_000;
/** SQLSTATEs: read-only transaction; insufficient privilege; the access mode can no longer be changed. */
const REFUSALS = ['25006', '42501', '25001'];

export async function checkPostgres({ address: url, role, schemas }: CheckedOpening): Promise<DatabaseCheck> {
  const address = readAddress(url);
  const startedMs = performance.now();
  const client = await connect(address);
  try {
    const connectMs = performance.now() - startedMs;
    const latencyMs = await latencyOf(() => client.query('SELECT 1'));
    const [facts] = (await client.query<Facts>(FACTS)).rows;
    if (facts === undefined) throw new SqlEngineError('connection', 'the server does not say what it is');
    const { version, tls, user, database } = facts;
    const session = new PostgresSession(client, { target: address.target, role, schemas, maxPlanCost: null });
    await session.begin({ timeoutMs: TIMEOUT_MS, tag: 'check' });
    await session.begun();
    const attempts = await attemptWrites(client);
    const effective = (await client.query<Facts>(FACTS)).rows[0]?.user ?? user;
    await client.query('ROLLBACK');
    const rights = [];
    for (const each of new Set([user, effective])) rights.push(...(await rightsOf(client, each, database, schemas)));
    const asWhom = effective === user ? user : `${user} as ${effective}`;
    return { version, tls, user: asWhom, connectMs, latencyMs, attempts, rights };
  } catch (error) {
    throw toEngineError(error, address.target);
  } finally {
    await client.end();
  }
}

interface Facts {
  readonly version: string;
  readonly tls: boolean;
  readonly user: string;
  readonly database: string;
}

const FACTS = `SELECT 'PostgreSQL ' || current_setting('server_version') AS version, current_user::text AS user, current_database()::text AS database,
  coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS tls`;

async function attemptWrites(client: GateClient): Promise<WriteAttempt[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND ${OF_USERS}
       AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
     ORDER BY has_table_privilege(c.oid, 'INSERT, DELETE') DESC, c.oid LIMIT 1`,
  );
  const name = rows.map((table) => `${identifier(table.schema)}.${identifier(table.name)}`)[0] ?? null;
  const onTable = [
    [`insert into ${name}`, `INSERT INTO ${name} DEFAULT VALUES`],
    [`delete from ${name}`, `DELETE FROM ${name} WHERE false`],
    [`empty ${name}`, `TRUNCATE ${name}`],
  ] as const;
  const statements = [
    ['create a table', 'CREATE TABLE gate_write_attempt (x integer)'],
    ['create a temporary table', 'CREATE TEMPORARY TABLE gate_write_attempt (x integer)'],
    ['leave read-only mode', 'SET TRANSACTION READ WRITE'],
    ['create a sequence', 'CREATE SEQUENCE gate_write_attempt'],
    ...(name === null ? [] : onTable),
  ] as const;
  return attempted(
    statements,
    (sql) => client.query(sql).finally(() => client.query('ROLLBACK TO SAVEPOINT gate')),
    verdict,
  );
}

function verdict(error: unknown): 'refused' | 'failed' {
  const { code = '' } = error as { code?: string };
  if (!/^[0-9A-Z]{5}$/.test(code) || code.startsWith('08') || code.startsWith('57P')) throw error;
  return REFUSALS.includes(code) ? 'refused' : 'failed';
}

/** The rights by which a role could write, each with the statement that revokes it. */
async function rightsOf(
  client: GateClient,
  role: string,
  database: string,
  wanted: readonly string[],
): Promise<WritingRight[]> {
  const { rows } = await client.query<WritingRight & { readonly reader: string[] | null }>(RIGHTS, [role, wanted]);
  return rows.map(({ what, fix, reader }) => ({
    what,
    fix: reader === null ? fix : readerStatements(database, reader),
  }));
}

/** A superuser has one right, and no other is told. `reader`: schemas for a reader of its own, which alone would help. */
const RIGHTS = `
  WITH own AS (SELECT * FROM pg_roles WHERE rolname = $1::name),
  schemas AS (
    SELECT n.nspname AS name, has_schema_privilege($1::name, n.oid, 'CREATE') AS creates,
      CASE WHEN has_schema_privilege('public', n.oid, 'CREATE') THEN 'PUBLIC' ELSE quote_ident($1::name) END AS from_whom,
      has_schema_privilege($1::name, n.oid, 'USAGE') AS usable, count(c.oid) AS tables,
      count(c.oid) FILTER (WHERE has_table_privilege($1::name, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) AS writable,
      count(c.oid) FILTER (WHERE pg_has_role($1::name, c.relowner, 'USAGE')) AS owned
    FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    WHERE ${OF_USERS} GROUP BY n.oid, n.nspname),
  rights(place, schema, what, fix, reader) AS (
    SELECT 0, NULL, 'is a superuser: it may do everything', NULL, CASE WHEN cardinality($2::text[]) > 0 THEN $2::text[] ELSE
      coalesce((SELECT array_agg(name::text ORDER BY name COLLATE "C") FROM schemas WHERE tables > 0), ARRAY['public']) END
    FROM own WHERE rolsuper
    UNION ALL SELECT 1, NULL, 'has ' || extra, format('ALTER ROLE %I NO%s;', $1::name, extra), NULL
    FROM own, unnest(ARRAY[CASE WHEN rolcreatedb THEN 'CREATEDB' END, CASE WHEN rolcreaterole THEN 'CREATEROLE' END,
      CASE WHEN rolreplication THEN 'REPLICATION' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END]) AS extra
    WHERE extra IS NOT NULL
    UNION ALL SELECT 2, NULL, 'may create schemas in ' || current_database(), format('REVOKE CREATE ON DATABASE %I FROM %s;', current_database(),
      CASE WHEN has_database_privilege('public', current_database(), 'CREATE') THEN 'PUBLIC' ELSE quote_ident($1::name) END), NULL
    WHERE has_database_privilege($1::name, current_database(), 'CREATE')
    UNION ALL SELECT 3, name, 'may create tables in the schema ' || name, format('REVOKE CREATE ON SCHEMA %I FROM %s;', name, from_whom), NULL
    FROM schemas WHERE usable AND creates
    UNION ALL SELECT 4, name, format('owns %s %s of the schema %s: an owner cannot be kept from writing', owned,
      CASE owned WHEN 1 THEN 'table' ELSE 'tables' END, name), NULL, ARRAY[name::text]
    FROM schemas WHERE usable AND owned > 0
    UNION ALL SELECT 4, name, format('may write to %s %s of the schema %s', writable, CASE writable WHEN 1 THEN 'table' ELSE 'tables' END, name),
      format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA %I FROM %I;', name, $1::name), NULL
    FROM schemas WHERE usable AND owned = 0 AND writable > 0)
  SELECT $1::name || ' ' || what AS what, fix, reader FROM rights
  WHERE place = 0 OR NOT (SELECT rolsuper FROM own) ORDER BY coalesce(schema, '') COLLATE "C", place`;

function readerStatements(database: string, schemas: readonly string[]): string {
  const names = schemas.map(identifier).join(', ');
  return [
    `CREATE ROLE gate_reader LOGIN PASSWORD ${literal('…')};`,
    `GRANT CONNECT ON DATABASE ${identifier(database)} TO gate_reader;`,
    `GRANT USAGE ON SCHEMA ${names} TO gate_reader;`,
    `GRANT SELECT ON ALL TABLES IN SCHEMA ${names} TO gate_reader; then log in as gate_reader`,
  ].join(' ');
}
