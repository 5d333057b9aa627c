/**
 * Proves by trying that a session cannot write. It opens the same session as for statements of a search and attempts
 * writes without any parser before it, so that only the server can refuse them. Everything is rolled back in any case.
 * Then it reads which writing rights login and role have, and gives the statements that would revoke them.
 */
import { SqlEngineError } from '../../domain/ports/sql-engine';
import type { DatabaseCheck, WriteAttempt, WritingRight } from '../database-check';
import { identifier, literal } from '../results';
import { connected, GateClient, readAddress } from './connection';
import { OF_USERS } from './describe';
import { toEngineError } from './errors';
import { Transaction } from './transaction';
import { counted } from '../../counted';

export interface PostgresCheckSettings {
  readonly url: string;
  readonly role: string | null;
  readonly schemas: readonly string[];
}

const CONNECT_TIMEOUT_MS = 10_000;
const TIMEOUT_MS = 10_000;
/** SQLSTATEs: read-only transaction; insufficient privilege; the access mode can no longer be changed. */
const REFUSALS = ['25006', '42501', '25001'];

export async function checkPostgres({ url, role, schemas }: PostgresCheckSettings): Promise<DatabaseCheck> {
  const address = readAddress(url, CONNECT_TIMEOUT_MS);
  const startedMs = performance.now();
  const client = await connected(address, async (config) => {
    const opened = new GateClient(config);
    await opened.connect();
    return opened;
  });
  try {
    const connectMs = performance.now() - startedMs;
    const latencyMs = await latency(client);
    const facts = await factsOf(client);
    await new Transaction(client, { timeoutMs: TIMEOUT_MS, tag: 'check', role, schemas }).begin();
    const attempts = await attemptWrites(client);
    const effective = await currentUser(client);
    await client.query('ROLLBACK');
    const rights = [
      ...(await rightsOf(client, facts.user, facts.database, schemas)),
      ...(effective === facts.user ? [] : await rightsOf(client, effective, facts.database, schemas)),
    ];
    const { version, tls, user } = facts;
    const asWhom = effective === user ? user : `${user} as ${effective}`;
    return { version, tls, user: asWhom, connectMs, latencyMs, attempts, rights };
  } catch (error) {
    throw toEngineError(error, address.target);
  } finally {
    await client.end();
  }
}

async function latency(client: GateClient): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) {
    const startedMs = performance.now();
    await client.query('SELECT 1');
    best = Math.min(best, performance.now() - startedMs);
  }
  return best;
}

interface Facts {
  readonly version: string;
  readonly tls: boolean;
  readonly user: string;
  readonly database: string;
}

async function factsOf(client: GateClient): Promise<Facts> {
  const { rows } = await client.query<Facts>(
    `SELECT 'PostgreSQL ' || current_setting('server_version') AS version, current_user::text AS user, current_database()::text AS database,
       coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS tls`,
  );
  const [facts] = rows;
  if (facts === undefined) throw new SqlEngineError('connection', 'the server does not say what it is');
  return facts;
}

async function currentUser(client: GateClient): Promise<string> {
  const { rows } = await client.query<{ user: string }>('SELECT current_user::text AS user');
  return rows[0]?.user ?? '';
}

