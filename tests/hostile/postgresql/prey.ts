/** The database that the corpus attacks, and a fingerprint of everything around it that a statement could have changed. */
import { readdirSync } from 'node:fs';
import type { Client } from 'pg';

/** `conn`: a connection string of a superuser, as dblink takes it. */
export function preySql(conn: string): string {
  const body = (language: string, text: string, more = ''): string =>
    `LANGUAGE ${language} ${more} AS $body$${text}$body$`;
  return `
  CREATE TABLE account (id int PRIMARY KEY, owner text NOT NULL, balance numeric NOT NULL DEFAULT 0);
  CREATE TABLE ledger (id serial PRIMARY KEY, account_id int REFERENCES account, amount numeric);
  INSERT INTO account VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'cai', 30);
  INSERT INTO ledger (account_id, amount) VALUES (1, 5), (1, 5), (2, 20);
  CREATE SEQUENCE ticket;
  CREATE MATERIALIZED VIEW totals AS SELECT account_id, sum(amount) AS amount FROM ledger GROUP BY 1;
  CREATE SCHEMA far;
  CREATE EXTENSION dblink; CREATE EXTENSION postgres_fdw; CREATE EXTENSION tablefunc; CREATE EXTENSION lo;
  CREATE EXTENSION pg_prewarm; CREATE EXTENSION pageinspect; CREATE EXTENSION fuzzystrmatch; CREATE EXTENSION pg_trgm;
  CREATE SERVER self FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'x');
  SELECT lo_from_bytea(4240, 'kept');
  CREATE FUNCTION noop() RETURNS trigger ${body('plpgsql', 'BEGIN RETURN NEW; END')};
  CREATE FUNCTION bump() RETURNS int ${body('plpgsql', 'BEGIN INSERT INTO ledger (account_id, amount) VALUES (1, 1); RETURN 1; END')};
  CREATE FUNCTION bump_as_owner() RETURNS int ${body('plpgsql', 'BEGIN UPDATE account SET balance = 0; RETURN 1; END', 'SECURITY DEFINER')};
  CREATE VIEW noisy AS SELECT a.*, bump_as_owner() FROM account a;
  CREATE FUNCTION next_ticket() RETURNS bigint ${body('sql', "SELECT nextval('ticket')", 'SECURITY DEFINER')};
  CREATE FUNCTION lock_up() RETURNS void ${body('sql', 'SELECT pg_advisory_lock(5)')};
  CREATE FUNCTION make_table() RETURNS int ${body('plpgsql', 'BEGIN CREATE TABLE evil (a int); RETURN 1; END', 'SECURITY DEFINER')};
  CREATE FUNCTION make_temp_table() RETURNS int ${body('plpgsql', 'BEGIN CREATE TEMP TABLE evil (a int); INSERT INTO evil VALUES (1); RETURN 1; END')};
  CREATE FUNCTION write_back() RETURNS int ${body('plpgsql', 'BEGIN SET LOCAL transaction_read_only = off; DELETE FROM ledger; RETURN 1; END', 'SECURITY DEFINER')};
  CREATE FUNCTION read_write() RETURNS int ${body('plpgsql', "BEGIN PERFORM set_config('transaction_read_only', 'off', true); DELETE FROM ledger; RETURN 1; END", 'SECURITY DEFINER')};
  CREATE FUNCTION swallow() RETURNS int ${body('plpgsql', 'BEGIN DELETE FROM ledger; RETURN 1; EXCEPTION WHEN OTHERS THEN RETURN 0; END', 'SECURITY DEFINER')};
  CREATE FUNCTION dynamic(command text) RETURNS int ${body('plpgsql', 'BEGIN EXECUTE command; RETURN 1; END')};
  CREATE FUNCTION back_again() RETURNS int ${body('plpgsql', 'BEGIN RESET ROLE; RETURN 1; END')};
  CREATE FUNCTION set_for_me(name text, value text) RETURNS text ${body('sql', 'SELECT set_config(name, value, true)')};
  CREATE FUNCTION mark_session() RETURNS text ${body('sql', "SELECT set_config('gate.mark', 'evil', false)")};
  CREATE FUNCTION wait_long() RETURNS void ${body('sql', 'SELECT pg_sleep(60)')};
  CREATE FUNCTION loop_for_ever() RETURNS int ${body('plpgsql', 'BEGIN LOOP END LOOP; END')};
  CREATE PROCEDURE pay(who int) ${body('sql', 'UPDATE account SET balance = balance - 1 WHERE id = who')};
  CREATE FUNCTION copy_out(path text) RETURNS int ${body('plpgsql', "BEGIN EXECUTE format('COPY account TO %L', path); RETURN 1; END")};
  CREATE FUNCTION program_out(command text) RETURNS int ${body('plpgsql', "BEGIN EXECUTE format('COPY account TO PROGRAM %L', command); RETURN 1; END")};
  CREATE FUNCTION program_as_owner(command text) RETURNS int ${body('plpgsql', "BEGIN EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', command); RETURN 1; END", 'SECURITY DEFINER')};
  CREATE FUNCTION through_another(command text) RETURNS int ${body('sql', 'SELECT program_as_owner(command)')};
  CREATE VIEW quiet_program AS SELECT id, program_as_owner('touch ' || '@OUT@/program') AS done FROM account;
  CREATE FUNCTION relay(command text) RETURNS text ${body('sql', `SELECT dblink_exec('${conn}', command)`)};
  CREATE FUNCTION far.relay_quietly(command text) RETURNS text ${body('sql', `SELECT public.dblink_exec('${conn}', command)`, 'SECURITY DEFINER')};
  GRANT USAGE ON SCHEMA far TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA public TO least;
  `;
}

