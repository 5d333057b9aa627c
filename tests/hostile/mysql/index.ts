/**
 * What people know of to get out of a SELECT, a transaction, a login or a reader of statements in MySQL and MariaDB. Many lines
 * are syntax of one of the two only: the other refuses them. `@OUT@`: a folder the server may write to; `@PID@`: another session.
 */
import { group } from '../corpus';

export const acts = [
  group(
    'writes',
    `INSERT INTO prey VALUES (99, 'x')
    INSERT INTO prey SELECT 99, 'x'
    INSERT INTO prey SET id = 99
    INSERT INTO prey VALUES (99, 'x') RETURNING id
    INSERT INTO prey VALUES (1, 'x') ON DUPLICATE KEY UPDATE name = 'x'
    INSERT DELAYED INTO prey VALUES (99, 'x')
    REPLACE INTO prey VALUES (1, 'x')
    UPDATE prey SET name = 'x'
    UPDATE prey, other SET prey.name = 'x'
    DELETE FROM prey
    DELETE FROM prey RETURNING id
    DELETE prey FROM prey JOIN other USING (id)
    DELETE HISTORY FROM prey
    TRUNCATE prey
    TRUNCATE TABLE prey
    LOAD DATA INFILE '/etc/passwd' INTO TABLE prey
    LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE prey
    LOAD XML INFILE '/etc/passwd' INTO TABLE prey
    WITH a AS (SELECT 1 AS id) DELETE prey FROM prey JOIN a USING (id)
    WITH a AS (SELECT 1) UPDATE prey SET name = 'x'
    WITH a AS (SELECT 1) INSERT INTO prey SELECT 99, 'x'
    WITH a AS (DELETE FROM prey RETURNING id) SELECT * FROM a
    (DELETE FROM prey)
    EXPLAIN ANALYZE DELETE FROM prey
    ANALYZE DELETE FROM prey
    ANALYZE FORMAT=JSON UPDATE prey SET name = 'x'
    EXPLAIN EXTENDED SELECT * FROM prey
    IMPORT TABLE FROM 'x'`,
  ),
  group(
    'definitions, which commit',
    `CREATE TABLE evil (a int)
    CREATE TABLE evil AS SELECT 1
    CREATE TABLE evil LIKE prey
    CREATE TEMPORARY TABLE evil (a int)
    CREATE OR REPLACE TABLE prey (a int)
    DROP TABLE prey
    ALTER TABLE prey ADD evil int
    RENAME TABLE prey TO evil
    CREATE INDEX evil ON prey (name)
    CREATE VIEW evil AS SELECT 1
    CREATE DATABASE evil
    DROP DATABASE preydb
    CREATE PROCEDURE evil() SELECT 1
    CREATE FUNCTION evil() RETURNS int RETURN 1
    CREATE AGGREGATE FUNCTION evil RETURNS int SONAME 'evil.so'
    CREATE TRIGGER evil BEFORE INSERT ON prey FOR EACH ROW SET @a = 1
    CREATE EVENT evil ON SCHEDULE EVERY 1 SECOND DO DELETE FROM preydb.prey
    CREATE SEQUENCE evil
    CREATE SERVER evil FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')
    ALTER DATABASE preydb CHARACTER SET latin1
    OPTIMIZE TABLE prey
    REPAIR TABLE other
    ALTER EVENT evil DISABLE
    DROP VIEW shown
    DROP FUNCTION writes`,
  ),
  group(
    'files and programs',
    `SELECT * FROM prey INTO OUTFILE '@OUT@/a'
    SELECT 'x' INTO DUMPFILE '@OUT@/b'
    SELECT * INTO OUTFILE '@OUT@/c' FROM prey
    SELECT 1 UNION SELECT 2 INTO OUTFILE '@OUT@/d'
    (SELECT 1) UNION (SELECT 2) INTO OUTFILE '@OUT@/e'
    (SELECT 1 INTO OUTFILE '@OUT@/f')
    SELECT * FROM (SELECT 1 INTO OUTFILE '@OUT@/g') t
    SELECT 1 INTO/**/OUTFILE '@OUT@/h'
    SELECT 1 INTO#
    SELECT 1 /*!INTO OUTFILE '@OUT@/i'*/
    SELECT 1 /*!50000 INTO OUTFILE '@OUT@/j'*/
    SELECT 1 /*M! INTO OUTFILE '@OUT@/k'*/
    SELECT 1 /*!99999 x*/ INTO OUTFILE '@OUT@/l'
    WITH a AS (SELECT 1) SELECT * FROM a INTO OUTFILE '@OUT@/m'
    SELECT 1 FROM prey WHERE 1 INTO OUTFILE '@OUT@/n'
    SELECT 1 LIMIT 1 INTO OUTFILE '@OUT@/o'
    SELECT 1 INTO OUTFILE '@OUT@/p' FOR UPDATE
    SELECT 1 FROM prey PROCEDURE ANALYSE() INTO OUTFILE '@OUT@/q'
    TABLE prey INTO OUTFILE '@OUT@/r'
    VALUES ROW(1) INTO OUTFILE '@OUT@/s'
    SELECT load_file('/etc/passwd')
    SELECT LOAD_FILE(0x2f6574632f706173737764)
    SELECT sys_exec('touch @OUT@/t')
    SELECT sys_eval('id')
    SELECT lib_mysqludf_sys_info()
    INSTALL PLUGIN evil SONAME 'evil.so'
    INSTALL SONAME 'ha_connect'
    INSTALL COMPONENT 'file://component_validate_password'
    CLONE LOCAL DATA DIRECTORY '@OUT@/u'
    BACKUP STAGE START
    BACKUP LOCK prey`,
    // The comment ends with its line.
    "SELECT 1 -- x\n INTO OUTFILE '@OUT@/v'",
    "SELECT 1 --\u0001 x\n INTO OUTFILE '@OUT@/w'",
    "SELECT 1 #'\n INTO OUTFILE '@OUT@/x' #'",
    "SELECT '\\' INTO OUTFILE '@OUT@/y' -- '",
    'SELECT "\\" INTO OUTFILE \'@OUT@/z\' -- "',
  ),
  group(
    'the session and the server',
    `SET GLOBAL max_connections = 77
    SET PERSIST max_connections = 77
    SET @@GLOBAL.general_log = 1
    SET @@GLOBAL.general_log_file = '@OUT@/log'
    SET GLOBAL event_scheduler = ON
    SET SESSION TRANSACTION READ WRITE
    SET TRANSACTION READ WRITE
    SET tx_read_only = 0
    SET SESSION transaction_read_only = 0
    SET sql_mode = ''
    SET ROLE NONE
    SET PASSWORD = PASSWORD('x')
    SET PASSWORD FOR CURRENT_USER = 'x'
    SET NAMES gbk
    SET STATEMENT max_statement_time = 0 FOR SELECT 1
    SET @a = 1
    SET autocommit = 1
    SET DEFAULT ROLE NONE TO root@localhost
    SELECT @a := 1
    SELECT 1 INTO @a
    SELECT @@GLOBAL.version
    SELECT @@datadir
    COMMIT
    ROLLBACK
    BEGIN
    START TRANSACTION READ WRITE
    SAVEPOINT a
    RELEASE SAVEPOINT gate
    ROLLBACK AND CHAIN
    XA START 'a'
    XA RECOVER
    LOCK TABLES prey WRITE
    UNLOCK TABLES
    LOCK INSTANCE FOR BACKUP
    FLUSH TABLES WITH READ LOCK
    FLUSH PRIVILEGES
    FLUSH BINARY LOGS
    FLUSH LOGS
    RESET MASTER
    RESET BINARY LOGS AND GTIDS
    RESET QUERY CACHE
    RESET PERSIST
    PURGE BINARY LOGS TO 'binlog.000001'
    CHANGE MASTER TO MASTER_HOST = 'x'
    CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'x'
    START SLAVE
    STOP REPLICA
    KILL @PID@
    KILL QUERY @PID@
    KILL HARD CONNECTION @PID@
    KILL USER root
    SHUTDOWN
    RESTART
    BINLOG 'x'
    CACHE INDEX other IN evil
    USE mysql
    DO SLEEP(1)
    DO GET_LOCK('evil', 1)
    HANDLER prey OPEN
    HANDLER prey READ FIRST
    (HANDLER prey OPEN)
    SIGNAL SQLSTATE '45000'
    GET DIAGNOSTICS @a = NUMBER
    HELP 'select'
    SHOW TABLES
    SHOW GRANTS
    SHOW PROCESSLIST
    SHOW VARIABLES
    SHOW CREATE TABLE prey
    DESCRIBE prey
    DESC prey
    CHECK TABLE prey
    CHECKSUM TABLE prey`,
  ),
  group(
    'users and rights',
    `CREATE USER evil
    CREATE USER evil IDENTIFIED BY 'x'
    ALTER USER root@localhost IDENTIFIED BY 'x'
    DROP USER least
    RENAME USER least TO evil
    GRANT ALL ON *.* TO least
    REVOKE ALL PRIVILEGES, GRANT OPTION FROM least
    CREATE ROLE evil
    GRANT PROXY ON root TO least
    SELECT * FROM mysql.user
    SELECT * FROM mysql.global_priv
    SELECT * FROM \`mysql\`.\`user\`
    SELECT * FROM "mysql"."user"
    SELECT * FROM MySQL.user
    SELECT * FROM mysql . user
    SELECT * FROM mysql/**/./**/user
    SELECT 1.FROM mysql.user
    SELECT * FROM prey, mysql.user
    SELECT * FROM prey JOIN mysql.user
    SELECT * FROM prey STRAIGHT_JOIN mysql.user
    SELECT * FROM (prey, mysql.user)
    SELECT * FROM prey WHERE id IN (SELECT 1 FROM mysql.user)
    SELECT (SELECT count(*) FROM mysql.user)
    SELECT * FROM prey ORDER BY (SELECT max(host) FROM mysql.user)
    SELECT * FROM prey UNION SELECT host, user FROM mysql.user
    SELECT * FROM prey UNION TABLE mysql.user
    SELECT * FROM prey UNION (TABLE mysql.user)
    SELECT * FROM prey WHERE id IN (TABLE mysql.user)
    SELECT * FROM (TABLE mysql.user) t
    (TABLE mysql.user)
    WITH a AS (TABLE mysql.user) SELECT * FROM a
    WITH a AS (SELECT * FROM mysql.user) SELECT * FROM a
    SELECT * FROM { OJ mysql.user LEFT JOIN prey ON 1 }
    SELECT * FROM JSON_TABLE((SELECT max(user) FROM mysql.user), '$' COLUMNS (a int PATH '$')) t
    SELECT * FROM performance_schema.threads
    SELECT * FROM sys.session
    SELECT * FROM information_schema.processlist
    SELECT * FROM information_schema.user_privileges
    SELECT * FROM information_schema.global_variables
    SELECT * FROM INFORMATION_SCHEMA.INNODB_TRX
    SELECT user()
    SELECT current_user
    SELECT CURRENT_USER()
    SELECT connection_id()
    SELECT PASSWORD('x')`,
  ),
  group(
    'locks, waiting, sequences, functions',
    `SELECT * FROM prey FOR UPDATE
    SELECT * FROM prey FOR UPDATE SKIP LOCKED
    SELECT * FROM prey FOR SHARE
    SELECT * FROM prey LOCK IN SHARE MODE
    SELECT * FROM (SELECT * FROM prey FOR UPDATE) t
    SELECT get_lock('evil', 10)
    SELECT GET_LOCK ('evil', 10)
    SELECT \`get_lock\`('evil', 10)
    SELECT release_lock('kept')
    SELECT release_all_locks()
    SELECT is_used_lock('kept')
    SELECT sleep(0.2)
    SELECT SLEEP(0.2) FROM prey
    SELECT benchmark(100000000, sha2('x', 512))
    SELECT master_pos_wait('x', 1, 1)
    SELECT master_gtid_wait('0-1-1', 1)
    SELECT nextval(counter)
    SELECT NEXT VALUE FOR counter
    SELECT lastval(counter)
    SELECT setval(counter, 100)
    SELECT PREVIOUS VALUE FOR counter
    SELECT last_insert_id(77)
    SELECT uuid_short()
    SELECT name_const('a', 1)
    SELECT extractvalue('<a/>', concat('/', (SELECT 1)))
    SELECT updatexml('<a/>', 'a', 'b')
    SELECT writes()
    SELECT preydb.writes()
    SELECT \`writes\`()
    SELECT "writes" ()
    SELECT preydb . writes ()
    SELECT commits()
    SELECT * FROM prey WHERE writes() = 1
    SELECT * FROM prey LIMIT 1 PROCEDURE ANALYSE()
    SELECT SQL_CALC_FOUND_ROWS * FROM prey FOR UPDATE
    CALL acts()
    CALL acts
    EXECUTE IMMEDIATE 'DELETE FROM preydb.prey'
    PREPARE a FROM 'DELETE FROM preydb.prey'
    EXECUTE a
    BEGIN NOT ATOMIC DELETE FROM preydb.prey; END
    IF 1 THEN DELETE FROM prey; END IF`,
  ),
  group(
    'disguise',
    `SELECT 1; DELETE FROM prey
    SELECT 1;;DROP TABLE prey
    ; DELETE FROM prey
    /*!DELETE FROM prey*/
    /*!50000 DELETE */ FROM prey
    /*M!100000 DELETE FROM prey */
    SELECT /*! get_lock('evil', 1) */
    SELECT /*!99999 1, */ 2
    SELECT /*+ SET_VAR(sql_mode='') */ 1
    SELECT /*+ MAX_EXECUTION_TIME(0) */ 1
    SELECT 1 /* a /*! x */ DELETE FROM prey */
    SELECT 1 /*
    SELECT 'a
    SELECT \`a
    SELECT ?
    SELECT 1 \\G
    SELECT \\N
    DELIMITER //
    \\! touch @OUT@/sh
    source @OUT@/x
    SELECT {fn get_lock('evil', 1)}
    SELECT 0x1g FROM prey
    SELECT $$a$$
    SELECT preydb.1`,
    'SELECT 1\u0000; DELETE FROM prey',
    'SELECT 1 FROM prey\u0000 INTO OUTFILE "@OUT@/nul"',
    'DELETE\u00a0FROM prey',
    'SELECT\u2028* FROM mysql.user',
    '\ufeffDELETE FROM prey',
  ),
];