async function attemptWrites(client: GateClient): Promise<WriteAttempt[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND ${OF_USERS}
       AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
     ORDER BY has_table_privilege(c.oid, 'INSERT, DELETE') DESC, c.oid LIMIT 1`,
  );
  const [table] = rows;
  const name = table === undefined ? null : `${identifier(table.schema)}.${identifier(table.name)}`;
  const statements: [string, string][] = [
    ['create a table', 'CREATE TABLE gate_write_attempt (x integer)'],
    ['create a temporary table', 'CREATE TEMPORARY TABLE gate_write_attempt (x integer)'],
    ['leave read-only mode', 'SET TRANSACTION READ WRITE'],
    ['create a sequence', 'CREATE SEQUENCE gate_write_attempt'],
    ...(name === null
      ? []
      : ([
          [`insert into ${name}`, `INSERT INTO ${name} DEFAULT VALUES`],
          [`delete from ${name}`, `DELETE FROM ${name} WHERE false`],
          [`empty ${name}`, `TRUNCATE ${name}`],
        ] satisfies [string, string][])),
  ];
  const attempts: WriteAttempt[] = [];
  for (const [what, sql] of statements) {
    attempts.push({ what, ...(await attempt(client, sql)) });
    await client.query('ROLLBACK TO SAVEPOINT gate');
  }
  return attempts;
}

async function attempt(client: GateClient, sql: string): Promise<Pick<WriteAttempt, 'outcome' | 'message'>> {
  try {
    await client.query(sql);
    return { outcome: 'went-through', message: 'it was executed, and rolled back' };
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    if (!/^[0-9A-Z]{5}$/.test(code) || code.startsWith('08') || code.startsWith('57P')) throw error;
    return { outcome: REFUSALS.includes(code) ? 'refused' : 'failed', message };
  }
}

interface RightsRow {
  readonly superuser: boolean;
  readonly extras: string[];
  readonly on_database: boolean;
  readonly from_public: boolean;
}

interface SchemaRow {
  readonly schema: string;
  readonly creates: boolean;
  readonly by_public: boolean;
  readonly writable: string;
  readonly owned: string;
}

/** The rights by which a role could write, each with the statement that revokes it. */
async function rightsOf(
  client: GateClient,
  role: string,
  database: string,
  wanted: readonly string[],
): Promise<WritingRight[]> {
  const who = identifier(role);
  const { rows } = await client.query<RightsRow>(RIGHTS, [role]);
  const [own] = rows;
  if (own === undefined) return [];
  if (own.superuser) {
    const readable = wanted.length > 0 ? wanted : await schemasWithTables(client);
    return [
      {
        what: `${role} is a superuser: it may do everything`,
        fix: `${readerStatements(database, readable)} then log in as gate_reader`,
      },
    ];
  }
  const rights = own.extras.map((extra) => ({ what: `${role} has ${extra}`, fix: `ALTER ROLE ${who} NO${extra};` }));
  if (own.on_database)
    rights.push({
      what: `${role} may create schemas in ${database}`,
      fix: `REVOKE CREATE ON DATABASE ${identifier(database)} FROM ${own.from_public ? 'PUBLIC' : who};`,
    });
  const { rows: schemas } = await client.query<SchemaRow>(SCHEMA_RIGHTS, [role]);
  return [...rights, ...schemas.flatMap((row) => rightsIn(row, role, database))];
}

function rightsIn({ schema, creates, by_public, writable, owned }: SchemaRow, role: string, database: string) {
  const who = identifier(role);
  const name = identifier(schema);
  const rights: WritingRight[] = [];
  if (creates)
    rights.push({
      what: `${role} may create tables in the schema ${schema}`,
      fix: `REVOKE CREATE ON SCHEMA ${name} FROM ${by_public ? 'PUBLIC' : who};`,
    });
  if (Number(owned) > 0)
    rights.push({
      what: `${role} owns ${counted(Number(owned), 'table')} of the schema ${schema}: an owner cannot be kept from writing`,
      fix: `${readerStatements(database, [schema])} then log in as gate_reader`,
    });
  else if (Number(writable) > 0)
    rights.push({
      what: `${role} may write to ${counted(Number(writable), 'table')} of the schema ${schema}`,
      fix: `REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA ${name} FROM ${who};`,
    });
  return rights;
}

const RIGHTS = `
  SELECT rolsuper AS superuser, array_remove(ARRAY[CASE WHEN rolcreatedb THEN 'CREATEDB' END, CASE WHEN rolcreaterole THEN 'CREATEROLE' END,
      CASE WHEN rolreplication THEN 'REPLICATION' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END]::text[], NULL) AS extras,
    has_database_privilege(rolname, current_database(), 'CREATE') AS on_database,
    has_database_privilege('public', current_database(), 'CREATE') AS from_public
  FROM pg_roles WHERE rolname = $1`;

const SCHEMA_RIGHTS = `
  SELECT n.nspname AS schema, has_schema_privilege($1, n.oid, 'CREATE') AS creates, has_schema_privilege('public', n.oid, 'CREATE') AS by_public,
    count(c.oid) FILTER (WHERE has_table_privilege($1, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))::text AS writable,
    count(c.oid) FILTER (WHERE pg_has_role($1, c.relowner, 'USAGE'))::text AS owned
  FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  WHERE ${OF_USERS} AND has_schema_privilege($1, n.oid, 'USAGE')
  GROUP BY n.oid, n.nspname ORDER BY n.nspname COLLATE "C"`;

async function schemasWithTables(client: GateClient): Promise<string[]> {
  const { rows } = await client.query<{ schema: string }>(
    `SELECT n.nspname AS schema FROM pg_namespace n
     WHERE ${OF_USERS}
       AND EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f'))
     ORDER BY n.nspname COLLATE "C"`,
  );
  return rows.length === 0 ? ['public'] : rows.map(({ schema }) => schema);
}

function readerStatements(database: string, schemas: readonly string[]): string {
  const names = schemas.map(identifier).join(', ');
  return [
    `CREATE ROLE gate_reader LOGIN PASSWORD ${literal('…')};`,
    `GRANT CONNECT ON DATABASE ${identifier(database)} TO gate_reader;`,
    `GRANT USAGE ON SCHEMA ${names} TO gate_reader;`,
    `GRANT SELECT ON ALL TABLES IN SCHEMA ${names} TO gate_reader;`,
  ].join(' ');
}
