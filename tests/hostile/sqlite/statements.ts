/** Statements that would change a SQLite file, reach beyond it, or take the machine's time and memory. */
import { group, type Group } from '../corpus';

const R = (to: string): string => `WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${to})`;

export const acts: readonly Group[] = [
  group('plain writes', String.raw`
    INSERT INTO account VALUES (99, 'eve', 1)
    INSERT OR REPLACE INTO account VALUES (1, 'eve', 1)
    INSERT INTO account SELECT id + 100, owner, balance FROM account
    INSERT INTO account VALUES (1, 'x', 0) ON CONFLICT DO UPDATE SET balance = 0
    INSERT INTO account DEFAULT VALUES
    INSERT INTO account (owner) VALUES ('x') RETURNING *
    REPLACE INTO account VALUES (1, 'eve', 1)
    UPDATE account SET balance = 0
    UPDATE OR IGNORE account SET id = 7 RETURNING *
    UPDATE account SET balance = 0 FROM ledger WHERE ledger.account_id = account.id
    DELETE FROM account
    DELETE FROM account WHERE id IN (SELECT account_id FROM ledger)
    DELETE FROM main.account
    DELETE FROM noisy
    INSERT INTO noisy VALUES (1)
    UPDATE sqlite_sequence SET seq = 1000
    DELETE FROM sqlite_sequence
    UPDATE sqlite_master SET sql = 'x'
    INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 2, 'x')
    DELETE FROM sqlite_schema
    INSERT INTO notes(notes) VALUES ('delete-all')
    INSERT INTO notes(notes) VALUES ('rebuild')
    INSERT INTO notes(notes) VALUES ('optimize')
    INSERT INTO notes(notes, rank) VALUES ('automerge', 8)
    INSERT INTO notes VALUES ('evil')
    DELETE FROM notes
    UPDATE notes SET body = 'evil'
    INSERT INTO places VALUES (9, 0, 1, 0, 1)
    DELETE FROM places
    INSERT INTO notes_data VALUES (1, x'00')
    DELETE FROM notes_content
    UPDATE places_node SET data = x'00'`),
  group('CTEs before writes', String.raw`
    WITH x AS (SELECT 1) DELETE FROM account
    WITH x AS (SELECT 1 AS id) INSERT INTO account (id) SELECT id FROM x
    WITH x AS (SELECT id FROM account) UPDATE account SET balance = 0 WHERE id IN x
    WITH x AS (SELECT 1) REPLACE INTO account SELECT 1, 'eve', 1 FROM x
    WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < 9) DELETE FROM account WHERE id IN x
    WITH gone AS (DELETE FROM account RETURNING *) SELECT * FROM gone
    SELECT * FROM (DELETE FROM account RETURNING *)
    SELECT (INSERT INTO account VALUES (99, 'eve', 1) RETURNING id)
    WITH x AS MATERIALIZED (SELECT 1) DELETE FROM ledger RETURNING (SELECT * FROM x)
    /* SELECT */ WITH x AS (SELECT 1) DELETE FROM account`),
  group('structure', String.raw`
    CREATE TABLE evil (a)
    CREATE TABLE IF NOT EXISTS evil AS SELECT 1
    CREATE TEMP TABLE evil (a)
    CREATE TEMPORARY VIEW account AS SELECT 1
    CREATE TABLE temp.evil (a)
    CREATE VIEW evil AS SELECT 1
    CREATE INDEX evil ON account (owner)
    CREATE UNIQUE INDEX IF NOT EXISTS evil ON account (id)
    CREATE TRIGGER evil AFTER INSERT ON account BEGIN DELETE FROM ledger; END
    CREATE TEMP TRIGGER evil AFTER INSERT ON account BEGIN SELECT 1; END
    CREATE VIRTUAL TABLE evil USING fts5(a)
    CREATE VIRTUAL TABLE evil USING fts4(a)
    CREATE VIRTUAL TABLE temp.evil USING rtree(a, b, c)
    CREATE VIRTUAL TABLE evil USING csv(filename='/etc/passwd')
    CREATE VIRTUAL TABLE evil USING zipfile('/etc/passwd')
    CREATE VIRTUAL TABLE evil USING dbstat
    ALTER TABLE account ADD COLUMN evil
    ALTER TABLE account RENAME TO accounts
    ALTER TABLE account RENAME COLUMN owner TO evil
    ALTER TABLE account DROP COLUMN balance
    DROP TABLE account
    DROP TABLE IF EXISTS account
    DROP VIEW noisy
    DROP INDEX by_owner
    DROP TRIGGER watch
    DROP TABLE notes
    VACUUM
    VACUUM main
    VACUUM INTO '@OUT@/copied'
    REINDEX
    REINDEX by_owner
    ANALYZE
    ANALYZE account`),
  group('transactions', String.raw`
    BEGIN
    BEGIN IMMEDIATE
    BEGIN EXCLUSIVE
    COMMIT
    END TRANSACTION
    ROLLBACK
    SAVEPOINT evil
    RELEASE evil
    ROLLBACK TO evil
    COMMIT; BEGIN IMMEDIATE; DELETE FROM account; COMMIT
    EXPLAIN DELETE FROM account
    EXPLAIN QUERY PLAN DELETE FROM account`),
  group('other files', String.raw`
    ATTACH '@OUT@/evil.db' AS evil
    ATTACH DATABASE '@OUT@/evil.db' AS evil
    ATTACH DATABASE 'file:@OUT@/evil.db?mode=rwc' AS evil
    ATTACH ':memory:' AS evil
    ATTACH '' AS evil
    ATTACH '@FILE@' AS again
    ATTACH 'file:@FILE@?mode=rw' AS again
    ATTACH '@OUT@/evil.db' AS "main2" KEY 'x'
    DETACH main
    DETACH DATABASE temp
    SELECT sqlite_attach('@OUT@/evil.db', 'evil', '')
    SELECT sqlite_detach('main')
    SELECT 1; ATTACH '@OUT@/evil.db' AS evil
    SELECT * FROM evil.account
    SELECT writefile('@OUT@/written', 'x')
    SELECT WRITEFILE('@OUT@/written', x'00', 33279)
    SELECT "writefile"('@OUT@/written', 'x')
    SELECT [writefile]('@OUT@/written', 'x')
    SELECT max(writefile('@OUT@/written', owner)) FROM account
    SELECT * FROM account WHERE writefile('@OUT@/written', 'x') > 0
    SELECT * FROM account ORDER BY writefile('@OUT@/written', 'x')
    SELECT count(*) FILTER (WHERE writefile('@OUT@/written', 'x')) FROM account
    SELECT sum(writefile('@OUT@/written', 'x')) OVER () FROM account
    SELECT CASE WHEN 0 THEN writefile('@OUT@/written', 'x') END
    SELECT * FROM json_each('[1]') WHERE writefile('@OUT@/written', value)
    WITH x AS (SELECT writefile('@OUT@/written', 'x')) SELECT * FROM x
    VALUES (writefile('@OUT@/written', 'x'))
    SELECT 1 LIMIT writefile('@OUT@/written', 'x')
    SELECT readfile('/etc/passwd')
    SELECT length(readfile('@FILE@'))
    SELECT edit('x', 'touch @OUT@/edited')
    SELECT lsmode(33188)
    SELECT * FROM fsdir('/')
    SELECT name FROM fsdir('@OUT@') LIMIT 1
    SELECT * FROM "fsdir"('/')
    SELECT * FROM [fsdir]('/')
    SELECT data FROM fsdir WHERE path = '/etc/passwd'
    SELECT * FROM zipfile('@FILE@')
    SELECT zipfile('a', 'b')
    SELECT load_extension('@OUT@/evil.so')
    SELECT load_extension('@OUT@/evil.so', 'entry')
    SELECT "load_extension"('x')
    SELECT fts3_tokenizer('simple')
    SELECT fts3_tokenizer('simple', x'4141414141414141')
    SELECT * FROM sqlite_dbpage
    SELECT data FROM sqlite_dbpage('main') WHERE pgno = 1
    UPDATE sqlite_dbpage SET data = x'00' WHERE pgno = 1
    SELECT * FROM sqlite_stmt
    SELECT * FROM carray
    SELECT $a('), f.* FROM fsdir('/') f --')
    SELECT :a('), f.* FROM fsdir('/') f --')
    SELECT @a('), data FROM sqlite_dbpage --')
    SELECT $a(') FROM fsdir('/'), account --')
    SELECT * FROM 'fsdir'('/')
    SELECT * FROM 'sqlite_dbpage'
    SELECT * FROM main . 'sqlite_dbpage'
    SELECT * FROM main/**/./**/fsdir/**/('/')
    SELECT * FROM account, /* */ fsdir('/')
    SELECT * FROM account NATURAL JOIN sqlite_stmt
    SELECT * FROM (fsdir) WHERE path = '/'
    SELECT * FROM ((sqlite_dbpage))
    SELECT 1 IN sqlite_dbpage, 1 IN (SELECT pgno FROM sqlite_dbpage)
    SELECT x'' IN fsdir('/')
    SELECT '/' IN main.fsdir
    SELECT 1 AS fsdir FROM account UNION SELECT name FROM [FsDir]('/')
    WITH f AS MATERIALIZED (SELECT * FROM [fsdir]('/')) SELECT * FROM f
    SELECT * FROM account LEFT JOIN "PRAGMA_OPTIMIZE" ON 1
    SELECT * FROM notes WHERE notes MATCH writefile('@OUT@/written', 'x')
    SELECT * FROM notes(writefile('@OUT@/written', 'x'))
    SELECT * FROM notes('first', writefile('@OUT@/written', 'x'))
    SELECT * FROM account INDEXED BY by_owner WHERE owner = writefile('@OUT@/written', 'x')
    SELECT json_each.value FROM json_each(writefile('@OUT@/written', '[]'))
    SELECT * FROM generate_series(1, writefile('@OUT@/written', 'x'))
    SELECT group_concat(owner, writefile('@OUT@/written', 'x')) FROM account
    SELECT nth_value(owner, writefile('@OUT@/written', 'x')) OVER (ORDER BY id) FROM account
    SELECT sum(balance) OVER (ORDER BY id ROWS writefile('@OUT@/written', 'x') PRECEDING) FROM account
    SELECT 'a' LIKE 'b' ESCAPE writefile('@OUT@/written', 'x')
    SELECT writefile(*) FROM account
    SELECT writefile('@OUT@/written', 'x') COLLATE NOCASE
    SELECT (VALUES (writefile('@OUT@/written', 'x')))
    SELECT owner -> writefile('@OUT@/written', 'x') FROM account
    SELECT sha3_query('DELETE FROM account')
    SELECT sqlite3mc_config('cipher', 'aes128cbc')
    SELECT sqlite3mc_codec_data('cipher')
    SELECT sqlite_crypt('x', 'y')
    SELECT sqlite_log(1, 'evil')
    SELECT rtreecheck('places')
    SELECT rtreenode(2, x'00')
    SELECT libsql_vector_idx(account) FROM account
    SELECT * FROM vector_top_k('i', vector('[1]'), 1)
    SELECT changes(), total_changes(), last_insert_rowid()
    SELECT sqlite_compileoption_get(1)
    SELECT optimize(notes) FROM notes`),
  group('pragmas', String.raw`
    PRAGMA query_only = 0
    PRAGMA query_only(0)
    PRAGMA main.query_only = OFF
    pragma QUERY_ONLY=0
    PRAGMA/**/query_only=0
    PRAGMA "query_only" = 0
    PRAGMA [query_only] = 0
    PRAGMA writable_schema = 1
    PRAGMA writable_schema = RESET
    PRAGMA trusted_schema = 1
    PRAGMA journal_mode = WAL
    PRAGMA journal_mode = OFF
    PRAGMA user_version = 5
    PRAGMA application_id = 5
    PRAGMA schema_version = 99
    PRAGMA auto_vacuum = 1
    PRAGMA incremental_vacuum
    PRAGMA wal_checkpoint(TRUNCATE)
    PRAGMA optimize
    PRAGMA optimize(-1)
    PRAGMA integrity_check
    PRAGMA foreign_keys = 0
    PRAGMA locking_mode = EXCLUSIVE
    PRAGMA hard_heap_limit = 0
    PRAGMA soft_heap_limit = 0
    PRAGMA temp_store = 1
    PRAGMA temp_store_directory = '@OUT@'
    PRAGMA data_store_directory = '@OUT@'
    PRAGMA mmap_size = 1000000000
    PRAGMA cache_size = 1000000
    PRAGMA page_size = 512
    PRAGMA encoding = 'UTF-16'
    PRAGMA case_sensitive_like = 1
    PRAGMA recursive_triggers = 1
    PRAGMA secure_delete = 1
    PRAGMA synchronous = 0
    PRAGMA threads = 8
    PRAGMA key = 'x'
    PRAGMA rekey = 'evil'
    PRAGMA cipher = 'aes128cbc'
    PRAGMA shrink_memory
    PRAGMA busy_timeout = 0
    PRAGMA database_list
    PRAGMA table_info(account)
    SELECT * FROM pragma_optimize
    SELECT * FROM pragma_optimize(-1)
    SELECT * FROM pragma_query_only
    SELECT * FROM pragma_query_only(0)
    SELECT * FROM pragma_query_only WHERE arg = 0
    SELECT * FROM pragma_user_version(5)
    SELECT * FROM pragma_journal_mode('wal')
    SELECT * FROM pragma_journal_mode
    SELECT * FROM pragma_wal_checkpoint('TRUNCATE')
    SELECT * FROM pragma_writable_schema(1)
    SELECT * FROM pragma_hard_heap_limit(0)
    SELECT * FROM pragma_soft_heap_limit
    SELECT * FROM pragma_incremental_vacuum(5)
    SELECT * FROM pragma_integrity_check
    SELECT * FROM pragma_quick_check('account')
    SELECT * FROM pragma_foreign_key_check
    SELECT * FROM pragma_locking_mode('exclusive')
    SELECT * FROM pragma_database_list
    SELECT file FROM "pragma_database_list"
    SELECT * FROM [pragma_optimize]
    SELECT * FROM account, pragma_optimize
    SELECT (SELECT count(*) FROM pragma_integrity_check)
    SELECT name FROM sqlite_master m, pragma_optimize(m.rootpage)
    SELECT * FROM pragma_temp_store_directory('@OUT@')
    SELECT * FROM pragma_function_list`),
  group('multiple statements', String.raw`
    SELECT 1; DELETE FROM account
    SELECT 1;;; DELETE FROM account;
    SELECT ';'; DELETE FROM account
    SELECT ";"; DELETE FROM account
    SELECT [;]; DELETE FROM account
    SELECT 'it''s;'; DELETE FROM account
    SELECT '\'; DELETE FROM account; --'
    SELECT 1 /* ; */ ; DELETE FROM account
    SELECT 1; PRAGMA query_only = 0
    SELECT 1; ATTACH '@OUT@/evil.db' AS e; CREATE TABLE e.x (a)
    SELECT 1; COMMIT; DELETE FROM account
    ;DELETE FROM account
    ; ; ; DELETE FROM account
    ;SELECT 1; DELETE FROM account
    VALUES (1); DELETE FROM account
    (SELECT 1); DELETE FROM account
    SELECT 1 WHERE 0; DROP TABLE account
    SELECT 1;.shell touch @OUT@/shell`,
    'SELECT 1;\nDELETE FROM account;\n', 'SELECT 1 --\n; DELETE FROM account'),
  group('disguise', String.raw`
    /* SELECT */ DELETE FROM account
    /* /* nested */ SELECT */ DELETE FROM account
    DELETE/* SELECT */FROM account
    DELETE FROM [account]
    DELETE FROM "account"
    DELETE FROM 'account'
    SELECT "a""b"; DELETE FROM account
    SELECT 'a' || x'00' || 'b'; DELETE FROM account
    SELECT x'; DELETE FROM account; --'
    SELECT [a]]; DELETE FROM account
    .shell touch @OUT@/shell
    .output @OUT@/shell
    .read /etc/passwd
    .load @OUT@/evil.so
    .backup @OUT@/copied
    \! touch @OUT@/shell
    SELECT $x; DELETE FROM account
    SELECT ?1; DELETE FROM account
    SELECT :x, @y, $z
    SELECT 1; /* open DELETE FROM account
    SELECT * FROM temp.sqlite_master
    SELECT * FROM noisy
    SELECT * FROM leaky
    SELECT a FROM leaky
    SELECT * FROM reader
    SELECT U&"writefile"('@OUT@/written', 'x')
    SELECT main.writefile('@OUT@/written', 'x')
    SELECT printf('%n', 1)`,
    '-- a comment\nDELETE FROM account', 'SELECT 1\0; DELETE FROM account', '\0DELETE FROM account', "SELECT 'a\0b'",
    '\ufeffDELETE FROM account', '\ufeffSELECT 1; DELETE FROM account', 'D\u0415LETE FROM account', 'SEL\u200bECT 1; DELETE FROM account',
    'SELECT write\u200bfile(1, 2)', '\u00a0DELETE FROM account', '\u000bDELETE FROM account', '\u000cDELETE FROM account', 'SELECT 1\u037e DELETE FROM account',
    'SELECT 1\uff1b DELETE FROM account', '\uff24\uff25\uff2c\uff25\uff34\uff25 FROM account', '\u001b[2J DELETE FROM account',
    "SELECT '\ud800'; DELETE FROM account", '%44ELETE FROM account', '', ' ', ';', '--', '/**/', '/* open', "'", '"', '`', '(', '((('),
]; // prettier-ignore

