/** Statements that would take the server's, or our, time and memory. */
import { group, type Group } from '../corpus';

const MANY = 'generate_series(1, 100000)';

export const bombs: readonly Group[] = [
  group('waiting and endless', String.raw`
    SELECT pg_sleep(60)
    SELECT pg_sleep(0.01) FROM generate_series(1, 100000)
    SELECT 1 WHERE pg_sleep(60) IS NOT NULL
    SELECT wait_long()
    WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r
    WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT max(i) FROM r
    WITH RECURSIVE r(a, b) AS (SELECT 0::numeric, 1::numeric UNION ALL SELECT b, a + b FROM r) SELECT count(*) FROM r
    WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r
    SELECT loop_for_ever()
    SELECT count(*) FROM generate_series(1, 9223372036854775806)
    SELECT count(*) FROM generate_series(now(), 'infinity', '1 microsecond')`),
  group('products', String.raw`
    SELECT count(*) FROM ${MANY} a, ${MANY} b
    SELECT count(*) FROM ${MANY} a CROSS JOIN ${MANY} b CROSS JOIN ${MANY} c
    SELECT * FROM ${MANY} a, ${MANY} b ORDER BY a + b DESC
    SELECT count(DISTINCT a * b) FROM ${MANY} a, ${MANY} b
    SELECT array_agg(a) FROM ${MANY} a, ${MANY} b
    SELECT string_agg(repeat('x', 1000), '') FROM ${MANY} a, ${MANY} b
    SELECT json_agg(a) FROM ${MANY} a, ${MANY} b
    SELECT sum(a) OVER (ORDER BY b) FROM ${MANY} a, ${MANY} b
    SELECT a, b, count(*) FROM ${MANY} a, ${MANY} b GROUP BY CUBE (a, b)
    SELECT * FROM ${MANY} a, LATERAL (SELECT count(*) FROM ${MANY} b WHERE b > a) s`),
  group('large values', String.raw`
    SELECT repeat('x', 1000000000)
    SELECT repeat('x', 200000000)
    SELECT length(repeat(repeat('x', 1000000), 1000))
    SELECT repeat('x', 50000000) FROM generate_series(1, 20)
    SELECT repeat('x', 2000000) FROM generate_series(1, 1000)
    SELECT lpad('', 1000000000)
    SELECT rpad('x', 500000000, 'y')
    SELECT string_agg(repeat('x', 1000000), '') FROM generate_series(1, 1100)
    SELECT array_fill(0, ARRAY[20000000])
    SELECT array_agg(repeat('x', 1000)) FROM generate_series(1, 1000000)
    SELECT format('%100000000s', 'x')
    SELECT decode(repeat('ff', 400000000), 'hex')
    SELECT encode(decode(repeat('ff', 200000000), 'hex'), 'base64')
    SELECT xmlelement(name a, repeat('x', 300000000))
    SELECT to_jsonb(repeat('x', 200000000))
    SELECT 10::numeric ^ 100000
    SELECT factorial(50000)
    SELECT power(9.0::numeric, 99999)
    SELECT convert_to(repeat('é', 200000000), 'LATIN1')`),
  group('pattern bombs', String.raw`
    SELECT repeat('a', 40) ~ '(a+)+$b'
    SELECT repeat('a', 100000) ~ '(a|aa)+(a|aa)+(a|aa)+$b'
    SELECT regexp_replace(repeat('a', 20000), '(a*)*b', 'x', 'g')
    SELECT repeat('x', 200) SIMILAR TO '(x+x+)+y'
    SELECT repeat('ab', 50000) LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%c'
    SELECT regexp_matches(repeat('a', 5000), '((a{1,100}){1,100}){1,10}', 'g')
    SELECT 'a' ~ repeat('(', 100000)
    SELECT regexp_split_to_array(repeat('a', 1000000), '')
    SELECT levenshtein(repeat('a', 255), repeat('b', 255)) FROM ${MANY} a, ${MANY} b
    SELECT similarity(repeat('ab', 100000), repeat('ba', 100000)) FROM ${MANY}`),
  group('depth', String.raw`
    SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}
    SELECT ${'('.repeat(40000)}1${')'.repeat(40000)}
    SELECT 1${' + 1'.repeat(3000)}
    SELECT 1${' + 1'.repeat(20000)}
    SELECT ${'NOT '.repeat(3000)}true
    SELECT ${'CASE WHEN true THEN '.repeat(3000)}1${' END'.repeat(3000)}
    SELECT * FROM ${'(SELECT * FROM '.repeat(2000)}account${') x'.repeat(2000)}
    SELECT 1${' UNION ALL SELECT 1'.repeat(5000)}
    SELECT ${'1, '.repeat(40000)}1
    SELECT ${'ARRAY['.repeat(3000)}1${']'.repeat(3000)}
    SELECT repeat('[', 100000)::json
    SELECT (repeat('[', 6000) || repeat(']', 6000))::jsonb
    SELECT repeat('{"a":', 50000)::jsonb
    SELECT ('<a>' || repeat('<b>', 100000))::xml
    SELECT ${'a'.repeat(150_000)} FROM account
    SELECT 1 FROM account ${'JOIN account USING (id) '.repeat(1000)}`),
]; // prettier-ignore
