/** Statements that change data, structure or settings of a PostgreSQL database, plainly or inside a query. */
import { group, type Group } from '../corpus';

export const writes: readonly Group[] = [
  group('plain writes', String.raw`
    INSERT INTO account VALUES (99, 'eve', 1)
    INSERT INTO account SELECT id + 100, owner, balance FROM account
    INSERT INTO account (id, owner, balance) VALUES (1, 'x', 0) ON CONFLICT (id) DO UPDATE SET balance = 0
    UPDATE account SET balance = 0
    UPDATE ONLY account SET balance = balance * 2 WHERE id = 1 RETURNING *
    DELETE FROM account
    DELETE FROM account USING ledger WHERE ledger.account_id = account.id
    TRUNCATE account CASCADE
    TRUNCATE TABLE ONLY ledger RESTART IDENTITY
    MERGE INTO account a USING ledger l ON l.account_id = a.id WHEN MATCHED THEN DELETE
    COPY account FROM STDIN
    COPY account FROM '/etc/passwd'
    SELECT * INTO account_copy FROM account
    SELECT * INTO TEMP account_copy FROM account
    CREATE TABLE account_copy AS TABLE account
    CREATE TABLE account_copy AS SELECT * FROM account WITH NO DATA
    VALUES (1), (2); DELETE FROM account
    TABLE account; DROP TABLE account`),
  group('data-modifying CTEs', String.raw`
    WITH gone AS (DELETE FROM account RETURNING *) SELECT * FROM gone
    WITH x AS (INSERT INTO account VALUES (99, 'eve', 1) RETURNING id) SELECT count(*) FROM x
    WITH x AS (UPDATE account SET balance = 0 RETURNING *) TABLE x
    WITH a AS (SELECT 1), b AS (DELETE FROM ledger RETURNING 1) SELECT * FROM a, b
    WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3), d AS (DELETE FROM account RETURNING 1) SELECT * FROM t
    WITH x AS MATERIALIZED (DELETE FROM account RETURNING *) SELECT 1
    WITH x AS NOT MATERIALIZED (UPDATE account SET owner = 'eve' RETURNING *) SELECT 1
    SELECT * FROM (WITH x AS (DELETE FROM account RETURNING *) SELECT * FROM x) s
    SELECT (WITH x AS (DELETE FROM account RETURNING 1 AS one) SELECT max(one) FROM x)
    SELECT 1 WHERE EXISTS (WITH x AS (DELETE FROM account RETURNING 1) SELECT 1 FROM x)
    WITH a AS (WITH b AS (DELETE FROM account RETURNING *) SELECT * FROM b) SELECT * FROM a
    WITH x AS (SELECT 1) INSERT INTO account SELECT 99, 'eve', 1 FROM x
    WITH x AS (SELECT id FROM account) DELETE FROM account USING x WHERE x.id = account.id
    WITH x AS (MERGE INTO account a USING ledger l ON l.account_id = a.id WHEN MATCHED THEN DELETE RETURNING *) SELECT 1
    VALUES ((WITH x AS (DELETE FROM account RETURNING 1 AS one) SELECT one FROM x LIMIT 1))
    SELECT * FROM account UNION (WITH x AS (DELETE FROM account RETURNING *) SELECT * FROM x)`),
  group('structure', String.raw`
    CREATE TABLE evil (a int)
    CREATE UNLOGGED TABLE evil (a int)
    CREATE TEMP TABLE evil (a int)
    CREATE TEMPORARY TABLE pg_temp.evil AS SELECT 1
    CREATE SCHEMA evil
    CREATE VIEW evil AS SELECT 1
    CREATE OR REPLACE TEMP VIEW account AS SELECT 1 AS id
    CREATE MATERIALIZED VIEW evil AS SELECT 1
    REFRESH MATERIALIZED VIEW totals
    CREATE INDEX ON account (owner)
    CREATE SEQUENCE evil
    CREATE TYPE evil AS ENUM ('a')
    CREATE DOMAIN evil AS int
    CREATE FUNCTION evil() RETURNS int LANGUAGE sql AS 'SELECT 1'
    CREATE PROCEDURE evil() LANGUAGE sql AS 'DELETE FROM account'
    CREATE TRIGGER evil BEFORE INSERT ON account FOR EACH ROW EXECUTE FUNCTION noop()
    CREATE EVENT TRIGGER evil ON ddl_command_start EXECUTE FUNCTION noop()
    CREATE RULE evil AS ON SELECT TO account DO INSTEAD SELECT 1
    CREATE POLICY evil ON account USING (false)
    CREATE EXTENSION IF NOT EXISTS hstore
    CREATE STATISTICS evil ON id, owner FROM account
    CREATE PUBLICATION evil FOR ALL TABLES
    CREATE AGGREGATE evil (int) (sfunc = int4pl, stype = int)
    CREATE OPERATOR === (leftarg = int, rightarg = int, function = int4eq)
    CREATE COLLATION evil (locale = 'C')
    CREATE DATABASE evil
    CREATE TABLESPACE evil LOCATION '@OUT@'
    ALTER TABLE account ADD COLUMN evil int
    ALTER TABLE account DISABLE TRIGGER ALL
    ALTER TABLE account RENAME TO accounts
    ALTER SEQUENCE ticket RESTART
    ALTER VIEW noisy RENAME TO quiet
    ALTER FUNCTION bump() SECURITY INVOKER
    ALTER DATABASE @DB@ SET work_mem = '1GB'
    ALTER INDEX account_pkey RENAME TO evil
    ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC
    DROP TABLE account CASCADE
    DROP TABLE IF EXISTS account, ledger CASCADE
    DROP SCHEMA public CASCADE
    DROP FUNCTION bump()
    DROP OWNED BY CURRENT_USER CASCADE
    DROP DATABASE @DB@ WITH (FORCE)
    COMMENT ON TABLE account IS 'evil'
    SECURITY LABEL ON TABLE account IS 'evil'
    REASSIGN OWNED BY CURRENT_USER TO postgres
    IMPORT FOREIGN SCHEMA public FROM SERVER self INTO public`),
  group('roles and grants', String.raw`
    CREATE ROLE evil SUPERUSER LOGIN
    CREATE USER evil PASSWORD 'x'
    ALTER ROLE CURRENT_USER SUPERUSER
    ALTER USER postgres PASSWORD 'evil'
    ALTER ROLE postgres SET search_path = evil
    ALTER ROLE ALL SET statement_timeout = 0
    DROP ROLE least
    GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC
    GRANT postgres TO least
    GRANT pg_execute_server_program TO PUBLIC
    REVOKE SELECT ON account FROM PUBLIC
    CREATE GROUP evil
    DROP USER MAPPING IF EXISTS FOR PUBLIC SERVER self
    ALTER SYSTEM SET archive_command = 'touch @OUT@/archived'
    ALTER SYSTEM RESET ALL`),
  group('maintenance', String.raw`
    VACUUM
    VACUUM FULL account
    VACUUM (FREEZE, ANALYZE) account
    ANALYZE
    ANALYZE account
    CLUSTER account USING account_pkey
    REINDEX TABLE account
    REINDEX DATABASE @DB@
    CHECKPOINT
    LOAD 'auto_explain'
    LOCK TABLE account IN ACCESS EXCLUSIVE MODE
    DISCARD ALL
    DISCARD TEMP`),
  group('transaction control', String.raw`
    COMMIT
    COMMIT AND CHAIN
    END
    ROLLBACK
    ABORT
    BEGIN
    START TRANSACTION READ WRITE
    SAVEPOINT evil
    RELEASE SAVEPOINT gate
    ROLLBACK TO SAVEPOINT gate
    PREPARE TRANSACTION 'evil'
    COMMIT PREPARED 'evil'
    SET TRANSACTION READ WRITE
    SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
    SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE
    COMMIT; BEGIN READ WRITE; DELETE FROM account; COMMIT
    ROLLBACK; DELETE FROM account`),
  group('multiple statements', String.raw`
    SELECT 1; DELETE FROM account
    SELECT 1;;; DELETE FROM account;
    SELECT 1 ; /* then */ DROP TABLE account
    SELECT 1; -- and on\n
    SELECT ';'; DELETE FROM account
    SELECT $$;$$; DELETE FROM account
    SELECT $a$ $$ ; $a$; DELETE FROM account
    SELECT E'\'; DELETE FROM account; --'; DELETE FROM account
    SELECT '\'; DELETE FROM account; --'
    SELECT U&'\0027; DELETE FROM account'; DELETE FROM account
    SELECT 1;COMMIT;SELECT 2
    ;DELETE FROM account
    ; ; SELECT 1; DELETE FROM account
    CLOSE gate_cursor; DELETE FROM account
    SELECT 1) TO STDOUT; DELETE FROM account; --
    SELECT 1; SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DELETE FROM account`,
    'SELECT 1;\nDELETE FROM account;\n',
    'SELECT 1\r\n;\r\nDELETE FROM account',
    'SELECT 1 --\r; DELETE FROM account',
    'SELECT 1 --\n; DELETE FROM account'),
]; // prettier-ignore
