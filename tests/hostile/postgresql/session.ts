/** Statements that would outlive their transaction in the session, and statements that only look like a SELECT. */
import { group, type Group } from '../corpus';

export const session: readonly Group[] = [
  group('settings', String.raw`
    SET work_mem = '1GB'
    SET LOCAL transaction_read_only = off
    SET SESSION transaction_read_only = off
    SET default_transaction_read_only = off
    SET SESSION AUTHORIZATION postgres
    SET ROLE postgres
    SET ROLE NONE
    RESET ROLE
    RESET ALL
    RESET SESSION AUTHORIZATION
    SET TIME ZONE 'Mars'
    SET search_path = evil
    SET CONSTRAINTS ALL DEFERRED
    SET standard_conforming_strings = off
    SHOW ALL
    SELECT set_config('transaction_read_only', 'off', false)
    SELECT set_config('transaction_read_only', 'off', true), (SELECT bump())
    SELECT set_config('default_transaction_read_only', 'off', false)
    SELECT set_config('statement_timeout', '0', false)
    SELECT set_config('statement_timeout', '0', false), pg_sleep(30)
    SELECT set_config('role', 'postgres', false)
    SELECT set_config('role', 'none', false), query_to_xml('DELETE FROM account', true, true, '')
    SELECT set_config('session_authorization', 'postgres', false)
    SELECT set_config('search_path', 'evil', false)
    SELECT set_config('application_name', 'innocent', false)
    SELECT set_config('log_statement', 'none', false)
    SELECT set_config('session_replication_role', 'replica', false)
    SELECT set_config('gate.mark', 'evil', false)
    SELECT pg_catalog.set_config('gate.mark', 'evil', false) FROM account
    SELECT "set_config"('gate.mark', 'evil', false)
    SELECT U&"set\005fconfig"('gate.mark', 'evil', false)
    SELECT setseed(0.5)
    SELECT set_limit(0.1)
    SELECT isn_weak(true)
    UPDATE pg_settings SET setting = '1' WHERE name = 'work_mem'`),
  group('prepared statements and cursors', String.raw`
    PREPARE evil AS DELETE FROM account
    PREPARE evil AS SELECT 1
    EXECUTE evil
    DEALLOCATE ALL
    DECLARE evil CURSOR WITH HOLD FOR SELECT * FROM account
    DECLARE evil CURSOR FOR SELECT * FROM account
    FETCH ALL FROM gate_cursor
    MOVE FORWARD ALL IN gate_cursor
    CLOSE ALL
    EXPLAIN ANALYZE DELETE FROM account
    EXPLAIN (ANALYZE) INSERT INTO account VALUES (99, 'eve', 1)
    EXPLAIN ANALYZE WITH x AS (DELETE FROM account RETURNING *) SELECT * FROM x
    EXPLAIN ANALYZE EXECUTE evil
    EXPLAIN ANALYZE CREATE TABLE evil AS SELECT 1
    EXPLAIN SELECT 1
    EXPLAIN (ANALYZE, BUFFERS) SELECT bump()
    CALL pay(1)
    DO 'BEGIN DELETE FROM account; END'
    DO $$ BEGIN DELETE FROM account; COMMIT; END $$
    DO LANGUAGE plpgsql $$ BEGIN PERFORM pg_sleep(10); END $$`),
  group('sequences', String.raw`
    SELECT nextval('ticket')
    SELECT nextval('ticket'::regclass) FROM generate_series(1, 10)
    SELECT setval('ticket', 1)
    SELECT setval('ticket', 1000, false)
    SELECT pg_catalog.nextval('public.ticket')
    SELECT * FROM account WHERE id = nextval('ticket')
    SELECT (SELECT nextval('ticket'))
    SELECT max(nextval('ticket')) FROM account
    SELECT nextval(oid) FROM pg_class WHERE relkind = 'S'
    SELECT "nextval"('ticket')
    SELECT lastval()`),
  group('locks', String.raw`
    SELECT * FROM account FOR UPDATE
    SELECT * FROM account FOR NO KEY UPDATE
    SELECT * FROM account FOR SHARE
    SELECT * FROM account FOR KEY SHARE SKIP LOCKED
    SELECT * FROM (SELECT * FROM account FOR UPDATE) s
    WITH x AS (SELECT * FROM account FOR UPDATE NOWAIT) SELECT * FROM x
    SELECT 1 WHERE EXISTS (SELECT 1 FROM account FOR SHARE)
    SELECT pg_advisory_lock(1)
    SELECT pg_advisory_lock(1, 2)
    SELECT pg_advisory_lock_shared(1)
    SELECT pg_advisory_lock(id) FROM account
    SELECT pg_advisory_xact_lock(1)
    SELECT pg_advisory_xact_lock_shared(1)
    SELECT pg_try_advisory_lock(1)
    SELECT pg_try_advisory_xact_lock(1)
    SELECT pg_advisory_unlock_all()
    SELECT pg_catalog."pg_advisory_lock"(7)`),
  group('functions and views of the database', String.raw`
    SELECT bump()
    SELECT bump_as_owner()
    SELECT * FROM noisy
    SELECT count(*) FROM noisy
    SELECT * FROM account WHERE bump() > 0
    SELECT a.*, bump_as_owner() FROM account a
    SELECT sum(bump()) OVER () FROM account
    SELECT * FROM ROWS FROM (bump()) AS t
    SELECT * FROM account ORDER BY bump()
    SELECT make_table()
    SELECT make_temp_table()
    SELECT write_back()
    SELECT read_write()
    SELECT swallow()
    SELECT dynamic('DELETE FROM account')
    SELECT dynamic('COMMIT')
    SELECT dynamic('SET ROLE postgres')
    SELECT dynamic('CREATE TEMP TABLE evil (a int)')
    SELECT dynamic('NOTIFY news, ''evil''')
    SELECT dynamic('LISTEN news')
    SELECT dynamic('LOCK TABLE account IN ACCESS EXCLUSIVE MODE')
    SELECT dynamic('PREPARE evil AS SELECT 1')
    SELECT dynamic('ALTER SYSTEM SET work_mem = ''1GB''')
    SELECT dynamic('SET SESSION gate.mark = ''evil''')
    SELECT dynamic('RESET ROLE'), dynamic('COPY (SELECT 1) TO PROGRAM ''touch @OUT@/program''')
    SELECT dynamic('SET ROLE NONE'), program_out('touch @OUT@/program')
    SELECT back_again(), program_out('touch @OUT@/program')
    SELECT set_for_me('role', 'none'), copy_out('@OUT@/copied')
    SELECT dynamic('SET SESSION AUTHORIZATION DEFAULT'), dynamic('SELECT lo_export(4240, ''@OUT@/exported'')')
    SELECT mark_session()
    SELECT next_ticket()
    SELECT lock_up()
    SELECT program_as_owner('touch @OUT@/program')
    SELECT * FROM quiet_program
    SELECT count(*) FROM (SELECT * FROM quiet_program) q
    SELECT through_another('touch @OUT@/program')
    SELECT a.id FROM account a WHERE far.relay_quietly('DELETE FROM ledger') IS NULL`),
  group('queries given as text', String.raw`
    SELECT query_to_xml('DELETE FROM account', true, true, '')
    SELECT query_to_xml('SELECT bump()', true, true, '')
    SELECT query_to_xml_and_xmlschema('SELECT nextval(''ticket'')', true, true, '')
    SELECT table_to_xml('noisy', true, true, '')
    SELECT schema_to_xml('public', true, true, '')
    SELECT database_to_xml(true, true, '')
    SELECT cursor_to_xml('gate_cursor', 10, true, true, '')
    SELECT * FROM ts_stat('SELECT to_tsvector(''a'') FROM noisy')
    SELECT ts_rewrite('a'::tsquery, 'SELECT bump()::text::tsquery, ''b''::tsquery')
    SELECT * FROM crosstab('SELECT bump(), 1, 1') AS t(a int, b int)
    SELECT * FROM connectby('account', 'id', 'id', '1', 0) AS t(a int, b int, c int)
    SELECT * FROM xpath_table('id', 'owner', 'account', '/', 'true') AS t(a int)`),
]; // prettier-ignore
