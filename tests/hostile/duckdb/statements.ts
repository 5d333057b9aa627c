/** Statements that would change a DuckDB file or its session, reach beyond it, or take the machine's time and memory. */
import { group, type Group } from '../corpus';

export const acts: readonly Group[] = [
  group(
    'plain writes',
    String.raw`
    INSERT INTO account VALUES (99, 'eve', 1)
    INSERT OR REPLACE INTO account VALUES (1, 'eve', 1)
    INSERT OR IGNORE INTO account VALUES (1, 'eve', 1)
    INSERT INTO account BY NAME SELECT 99 AS id
    INSERT INTO account SELECT id + 100, owner, balance FROM account
    INSERT INTO account VALUES (99, 'eve', 1) RETURNING *
    INSERT INTO main.account DEFAULT VALUES
    UPDATE account SET balance = 0
    UPDATE account SET balance = 0 FROM ledger WHERE ledger.account_id = account.id RETURNING *
    DELETE FROM ledger
    DELETE FROM ledger USING account WHERE account.id = ledger.account_id
    TRUNCATE ledger
    MERGE INTO account USING ledger ON account.id = ledger.id WHEN MATCHED THEN DELETE
    COPY account FROM '@OUT@/evil.csv'
    VACUUM account
    ANALYZE`,
  ),
  group(
    'CTEs before writes',
    String.raw`
    WITH x AS (SELECT 1) DELETE FROM ledger
    WITH x AS (SELECT 99 AS id) INSERT INTO account (id) SELECT id FROM x
    WITH x AS (SELECT 1) UPDATE account SET balance = 0
    WITH x AS (DELETE FROM ledger RETURNING *) SELECT * FROM x
    WITH x AS (INSERT INTO account VALUES (99, 'eve', 1) RETURNING id) SELECT * FROM x
    SELECT * FROM (DELETE FROM ledger RETURNING *)
    SELECT (INSERT INTO account VALUES (99, 'eve', 1) RETURNING id)
    SELECT 1 UNION ALL (DELETE FROM ledger RETURNING id)
    /* SELECT */ WITH x AS (SELECT 1) DELETE FROM ledger RETURNING (SELECT * FROM x)
    WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3) DELETE FROM ledger WHERE id IN (FROM r)`,
  ),
  group(
    'structure',
    String.raw`
    CREATE TABLE evil (a INTEGER)
    CREATE TABLE IF NOT EXISTS evil AS SELECT 1
    CREATE OR REPLACE TABLE account AS SELECT 1
    CREATE TEMP TABLE evil (a INTEGER)
    CREATE TEMP TABLE account AS SELECT 1 AS id, 'x' AS owner, 0 AS balance
    CREATE OR REPLACE TEMP VIEW account AS SELECT 1
    CREATE VIEW evil AS SELECT 1
    CREATE SCHEMA evil
    CREATE SEQUENCE evil
    CREATE TEMP SEQUENCE evil
    CREATE TYPE evil AS ENUM ('a')
    CREATE INDEX evil ON account (owner)
    CREATE MACRO evil() AS 1
    CREATE TEMP MACRO lower(x) AS 'evil'
    CREATE TEMP MACRO evil() AS TABLE SELECT * FROM account
    CREATE SECRET evil (TYPE s3, KEY_ID 'x', SECRET 'y')
    ALTER TABLE account ADD COLUMN evil INTEGER
    ALTER TABLE account RENAME TO evil
    COMMENT ON TABLE account IS 'evil'
    DROP TABLE account
    DROP VIEW IF EXISTS rich
    DROP SCHEMA main CASCADE`,
  ),
  group(
    'transactions and sessions',
    String.raw`
    BEGIN
    BEGIN TRANSACTION READ WRITE
    COMMIT
    ROLLBACK
    ABORT
    CHECKPOINT
    FORCE CHECKPOINT
    USE memory
    USE system
    SET threads = 64
    SET memory_limit = '100GB'
    SET enable_external_access = true
    SET lock_configuration = false
    SET VARIABLE evil = 1
    SET GLOBAL TimeZone = 'Asia/Tokyo'
    SET SESSION search_path = 'information_schema'
    RESET threads
    RESET VARIABLE evil
    PREPARE evil AS DELETE FROM ledger
    EXECUTE evil
    DEALLOCATE evil
    EXPLAIN ANALYZE DELETE FROM ledger
    EXPLAIN SELECT 1
    EXPLAIN ANALYZE SELECT 1`,
  ),
  group(
    'several statements',
    String.raw`
    SELECT 1; DELETE FROM ledger
    SELECT 1; SELECT 2
    SELECT 1; ; CREATE TEMP TABLE evil (a INTEGER)
    ; DELETE FROM ledger
    SELECT 1 /* ; */ ; SET VARIABLE evil = 1
    SELECT ';' ; COMMIT; DROP TABLE account
    SELECT $$;$$; DELETE FROM ledger; --
    SELECT 'a' /* ' */ ; DELETE FROM ledger`,
    "SELECT 1; -- '\nDELETE FROM ledger -- '",
    "SELECT $a$ ' $a$; DELETE FROM ledger; SELECT $a$ ' $a$",
    "SELECT E'\\'; DELETE FROM ledger; --'; DELETE FROM ledger",
  ),
  group(
    'files by functions',
    String.raw`
    SELECT * FROM read_csv('/etc/passwd')
    SELECT * FROM read_csv_auto('/etc/passwd')
    SELECT * FROM read_text('/etc/passwd')
    SELECT * FROM read_blob('/etc/passwd')
    SELECT * FROM read_json('@OUT@/x.json')
    SELECT * FROM read_json_auto('@OUT@/x.json')
    SELECT * FROM read_json_objects('@OUT@/x.json')
    SELECT * FROM read_ndjson('@OUT@/x.json')
    SELECT * FROM read_ndjson_objects('@OUT@/x.json')
    SELECT * FROM read_parquet('@OUT@/x.parquet')
    SELECT * FROM parquet_scan('@OUT@/x.parquet')
    SELECT * FROM parquet_metadata('@OUT@/x.parquet')
    SELECT * FROM parquet_schema('@OUT@/x.parquet')
    SELECT * FROM parquet_kv_metadata('@OUT@/x.parquet')
    SELECT * FROM parquet_file_metadata('@OUT@/x.parquet')
    SELECT * FROM parquet_full_metadata('@OUT@/x.parquet')
    SELECT * FROM parquet_bloom_probe('@OUT@/x.parquet', 'a', 1)
    SELECT * FROM read_duckdb('@FILE@')
    SELECT * FROM sniff_csv('/etc/passwd')
    SELECT * FROM glob('/etc/*')
    SELECT * FROM seq_scan('account')
    SELECT * FROM arrow_scan(1, 2, 3)
    SELECT * FROM sqlite_scan('@OUT@/x.sqlite', 't')
    SELECT * FROM postgres_scan('@CONN@', 'public', 't')
    SELECT * FROM iceberg_scan('@OUT@')
    SELECT * FROM st_read('/etc/passwd')
    SELECT * FROM read_xlsx('@OUT@/x.xlsx')
    SELECT (SELECT content FROM read_text('/etc/passwd'))
    WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x
    SELECT * FROM account, LATERAL (SELECT * FROM read_text(owner))
    SELECT * FROM account WHERE owner IN (SELECT content FROM read_text('/etc/passwd'))
    SELECT list_transform([1], x -> (SELECT max(content) FROM read_text('/etc/passwd')))
    SELECT * FROM main.read_text('/etc/passwd')
    SELECT * FROM system.main.read_text('/etc/passwd')
    SELECT * FROM "read_text"('/etc/passwd')
    SELECT * FROM READ_TEXT ('/etc/passwd')
    SELECT * FROM read_text/**/('/etc/passwd')
    SELECT read_text('/etc/passwd')`,
  ),
  group(
    'files by names',
    String.raw`
    SELECT * FROM '/etc/passwd'
    SELECT * FROM '@OUT@/x.csv'
    SELECT * FROM "@OUT@/x.csv"
    SELECT * FROM 'x.parquet'
    SELECT * FROM "x.json"
    SELECT * FROM 'https://example.com/x.csv'
    SELECT * FROM "s3://bucket/x.parquet"
    SELECT * FROM '@OUT@/*.csv'
    SELECT * FROM account JOIN '@OUT@/x.csv' ON true
    SELECT * FROM account, "@OUT@/x.csv"
    SELECT (SELECT count(*) FROM "@OUT@/x.csv")
    WITH x AS (SELECT * FROM "@OUT@/x.csv") SELECT * FROM x
    SELECT * FROM x: '@OUT@/x.csv'
    SELECT * FROM E'\x2fetc\x2fpasswd'
    SELECT * FROM $$/etc/passwd$$
    SELECT * FROM "@OUT@/x.duckdb"
    SELECT * FROM account PIVOT (count(*) FOR owner IN (SELECT column0 FROM "@OUT@/x.csv"))`,
  ),
  group(
    'files that are written',
    String.raw`
    COPY account TO '@OUT@/evil.csv'
    COPY (SELECT 1) TO '@OUT@/evil.parquet' (FORMAT parquet)
    COPY (SELECT 1) TO '@OUT@/evil.json'
    COPY FROM DATABASE memory TO evil
    EXPORT DATABASE '@OUT@/evil'
    IMPORT DATABASE '@OUT@/evil'
    ATTACH '@OUT@/evil.duckdb' AS evil
    ATTACH '@FILE@' AS again (READ_WRITE)
    ATTACH ':memory:' AS evil
    ATTACH 'evil.sqlite' AS evil (TYPE sqlite)
    DETACH memory
    INSTALL httpfs
    FORCE INSTALL httpfs FROM community
    LOAD httpfs
    LOAD '@OUT@/evil.duckdb_extension'
    UPDATE EXTENSIONS
    PRAGMA enable_profiling
    PRAGMA profiling_output = '@OUT@/evil.json'
    PRAGMA import_database('@OUT@/evil')
    PRAGMA add_parquet_key('a', '0123456789abcdef')
    PRAGMA force_checkpoint
    PRAGMA database_list
    PRAGMA version
    CALL pragma_version()
    CALL enable_logging(storage = 'file', storage_path = '@OUT@/evil')
    CALL force_checkpoint()
    CALL enable_peg_parser()`,
  ),
  group(
    'other SQL in texts',
    String.raw`
    SELECT * FROM query('SELECT 1')
    SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')
    SELECT * FROM query_table('account')
    SELECT * FROM query_table(['account', 'ledger'])
    SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
    SELECT json_serialize_sql('SELECT 1')
    SELECT json_deserialize_sql(json_serialize_sql('SELECT 1'))
    SELECT json_serialize_plan('SELECT * FROM read_text(''/etc/passwd'')')
    SELECT * FROM check_peg_parser('SELECT 1')
    SELECT * FROM sql_auto_complete('SEL')
    SELECT * FROM histogram(account, owner)
    SELECT * FROM histogram_values(account, balance)
    SELECT "query"('SELECT 1')
    SELECT * FROM rich_query('account')
    SELECT rich_text('/etc/passwd')
    SELECT * FROM summary(TABLE account)`,
  ),
  group(
    'state of the engine',
    String.raw`
    SELECT nextval('counter')
    SELECT currval('counter')
    SELECT setseed(0.5)
    SELECT getvariable('evil')
    SELECT getenv('HOME')
    SELECT current_setting('memory_limit')
    SELECT current_query()
    SELECT txid_current()
    SELECT current_connection_id()
    SELECT write_log('evil')
    SELECT write_log('evil', level := 'error')
    SELECT has_table_privilege('account', 'SELECT')
    SELECT inet_client_addr()
    SELECT pg_get_viewdef(1)
    SELECT stats(balance) FROM account
    SELECT vector_type(balance) FROM account
    SELECT * FROM duckdb_settings()
    SELECT * FROM duckdb_secrets()
    SELECT * FROM duckdb_variables()
    SELECT * FROM duckdb_databases()
    SELECT * FROM duckdb_databases
    SELECT * FROM duckdb_logs
    SELECT * FROM duckdb_logs()
    SELECT * FROM duckdb_temporary_files()
    SELECT * FROM duckdb_extensions()
    SELECT * FROM duckdb_external_file_cache()
    SELECT * FROM duckdb_table_sample('account')
    SELECT * FROM pg_catalog.pg_settings
    SELECT * FROM pragma_database_list
    SELECT * FROM pragma_table_info('account')
    SELECT * FROM pragma_storage_info('account')
    SELECT * FROM pragma_user_agent()
    SELECT * FROM which_secret('s3://x', 's3')
    SELECT * FROM truncate_duckdb_logs()
    SELECT * FROM enable_logging()
    SELECT * FROM force_checkpoint()
    SELECT * FROM checkpoint()
    SELECT * FROM test_all_types()`,
  ),
  group(
    'no SELECT in front',
    String.raw`
    FROM account
    FROM account SELECT owner
    TABLE account
    VALUES (1)
    SHOW TABLES
    SHOW ALL TABLES
    DESCRIBE account
    DESC account
    SUMMARIZE account
    PIVOT account ON owner USING sum(balance)
    UNPIVOT account ON balance INTO NAME n VALUE v
    SELECT * FROM (SHOW TABLES)
    SELECT * FROM (DESCRIBE account)
    SELECT * FROM (SUMMARIZE account)
    SELECT * FROM (FROM account)
    SELECT * FROM (TABLE account)
    SELECT * FROM (PIVOT account ON owner USING sum(balance))
    WITH x AS (FROM account) FROM x
    SELECT (FROM account SELECT max(balance))
    SELECT 1 WHERE EXISTS (FROM (account CROSS JOIN ledger))
    SELECT 1 WHERE EXISTS (FROM account)
    SELECT * FROM x: account
    SELECT $1
    SELECT ?
    SELECT $name
    SELECT #1 FROM account`,
  ),
  group(
    'views and macros of the file',
    String.raw`
    SELECT * FROM leaky
    SELECT a FROM (SELECT * FROM leaky)
    SELECT evil_macro('/etc/passwd')
    SELECT * FROM evil_table('/etc/passwd')
    SELECT main.evil_macro('/etc/passwd')
    SELECT owner.evil_macro() FROM account`,
  ),
];

