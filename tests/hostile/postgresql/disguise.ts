/** Writes behind comments, quotes, encodings and unusual spellings. */
import { group, type Group } from '../corpus';

export const disguise: readonly Group[] = [
  group('comments', String.raw`
    /* SELECT */ DELETE FROM account
    -- SELECT 1 DELETE FROM account
    /* /* nested */ SELECT */ DELETE FROM account
    SELECT 1 /* ; */ ; DELETE FROM account
    SELECT/**/1;/**/DELETE/**/FROM/**/account
    SELECT 1 /* open ; DELETE FROM account
    SELECT 1 */ ; DELETE FROM account
    DELETE/* SELECT */FROM account
    /*! DELETE FROM account */ SELECT pg_sleep(20)
    SELECT '/*' ; DELETE FROM account; -- '*/'
    SELECT $c$ /* $c$; DELETE FROM account; /* */
    WITH /* x */ x /* y */ AS /* z */ (DELETE FROM account RETURNING *) SELECT * FROM x`,
    '-- a comment\nDELETE FROM account',
    '/* SELECT */\n\n\tDELETE\n\tFROM\n\taccount',
    'SELECT 1 -- \u2028; DELETE FROM account\n; DELETE FROM account',
    'SELECT 1 --\u0085\n; DELETE FROM account'),
  group('dollar quotes and strings', String.raw`
    SELECT $$a$$; DELETE FROM account; SELECT $$b$$
    SELECT $x$ $y$ $x$ ; DELETE FROM account; SELECT $y$ $x$ $y$
    SELECT $é$a$é$; DELETE FROM account
    SELECT E'\\'; DELETE FROM account; --'
    SELECT 'a' 'b'; DELETE FROM account
    SELECT B'1'; DELETE FROM account
    SELECT X'ff'; DELETE FROM account
    SELECT N'x'; DELETE FROM account
    SELECT U&'\0061' UESCAPE '\'; DELETE FROM account
    SELECT "a""b" FROM account; DELETE FROM account
    SELECT E'\x00'
    SELECT E'\u0000'
    SELECT chr(0)
    SELECT convert_from('\xff', 'UTF8')
    SELECT U&'\D800'`),
  group('identifiers', String.raw`
    SELECT "pg_sleep"(20)
    SELECT U&"pg_sle\0065p"(20)
    SELECT U&"pg!005fsleep" UESCAPE '!' (20)
    SELECT pg_catalog.pg_sleep(20)
    SELECT PG_CATALOG."pg_sleep"(20)
    SELECT Pg_SlEeP(20)
    SELECT pg_catalog . pg_sleep /* x */ (20)
    SELECT U&"\0070\0067\005f\0074\0065\0072\006d\0069\006e\0061\0074\0065\005f\0062\0061\0063\006b\0065\006e\0064"(@PID@)
    SELECT * FROM U&"\0070\0067_shadow"
    SELECT * FROM pg_catalog . "pg_authid"
    DELETE FROM U&"\0061ccount"
    DELETE FROM "account"
    DELETE FROM ONLY public.account AS a
    SELECT pg_sleep_for('20 s')
    SELECT pg_sleep_until(now() + '20 s')
    SELECT bump() AS "pg_typeof"
    SELECT "bump"()
    SELECT public.bump()
    SELECT (account).bump FROM account
    SELECT account.pg_advisory_lock FROM account`,
    'SELECT p\u0261_sleep(20)',
    'SELECT pg_sleep\u200b(20)',
    'SEL\u200bECT 1; DELETE FROM account',
    'D\u0415LETE FROM account',
    '\uff24\uff25\uff2c\uff25\uff34\uff25 FROM account',
    '\u00a0DELETE FROM account',
    'SELECT 1\u037e DELETE FROM account',
    'SELECT 1\uff1b DELETE FROM account'),
  group('bytes', String.raw`
    \! touch @OUT@/shell
    \copy account TO '@OUT@/copied'
    \o @OUT@/copied
    SELECT 1 \g @OUT@/copied
    SELECT 1 \gexec
    SELECT 'DELETE FROM account' \gexec
    \i /etc/passwd
    \set x DELETE
    SELECT 1 \; DELETE FROM account
    SELECT :'x'; DELETE FROM account
    SELECT $1; DELETE FROM account
    SELECT ?; DELETE FROM account`,
    'SELECT 1\0; DELETE FROM account',
    '\0DELETE FROM account',
    "SELECT 'a\0b'",
    'SELECT 1 \0\0\0\u0001 DELETE',
    '\ufeffDELETE FROM account',
    '\ufffeSELECT 1; DELETE FROM account',
    '\u001aDELETE FROM account',
    '\u001b[2J DELETE FROM account',
    'SELECT 1\u000b; DELETE FROM account',
    'SELECT 1\u000c;\u000cDELETE FROM account',
    'DELETE\u3000FROM account',
    "SELECT '\ud800'; DELETE FROM account",
    '+ADs-DELETE FROM account',
    '%44ELETE FROM account',
    'SELECT 1&#59; DELETE FROM account',
    '',
    '   ',
    ';',
    '--',
    '/**/'),
]; // prettier-ignore