/** Lines of `what: value`, so that a difference names itself. */
export async function fingerprint(admin: Client, folder: string): Promise<string[]> {
  const { rows: tables } = await admin.query<{ name: string; kind: string }>(
    `SELECT format('%I.%I', nspname, relname) AS name, relkind::text AS kind FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE relkind IN ('r', 'm', 'S') AND nspname !~ '^(pg_toast|information_schema)' ORDER BY 1`,
  );
  const lines = tables.map(({ name, kind }) =>
    kind === 'S'
      ? `SELECT '${name}: ' || last_value || is_called FROM ${name}`
      : `SELECT '${name}: ' || count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) FROM ${name} t`,
  );
  const found = await admin.query<{ line: string }>({
    text: [...lines, ...AROUND].join(' UNION ALL '),
    rowMode: 'array',
  } as never);
  return [
    ...(found.rows as unknown as [string | null][]).map(([line]) => line ?? 'null'),
    `folder: ${readdirSync(folder).join(',')}`,
  ];
}

const AROUND = [
  `SELECT 'schemas: ' || string_agg(nspname, ',' ORDER BY nspname) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'`,
  `SELECT 'settings: ' || sum(hashtextextended(name || setting || reset_val, 0)::numeric) FROM pg_settings`,
  `SELECT 'large objects: ' || coalesce(string_agg(convert_from(lo_get(oid), 'LATIN1'), ','), '') FROM pg_largeobject_metadata`,
  `SELECT 'slots: ' || coalesce(string_agg(slot_name, ','), '') FROM pg_replication_slots`,
  `SELECT 'prepared: ' || count(*) FROM pg_prepared_xacts`,
  `SELECT 'advisory locks: ' || count(*) FROM pg_locks WHERE locktype = 'advisory'`,
  `SELECT 'locked tables: ' || count(*) FROM pg_locks WHERE locktype = 'relation' AND pid <> pg_backend_pid()`,
  `SELECT 'busy sessions: ' || count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`,
  `SELECT 'statistics: ' || coalesce(stats_reset::text, 'never') FROM pg_stat_database WHERE datname = current_database()`,
  ...['.', 'pg_snapshots', 'pg_twophase', 'pg_replslot', 'pg_logical/snapshots'].map(
    (folder) => `SELECT '${folder}: ' || coalesce(string_agg(f, ',' ORDER BY f), '') FROM pg_ls_dir('${folder}') f`,
  ),
  ...['postgresql.conf', 'postgresql.auto.conf', 'pg_hba.conf'].map(
    (file) => `SELECT '${file}: ' || md5(pg_read_file('${file}'))`,
  ),
];