export const bombs: readonly Group[] = [
  group(
    'time',
    String.raw`
    SELECT count(*) FROM range(10000000000) a, range(1000000) b
    WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r
    SELECT sum(sin(a.range) * cos(b.range)) FROM range(10000000) a, range(10000000) b
    SELECT count(*) FROM (SELECT md5(range::VARCHAR) m FROM range(1000000000)) WHERE m LIKE '%0000000000%'
    SELECT sleep_ms(100000)
    SELECT pg_sleep(100)
    SELECT regexp_matches(repeat('a', 10000000), '(a|aa)+$') FROM range(10000)
    SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))`,
  ),
  group(
    'memory',
    String.raw`
    SELECT list(range) FROM range(1000000000)
    SELECT string_agg(range::VARCHAR, ',') FROM range(1000000000)
    SELECT repeat('x', 2000000000)
    SELECT range FROM range(1000000000) ORDER BY hash(range)
    SELECT range % 100000000, count(*) FROM range(1000000000) GROUP BY ALL
    SELECT range(1000000000)
    SELECT lpad('x', 1000000000, 'y') FROM range(10)
    SELECT map_from_entries(list((range, range))) FROM range(100000000)
    SELECT repeat('abcdefgh', 1000000) || range FROM range(1000)
    SELECT count(DISTINCT range) FROM range(1000000000)`,
  ),
  group(
    'size',
    '',
    `SELECT ${Array.from({ length: 20_000 }, () => '1').join(' + ')}`,
    `SELECT ${'('.repeat(3_000)}1${')'.repeat(3_000)}`,
    `SELECT ${'['.repeat(2_000)}1${']'.repeat(2_000)}`,
    `SELECT * FROM ${'(SELECT * FROM '.repeat(400)}account${')'.repeat(400)}`,
    `WITH ${Array.from({ length: 25 }, (_, i) => `c${i} AS (SELECT * FROM ${i === 0 ? 'range(10)' : `c${i - 1} a, c${i - 1} b`})`).join(', ')} SELECT count(*) FROM c24`,
    `SELECT ${'NOT '.repeat(10_000)}true`,
    `SELECT ${'-'.repeat(1)}${' -'.repeat(10_000)}1`,
    `SELECT CASE ${'WHEN false THEN 1 '.repeat(5_000)} END`,
  ),
];