export const bombs: readonly Group[] = [
  group('endless', String.raw`
    WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r
    WITH RECURSIVE r(i) AS (SELECT 1 UNION SELECT i + 1 FROM r) SELECT max(i) FROM r
    WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r
    SELECT count(*) FROM generate_series(1, 9223372036854775806)
    ${R('100000')} SELECT count(*) FROM r a, r b, r c
    ${R('100000')} SELECT a.i FROM r a, r b ORDER BY a.i * b.i DESC LIMIT 1
    ${R('30000')} SELECT count(DISTINCT a.i * b.i) FROM r a, r b
    ${R('3000')} SELECT sum(a.i) OVER (ORDER BY b.i) FROM r a, r b
    SELECT count(*) FROM account a, account b, account c, (${R('1000000')} SELECT i FROM r) d, (${R('1000000')} SELECT i FROM r) e`),
  group('large values', String.raw`
    SELECT zeroblob(1000000000)
    SELECT zeroblob(999999999) || 'x'
    SELECT hex(zeroblob(400000000))
    SELECT length(hex(zeroblob(300000000)))
    SELECT randomblob(900000000)
    SELECT printf('%1000000000d', 1)
    SELECT printf('%.*c', 900000000, 'x')
    SELECT replace(hex(zeroblob(10000)), '0', hex(zeroblob(10000)))
    SELECT replicate('abc', 300000000)
    SELECT padl('x', 900000000)
    SELECT quote(zeroblob(400000000))
    SELECT printf('%.900000000f', 1), format('%*s', 2000000000, 'x')
    SELECT replicate(replicate('x', 1000000), 1000)
    SELECT concat_ws(hex(zeroblob(100000000)), 1, 2, 3, 4, 5, 6, 7, 8)
    SELECT sha3(zeroblob(900000000))
    SELECT json_patch(j, j) FROM (SELECT json_group_object(i, i) AS j FROM (${R('300000')} SELECT i FROM r))
    SELECT json_group_array(json_object('a', hex(randomblob(500)))) FROM generate_series(1, 2000000)
    SELECT first_value(x) OVER (ORDER BY x) FROM (SELECT hex(randomblob(10000)) AS x FROM generate_series(1, 1000000))
    SELECT strftime(replace(hex(zeroblob(10000000)), '00', '%Y'))
    SELECT upper(hex(zeroblob(200000000)))
    SELECT zeroblob(30000000) FROM generate_series(1, 200)
    SELECT hex(randomblob(9000000)) FROM generate_series(1, 100)
    ${R('100000000')} SELECT group_concat(i) FROM r
    ${R('100000000')} SELECT json_group_array(i) FROM r
    ${R('20000000')} SELECT group_concat(hex(randomblob(1000))) FROM r
    ${R('3000')} SELECT group_concat(hex(zeroblob(200000))) FROM r
    SELECT json('[' || hex(zeroblob(100000000)) || ']')
    SELECT string_agg(hex(zeroblob(1000000)), ',') FROM generate_series(1, 1000)`),
  group('patterns', String.raw`
    SELECT hex(zeroblob(100000)) LIKE '%0%0%0%0%0%0%0%0%0%0%1'
    SELECT hex(zeroblob(100000)) GLOB '*0*0*0*0*0*0*0*0*0*0*1'
    SELECT 'x' LIKE hex(zeroblob(100000))
    SELECT regexp('(a+)+$', printf('%.*c', 40, 'a') || 'b')
    SELECT printf('%.*c', 30000, 'a') REGEXP '(a|aa)+(a|aa)+(a|aa)+$b'
    SELECT regexp('((a{1,100}){1,100}){1,100}', 'aaaa')
    SELECT regexp('a{1000}{1000}{1000}', 'a')
    SELECT regexp(replace(hex(zeroblob(100000)), '00', '('), 'a')
    SELECT regexp('${'(a?)'.repeat(30)}${'a'.repeat(30)}', '${'a'.repeat(30)}')
    SELECT regexp('(.*)(.*)(.*)(.*)(.*)(.*)[^a]', hex(zeroblob(5000)))
    SELECT hex(zeroblob(40000)) LIKE '${'%0'.repeat(30)}%1'
    SELECT instr(hex(zeroblob(20000000)), hex(zeroblob(10000000)) || '1')
    SELECT bm25(notes) FROM notes WHERE notes MATCH '${'first OR '.repeat(5000)}note'
    SELECT * FROM notes WHERE notes MATCH '${'('.repeat(5000)}first${')'.repeat(5000)}'
    SELECT instr(hex(zeroblob(50000000)), '1')`),
  group('depth', String.raw`
    SELECT ${'('.repeat(1500)}1${')'.repeat(1500)}
    SELECT ${'('.repeat(40000)}1${')'.repeat(40000)}
    SELECT 1${' + 1'.repeat(3000)}
    SELECT 1${' + 1'.repeat(20000)}
    SELECT ${'NOT '.repeat(3000)}1
    SELECT ${'- '.repeat(5000)}1
    SELECT ${'CASE WHEN 1 THEN '.repeat(1000)}1${' END'.repeat(1000)}
    SELECT * FROM ${'(SELECT * FROM '.repeat(1000)}account${')'.repeat(1000)}
    SELECT 1${' UNION ALL SELECT 1'.repeat(4000)}
    SELECT 1${' UNION SELECT 1'.repeat(10000)}
    SELECT * FROM (VALUES ${'(1),'.repeat(200000)}(1))
    SELECT 1 WHERE 1 IN (${'1,'.repeat(500000)}1)
    SELECT 1 /*${'*'.repeat(1000000)}*/
    SELECT '${'x'.repeat(1000000)}'
    SELECT ${'['.repeat(1000000)}
    SELECT ${'CASE '.repeat(100000)}
    ${'WITH a AS ('.repeat(2000)}SELECT 1${') SELECT * FROM a'.repeat(2000)}
    WITH a0 AS (SELECT 1 AS x), ${Array.from({ length: 40 }, (_, i) => `a${i + 1} AS (SELECT a.x FROM a${i} AS a, a${i} AS b)`).join(', ')} SELECT count(*) FROM a40
    SELECT ${'1, '.repeat(3000)}1
    SELECT ${'abs('.repeat(2000)}1${')'.repeat(2000)}
    SELECT json(printf('%.*c', 100000, '['))
    SELECT json_extract(replace(hex(zeroblob(10000)), '00', '{"a":'), '$.a')
    SELECT ${'a'.repeat(150_000)} FROM account
    SELECT 1 FROM account ${'JOIN account USING (id) '.repeat(80)}`),
]; // prettier-ignore