/** What people write, over `prey`, `other` and `shown`: both servers run it, unless the second list has it. */
export const legitimate = String.raw`
  SELECT * FROM prey
  SELECT p.*, o.id FROM prey p STRAIGHT_JOIN other o ON o.id = p.id
  SELECT CAST(name AS CHAR(3)), CAST(id AS SIGNED), CAST(id AS UNSIGNED), CAST('1.5' AS DECIMAL(10, 2)), CONVERT(id, CHAR), CONVERT(name USING utf8mb4) FROM prey
  SELECT GROUP_CONCAT(DISTINCT name ORDER BY name DESC SEPARATOR ', ') FROM prey
  SELECT t.a, t.o FROM JSON_TABLE('[{"a": 1}]', '$[*]' COLUMNS (o FOR ORDINALITY, a int PATH '$.a' DEFAULT '0' ON EMPTY NULL ON ERROR)) AS t
  SELECT p.id, t.a FROM prey p, JSON_TABLE(CONCAT('[', p.id, ']'), '$[*]' COLUMNS (a int PATH '$')) AS t
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n
  WITH a AS (SELECT id FROM prey), b AS (SELECT * FROM a) SELECT count(*) FROM b
  SELECT id, ROW_NUMBER() OVER (PARTITION BY name ORDER BY id DESC) AS n, SUM(id) OVER w FROM prey WINDOW w AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  SELECT id, LAG(id, 1) OVER (ORDER BY id), FIRST_VALUE(name) OVER (ORDER BY id), NTILE(2) OVER (ORDER BY id) FROM prey
  SELECT INET6_NTOA(INET6_ATON('::1')), IS_IPV4('10.0.0.1') FROM prey
  SELECT BIN_TO_UUID(UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db')), VECTOR_TO_STRING(STRING_TO_VECTOR('[1, 2]')) FROM prey
  SELECT * FROM prey USE INDEX (PRIMARY) WHERE id > 0
  SELECT * FROM prey FORCE INDEX FOR ORDER BY (PRIMARY) ORDER BY id
  SELECT * FROM parted PARTITION (p0, p1)
  SELECT * FROM prey WHERE name REGEXP '^[a-z]+$' AND name NOT RLIKE 'q' AND name SOUNDS LIKE name
  SELECT * FROM texts WHERE MATCH (body) AGAINST ('word' IN BOOLEAN MODE)
  SELECT DATE_ADD('2024-01-31', INTERVAL 1 MONTH), '2024-01-01' + INTERVAL 2 DAY, TIMESTAMPDIFF(DAY, '2024-01-01', '2024-02-01'), DATE_FORMAT('2024-01-01', '%Y-%m'), EXTRACT(YEAR FROM '2024-01-01')
  SELECT DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00', TIME '10:00:00', X'41', b'1', 0x41, _utf8mb4'a', N'b', 1e3, .5, 5 DIV 2, 5 MOD 2, 5 % 2
  SELECT IF(id > 1, 'a', 'b'), IFNULL(name, ''), NULLIF(id, 1), COALESCE(name, 'x'), CASE id WHEN 1 THEN 'one' ELSE 'more' END FROM prey
  SELECT name, COUNT(*) AS count, SUM(id) AS sum FROM prey GROUP BY name HAVING COUNT(*) > 0 ORDER BY count DESC, sum LIMIT 5 OFFSET 0
  SELECT name, COUNT(*) FROM prey GROUP BY name WITH ROLLUP
  SELECT SUM(id) OVER a, SUM(id) OVER b FROM prey WINDOW a AS (ORDER BY id), b AS (PARTITION BY name)
  SELECT SQL_NO_CACHE DISTINCT name FROM prey LIMIT 0, 5
  SELECT 'a' || 'b', "name", prey.name FROM prey WHERE NOT id = 3 AND id <=> 1 XOR id IS NULL
  SELECT * FROM prey WHERE (id, name) IN (SELECT id, name FROM other) OR id BETWEEN 1 AND 2 OR name LIKE '10|%' ESCAPE '|' OR name = BINARY 'A'
  SELECT id FROM prey UNION SELECT id FROM other UNION ALL (SELECT id FROM prey ORDER BY id LIMIT 1) ORDER BY 1
  (SELECT id FROM prey) UNION (SELECT id FROM other) ORDER BY id LIMIT 3
  SELECT id FROM prey INTERSECT SELECT id FROM other
  SELECT * FROM prey WHERE EXISTS (SELECT 1 FROM other o WHERE o.id = prey.id) AND id > ALL (SELECT 0) AND id = ANY (SELECT id FROM other)
  SELECT * FROM preydb.prey NATURAL JOIN other
  SELECT p.id FROM prey AS p LEFT OUTER JOIN other AS o USING (id) WHERE o.id IS NULL
  SELECT * FROM (SELECT id AS x FROM prey) AS t (x) WHERE x > 0
  SELECT JSON_EXTRACT('{"a": 1}', '$.a'), JSON_UNQUOTE(JSON_EXTRACT('{"a": "b"}', '$.a')), JSON_OBJECT('a', 1), JSON_ARRAYAGG(id) FROM prey
  SELECT doc->>'$.a', doc->'$.a' FROM docs
  SELECT * FROM prey p, LATERAL (SELECT o.id AS oid FROM other o WHERE o.id = p.id) l
  SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
  SELECT LEFT(name, 2), RIGHT(name, 2), REPLACE(name, 'a', 'b'), INSERT('abc', 1, 1, 'x'), TRIM(BOTH ' ' FROM name), SUBSTRING(name FROM 1 FOR 2), POSITION('a' IN name), CHAR(65 USING utf8mb4) FROM prey
  SELECT VALUES_, 2020_total FROM odd WHERE ${'`'}or der${'`'} = 1 -- done
  SELECT * FROM prey # done
  SELECT /* plain */ name FROM shown;
  SELECT (SELECT MAX(id) FROM other) AS most, STDDEV_POP(id), VAR_SAMP(id), BIT_AND(id), STD(id) FROM prey
  SELECT * FROM prey WHERE name COLLATE utf8mb4_bin = 'a' ORDER BY name IS NULL, FIELD(name, 'b', 'a')
  SELECT UNIX_TIMESTAMP('2024-01-01'), FROM_UNIXTIME(0), STR_TO_DATE('01.02.2024', '%d.%m.%Y'), LAST_DAY('2024-02-01'), WEEK('2024-01-01', 3), YEARWEEK('2024-01-01'), DAYNAME('2024-01-01'), QUARTER('2024-01-01')
`
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => line !== '');

/** Syntax and functions of MySQL alone: MariaDB 10.11 does not know them. */
export const ofMysqlAlone = [/->>/, /LATERAL/, /AS t \(x\)/, /_TO_UUID/];

export const PREY = `
  CREATE TABLE prey (id int PRIMARY KEY, name varchar(20)); INSERT INTO prey VALUES (1, 'a'), (2, 'b'), (3, NULL);
  CREATE TABLE other (id int, name varchar(20)) ENGINE=MyISAM; INSERT INTO other VALUES (1, 'a'), (4, 'd');
  CREATE TABLE parted (id int) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN MAXVALUE);
  CREATE TABLE texts (body text, FULLTEXT KEY (body)); CREATE TABLE docs (doc json); INSERT INTO docs VALUES ('{"a": 1}');
  CREATE TABLE odd (VALUES_ int, 2020_total int, \`or der\` int);
  CREATE TABLE log (at int); INSERT INTO log VALUES (1);
  CREATE VIEW shown AS SELECT id, name FROM prey;
  CREATE FUNCTION writes() RETURNS int DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO log VALUES (2); RETURN 1; END;
  CREATE FUNCTION commits() RETURNS int DETERMINISTIC BEGIN SET SESSION sql_mode = ''; RETURN 1; END;
  CREATE VIEW through AS SELECT id, writes() AS w FROM prey;
  CREATE VIEW over_it AS SELECT w AS x FROM through;
  CREATE PROCEDURE acts() BEGIN DELETE FROM prey; SELECT 1; END`;
