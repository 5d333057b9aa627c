/** Analytical SQL that must run: what people write over `sale (id, shop, day, amount, tags, doc)` and `shop (id, city)`. */

export const TABLES = `
  CREATE TABLE shop (id integer PRIMARY KEY, city text, parent integer);
  CREATE TABLE sale (id integer PRIMARY KEY, shop integer REFERENCES shop, day date, amount numeric(10,2), doc text);
  INSERT INTO shop VALUES (1, 'Rome', NULL), (2, 'Bern', 1), (3, 'Oslo', 2);
  INSERT INTO sale VALUES (1, 1, '2020-01-05', 10.50, '{"items": [1, 2], "by": {"name": "ann"}}'), (2, 1, '2020-02-10', 20, '{}'),
    (3, 2, '2020-02-29', 5.25, '{"items": []}'), (4, 3, '2021-12-31', 100, NULL), (5, NULL, NULL, NULL, NULL);
`;

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Both engines. */
export const common = lines(String.raw`
  SELECT * FROM sale
  SELECT DISTINCT city FROM shop ORDER BY city NULLS LAST
  SELECT s.city, sum(a.amount) AS total FROM sale a JOIN shop s ON s.id = a.shop GROUP BY s.city HAVING sum(a.amount) > 5 ORDER BY total DESC
  SELECT s.city, count(a.id) FROM shop s LEFT JOIN sale a ON a.shop = s.id GROUP BY s.city
  SELECT a.id FROM sale a LEFT JOIN shop s ON s.id = a.shop WHERE s.id IS NULL
  SELECT * FROM shop a CROSS JOIN shop b
  SELECT * FROM shop NATURAL JOIN shop AS other
  SELECT * FROM sale JOIN shop USING (id)
  SELECT * FROM sale a FULL OUTER JOIN shop s ON s.id = a.shop
  SELECT * FROM sale a RIGHT JOIN shop s ON s.id = a.shop
  SELECT id, row_number() OVER (PARTITION BY shop ORDER BY day) FROM sale
  SELECT id, rank() OVER (ORDER BY amount DESC), dense_rank() OVER w FROM sale WINDOW w AS (ORDER BY amount)
  SELECT id, lag(amount, 1) OVER (ORDER BY day), lead(amount) OVER (ORDER BY day) FROM sale
  SELECT id, sum(amount) OVER (ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM sale
  SELECT id, avg(amount) OVER (ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM sale
  SELECT id, sum(amount) OVER (ORDER BY id GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM sale
  SELECT ntile(4) OVER (ORDER BY amount), percent_rank() OVER (ORDER BY amount), cume_dist() OVER (ORDER BY amount) FROM sale
  SELECT first_value(amount) OVER w, last_value(amount) OVER w, nth_value(amount, 2) OVER w FROM sale WINDOW w AS (PARTITION BY shop ORDER BY day)
  SELECT count(*) FILTER (WHERE amount > 10), sum(amount) FILTER (WHERE shop = 1) FROM sale
  WITH t AS (SELECT shop, sum(amount) AS total FROM sale GROUP BY shop) SELECT * FROM t WHERE total = (SELECT max(total) FROM t)
  WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM a, b
  WITH RECURSIVE tree(id, depth) AS (SELECT id, 0 FROM shop WHERE parent IS NULL UNION ALL SELECT s.id, depth + 1 FROM shop s JOIN tree t ON s.parent = t.id) SELECT * FROM tree
  WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT sum(i) FROM n
  WITH t(a, b) AS (VALUES (1, 'x'), (2, 'y')) SELECT * FROM t
  WITH x AS MATERIALIZED (SELECT * FROM sale) SELECT count(*) FROM x
  SELECT * FROM (SELECT shop, max(day) AS latest FROM sale GROUP BY shop) t WHERE latest IS NOT NULL
  SELECT * FROM sale WHERE amount > (SELECT avg(amount) FROM sale)
  SELECT * FROM sale a WHERE EXISTS (SELECT 1 FROM shop s WHERE s.id = a.shop AND s.city LIKE 'R%')
  SELECT * FROM sale WHERE shop IN (SELECT id FROM shop WHERE city <> 'Oslo')
  SELECT * FROM sale WHERE shop NOT IN (1, 2)
  SELECT * FROM sale WHERE (shop, id) IN ((1, 1), (1, 2))
  SELECT id FROM sale UNION SELECT id FROM shop
  SELECT id FROM sale UNION ALL SELECT id FROM shop ORDER BY 1 LIMIT 3 OFFSET 1
  SELECT id FROM sale INTERSECT SELECT id FROM shop
  SELECT id FROM sale EXCEPT SELECT id FROM shop
  SELECT CASE WHEN amount > 50 THEN 'high' WHEN amount > 10 THEN 'mid' ELSE 'low' END AS band, count(*) FROM sale GROUP BY 1
  SELECT CASE shop WHEN 1 THEN 'one' END FROM sale
  SELECT coalesce(city, 'none'), nullif(city, 'Rome') FROM shop
  SELECT upper(city), lower(city), length(city), trim(city), replace(city, 'o', '0'), substr(city, 1, 2) FROM shop
  SELECT city || ' (' || id || ')' FROM shop
  SELECT round(amount, 1), abs(-amount), amount % 3 FROM sale WHERE amount IS NOT NULL
  SELECT CAST(amount AS integer), CAST(id AS text) FROM sale
  SELECT count(DISTINCT shop), min(day), max(day), avg(amount), sum(amount) / count(*) FROM sale
  SELECT shop, count(*) * 100.0 / (SELECT count(*) FROM sale) AS share FROM sale GROUP BY shop
  SELECT * FROM sale WHERE day BETWEEN '2020-01-01' AND '2020-12-31'
  SELECT * FROM sale WHERE city_of(shop) = 'x' OR 1 = 1
  SELECT * FROM sale WHERE doc LIKE '%"by"%' ESCAPE '!'
  SELECT * FROM sale WHERE amount IS NOT DISTINCT FROM 20
  SELECT -id, +id, id * -1, (id), ((id)) FROM sale
  SELECT 'it''s', 'a;b', '-- no comment', '/* nor this */' FROM shop
  SELECT 1 AS "delete", 2 AS "drop table", 3 AS "update" FROM shop
  SELECT "id", "city" FROM "shop" AS "insert"
  SELECT id AS created, city AS updated, parent AS deleted FROM shop
  SELECT 'DELETE FROM sale; DROP TABLE shop' AS note
  SELECT /* DELETE */ id FROM shop -- DROP
  SELECT exp(1), ln(2), power(2, 10), sqrt(2), pi() FROM shop
  SELECT * FROM sale ORDER BY CASE WHEN shop IS NULL THEN 1 ELSE 0 END, amount DESC, id
  SELECT * FROM shop s1 JOIN shop s2 ON s1.parent = s2.id JOIN shop s3 ON s2.parent = s3.id
  SELECT max(total) - min(total) FROM (SELECT sum(amount) AS total FROM sale GROUP BY shop) t
  SELECT shop, amount, amount - avg(amount) OVER (PARTITION BY shop) AS diff FROM sale
  VALUES (1, 'a'), (2, 'b')
  SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v
  SELECT (SELECT count(*) FROM sale), (SELECT count(*) FROM shop)
  SELECT shop FROM sale GROUP BY shop HAVING count(*) = (SELECT max(n) FROM (SELECT count(*) AS n FROM sale GROUP BY shop) t)
  SELECT * FROM sale LIMIT 0
  SELECT NULL, 1 = 1, NOT (1 = 2)
  SELECT shop, day, amount FROM sale a WHERE amount = (SELECT max(b.amount) FROM sale b WHERE b.shop = a.shop)
  SELECT s.city, t.n FROM shop s JOIN (SELECT shop, count(*) AS n FROM sale GROUP BY shop) t ON t.shop = s.id ORDER BY t.n DESC, s.city
  SELECT a.id, b.id FROM sale a JOIN sale b ON a.shop = b.shop AND a.id < b.id
  SELECT count(*) FROM sale a JOIN shop s ON a.shop = s.id AND s.city IN ('Rome', 'Bern') WHERE a.amount >= 5 AND a.amount < 50
  WITH ranked AS (SELECT *, row_number() OVER (PARTITION BY shop ORDER BY amount DESC) AS n FROM sale) SELECT * FROM ranked WHERE n <= 2
  WITH daily AS (SELECT day, sum(amount) AS total FROM sale GROUP BY day) SELECT day, total, sum(total) OVER (ORDER BY day) AS running FROM daily
  WITH first AS (SELECT shop, min(day) AS day FROM sale GROUP BY shop) SELECT f.shop, count(*) FROM first f JOIN sale a ON a.shop = f.shop AND a.day = f.day GROUP BY f.shop
  SELECT city, CASE WHEN parent IS NULL THEN 'root' ELSE 'child' END AS kind FROM shop WHERE city IS NOT NULL AND NOT city = ''
  SELECT sum(CASE WHEN shop = 1 THEN amount ELSE 0 END) AS rome, sum(CASE WHEN shop = 2 THEN amount ELSE 0 END) AS bern FROM sale
  SELECT id FROM sale WHERE shop = 1 AND (amount > 15 OR day < '2020-02-01') ORDER BY id DESC LIMIT 1
  SELECT count(*), count(shop), count(*) - count(shop) AS missing FROM sale
  SELECT lower(city) AS city FROM shop GROUP BY lower(city) HAVING count(*) > 0 ORDER BY 1
  SELECT s.city FROM shop s WHERE (SELECT count(*) FROM sale a WHERE a.shop = s.id) > 1
  SELECT lo_quality(1), editor(2), crosstab_of(3) FROM shop
`); // prettier-ignore

export const postgresql = lines(String.raw`
  SELECT date_trunc('month', day), sum(amount) FROM sale GROUP BY 1 ORDER BY 1
  SELECT extract(year FROM day), extract(dow FROM day), date_part('week', day) FROM sale
  SELECT day + interval '1 month', day - '2020-01-01'::date, age(day), now() - day FROM sale
  SELECT to_char(day, 'YYYY-MM'), to_char(amount, 'FM999.00'), to_date('20200101', 'YYYYMMDD') FROM sale
  SELECT current_date, current_timestamp, localtime, now(), clock_timestamp(), timeofday()
  SELECT make_date(2020, 1, 31), make_interval(days => 3), justify_days(interval '40 days')
  SELECT day AT TIME ZONE 'UTC' FROM sale
  SELECT (day, day + 10) OVERLAPS ('2020-01-01'::date, '2020-03-01'::date) FROM sale
  SELECT generate_series('2020-01-01'::date, '2020-03-01', '1 month')
  SELECT d::date, count(a.id) FROM generate_series('2020-01-01'::timestamp, '2020-02-01', '1 day') d LEFT JOIN sale a ON a.day = d::date GROUP BY 1
  SELECT shop, extract(month FROM day), sum(amount) FROM sale GROUP BY ROLLUP (1, 2)
  SELECT shop, day, sum(amount), grouping(shop, day) FROM sale GROUP BY CUBE (shop, day)
  SELECT shop, day, sum(amount) FROM sale GROUP BY GROUPING SETS ((shop), (day), ())
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount), mode() WITHIN GROUP (ORDER BY shop) FROM sale
  SELECT percentile_disc(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY amount) FROM sale
  SELECT rank(10) WITHIN GROUP (ORDER BY amount) FROM sale
  SELECT DISTINCT ON (shop) * FROM sale ORDER BY shop, day DESC
  SELECT * FROM shop s, LATERAL (SELECT * FROM sale a WHERE a.shop = s.id ORDER BY day DESC LIMIT 1) last
  SELECT * FROM shop s LEFT JOIN LATERAL (SELECT sum(amount) FROM sale a WHERE a.shop = s.id) t ON true
  SELECT doc::json ->> 'items', doc::jsonb -> 'by' ->> 'name', doc::jsonb #>> '{by,name}' FROM sale
  SELECT jsonb_array_elements(doc::jsonb -> 'items') FROM sale
  SELECT key, value FROM sale, jsonb_each(doc::jsonb)
  SELECT * FROM sale, jsonb_to_record(doc::jsonb) AS r(items jsonb, by jsonb)
  SELECT * FROM sale WHERE doc::jsonb @> '{"items": []}' OR doc::jsonb ? 'by'
  SELECT jsonb_path_query(doc::jsonb, '$.items[*]') FROM sale
  SELECT json_agg(city), jsonb_object_agg(id, city), json_build_object('a', 1), row_to_json(shop) FROM shop GROUP BY shop
  SELECT array_agg(id ORDER BY day), string_agg(id::text, ', ' ORDER BY id) FROM sale
  SELECT unnest(ARRAY[1, 2, 3]), ARRAY[1, 2] || 3, array_length(ARRAY[1, 2], 1)
  SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b']) WITH ORDINALITY AS t(n, s, position)
  SELECT * FROM sale WHERE shop = ANY(ARRAY[1, 2]) AND shop <> ALL('{3}'::int[])
  SELECT (ARRAY[1, 2, 3])[2], (ARRAY[1, 2, 3])[1:2], array_position(ARRAY['a'], 'a')
  SELECT ARRAY(SELECT id FROM sale ORDER BY id)
  SELECT city ~ '^R', city ~* 'rome', city !~ 'x', city ILIKE 'r%', city SIMILAR TO '(R|B)%' FROM shop
  SELECT regexp_replace(city, '[aeiou]', '', 'g'), regexp_match(city, '(.)o'), split_part('a-b', '-', 2) FROM shop
  SELECT regexp_split_to_table('a b c', ' '), string_to_array('a,b', ',')
  SELECT position('o' IN city), overlay(city PLACING 'x' FROM 1), left(city, 1), initcap(city), lpad(city, 8, '.') FROM shop
  SELECT format('%s has %s', city, id), concat_ws('-', city, id), md5(city), encode(city::bytea, 'hex') FROM shop
  SELECT to_tsvector('english', city) @@ to_tsquery('rome') FROM shop
  SELECT greatest(1, 2), least(1, 2), width_bucket(5, 0, 10, 5), div(7, 2), mod(7, 2), trunc(1.5), ceil(1.2)
  SELECT corr(id, amount), stddev(amount), variance(amount), regr_slope(amount, id) FROM sale
  SELECT bool_and(amount > 1), bool_or(amount > 1), every(amount > 1), bit_and(id) FROM sale
  SELECT random() < 2, gen_random_uuid() IS NOT NULL
  SELECT '[1,5)'::int4range @> 3, lower('[1,5)'::int4range), '[2020-01-01,2020-02-01)'::daterange && '[2020-01-15,)'::daterange
  SELECT '1 day'::interval * 3, '10:00'::time + '1 hour', date '2020-01-01'
  SELECT 10::numeric / 3, 10 / 3, 10.0 / 3, 7::float8, 1e10, 0.1::real
  SELECT * FROM sale TABLESAMPLE BERNOULLI (100)
  SELECT * FROM sale TABLESAMPLE SYSTEM (100) REPEATABLE (1)
  SELECT * FROM sale FETCH FIRST 2 ROWS ONLY
  SELECT * FROM sale ORDER BY amount FETCH FIRST 1 ROW WITH TIES
  TABLE shop
  SELECT ctid, tableoid::regclass, xmin FROM shop
  SELECT s FROM shop s
  SELECT (s).city FROM shop s
  SELECT count(*) FROM information_schema.columns WHERE table_name = 'sale'
  SELECT relname, n_live_tup FROM pg_stat_user_tables
  SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'sale'
  SELECT obj_description('sale'::regclass), col_description('sale'::regclass, 1), pg_typeof(1)
  SELECT pg_size_pretty(pg_total_relation_size('sale')), pg_relation_size('sale')
  WITH RECURSIVE t(id, path) AS (SELECT id, ARRAY[id] FROM shop WHERE parent IS NULL UNION ALL SELECT s.id, path || s.id FROM shop s JOIN t ON s.parent = t.id WHERE NOT s.id = ANY(path)) SELECT * FROM t
  WITH RECURSIVE t AS (SELECT id, parent FROM shop UNION SELECT s.id, s.parent FROM shop s JOIN t ON t.id = s.parent) SEARCH DEPTH FIRST BY id SET o SELECT * FROM t
  WITH RECURSIVE t AS (SELECT id, parent FROM shop UNION ALL SELECT s.id, s.parent FROM shop s JOIN t ON t.parent = s.id) CYCLE id SET c USING p SELECT * FROM t
  SELECT id, sum(amount) OVER (ORDER BY day RANGE BETWEEN '1 month' PRECEDING AND CURRENT ROW) FROM sale
  SELECT xmlelement(name a, city), xpath('/a/text()', '<a>1</a>'::xml) FROM shop
  SELECT U&'d\0061t\+000061', E'a\nb', $$it's$$, $tag$x$tag$, B'101', X'1F'
  SELECT 1 WHERE 'set' = 'set' AND 'nextval' <> 'x'
  SELECT city COLLATE "C" FROM shop ORDER BY city COLLATE "C"
  SELECT ROW(1, 2) = ROW(1, 2), (1, 2) < (1, 3), ROW(1, NULL) IS NULL
  SELECT count(*) FILTER (WHERE day > CURRENT_DATE - INTERVAL '10 years') OVER (PARTITION BY shop) FROM sale
  SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(1, 3)) AS t(a, b)
  SELECT row_number() OVER (), * FROM json_to_recordset('[{"a":1}]') AS x(a int)
  SELECT setting FROM pg_settings WHERE name = 'server_version'
  SELECT current_setting('TimeZone'), version(), current_database(), current_user
  SELECT num_nulls(city, parent), num_nonnulls(city) FROM shop
  SELECT CASE WHEN EXISTS (SELECT FROM sale) THEN 'some' END
  SELECT isfinite(day), date_bin('15 minutes', now(), '2020-01-01') FROM sale
`); // prettier-ignore

export const duckdb = lines(String.raw`
  SELECT shop, amount FROM sale QUALIFY row_number() OVER (PARTITION BY shop ORDER BY amount DESC) = 1
  SELECT * EXCLUDE (doc) FROM sale
  SELECT * EXCLUDE doc REPLACE (amount * 2 AS amount) FROM sale
  SELECT * RENAME (doc AS document) FROM sale
  SELECT COLUMNS('^(id|day)$') FROM sale
  SELECT min(COLUMNS(* EXCLUDE (doc))) FROM sale
  SELECT COLUMNS(c -> c LIKE 'a%') FROM sale
  SELECT shop, sum(amount) FROM sale GROUP BY ALL ORDER BY ALL
  SELECT DISTINCT ON (shop) shop, day FROM sale ORDER BY shop, day DESC
  SELECT list(amount ORDER BY day) FILTER (WHERE amount > 5) FROM sale
  SELECT list_transform([1, 2, 3], x -> x + 1), list_filter([1, 2], lambda x: x > 1), list_reduce([1, 2], (a, b) -> a + b)
  SELECT [x * 2 FOR x IN [1, 2, 3] IF x > 1]
  SELECT list_aggregate([1, 2, 3], 'sum'), list_sort([3, 1]), list_distinct([1, 1]), array_length([1, 2]), len([1]), flatten([[1], [2]])
  SELECT [1, 2, 3][1], [1, 2, 3][1:2], [1, 2, 3][-1], 'hello'[2:3]
  SELECT {'a': 1, 'b': 'x'}.a, struct_pack(a := 1, b := 2), {'a': {'b': [1]}}['a']['b'][1]
  SELECT MAP {'k': 1}['k'], map_keys(MAP {'k': 1}), map(['a'], [1]), cardinality(MAP {'k': 1})
  SELECT unnest([1, 2, 3]) AS x, unnest({'a': 1, 'b': 2})
  SELECT unnest(list_value({'a': 1}, {'a': 2}), recursive := true)
  SELECT s.id, t.tag FROM sale s, unnest(['a', 'b']) AS t(tag)
  SELECT s.id, t.x FROM sale s CROSS JOIN LATERAL (SELECT s.amount * 2 AS x) t
  SELECT * FROM range(5), generate_series(1, 3)
  SELECT * FROM range(DATE '2020-01-01', DATE '2020-02-01', INTERVAL 1 DAY)
  SELECT a.id, b.id FROM sale a ASOF JOIN sale b ON a.shop = b.shop AND a.day >= b.day
  SELECT * FROM sale a ASOF LEFT JOIN sale b USING (shop, day)
  SELECT * FROM shop SEMI JOIN sale ON sale.shop = shop.id
  SELECT * FROM shop ANTI JOIN sale ON sale.shop = shop.id
  SELECT * FROM shop POSITIONAL JOIN sale
  SELECT doc ->> '$.by.name', doc -> 'items', json_extract_string(doc, '$.by.name') FROM sale
  SELECT json_array_length(doc, '$.items'), json_keys(doc), json_type(doc), json_valid(doc), to_json(shop) FROM sale
  SELECT key, value FROM sale, json_each(sale.doc)
  SELECT j.key, j.value FROM sale s, json_each(s.doc, '$.items') AS j
  SELECT json_group_array(city), json_group_object(id, city), json_object('a', 1), json_array(1, 2) FROM shop
  SELECT unnest(CAST(doc -> '$.items' AS INTEGER[])) FROM sale
  SELECT from_json(doc, '{"items": ["INTEGER"]}') FROM sale
  SELECT regexp_matches(city, '^R'), regexp_extract(city, '(\w)o', 1), regexp_replace(city, '[aeiou]', '', 'g'), regexp_full_match(city, '.*'), city ~ 'Ro.*', city SIMILAR TO 'R.*' FROM shop
  SELECT regexp_split_to_array('a,b', ','), string_split('a b', ' '), split_part('a-b', '-', 2), str_split_regex('a1b', '\d')
  SELECT date_trunc('month', day), date_part('year', day), extract(dow FROM day), date_diff('day', day, DATE '2021-01-01'), day + INTERVAL 1 MONTH, day + INTERVAL (id) DAY FROM sale
  SELECT strftime(day, '%Y-%m'), strptime('01.02.2020', '%d.%m.%Y'), make_date(2020, 1, 1), last_day(day), dayname(day), monthname(day), epoch(day), to_timestamp(0), age(day, DATE '2020-01-01') FROM sale
  SELECT time_bucket(INTERVAL '1 week', day), week(day), yearweek(day), quarter(day), isodow(day) FROM sale
  SELECT TIMESTAMP '2020-01-01 00:00:00' AT TIME ZONE 'UTC', TIMESTAMPTZ '2020-01-01 00:00:00+02', now() > TIMESTAMP '2020-01-01', current_date, current_timestamp, today()
  SELECT try_cast('x' AS integer), CAST('1' AS DECIMAL(10, 2)), '5'::INT, 1::VARCHAR(10), TRY(1 // 0), typeof(1)
  SELECT median(amount), quantile_cont(amount, 0.9), quantile_disc(amount, [0.25, 0.75]), mode(shop), approx_count_distinct(shop), stddev(amount), corr(id, amount), arg_max(id, amount), any_value(id) FROM sale
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount), mode() WITHIN GROUP (ORDER BY shop) FROM sale
  SELECT histogram(shop), string_agg(DISTINCT city, ', ' ORDER BY city), bool_and(amount > 1), product(amount), first(sale.id ORDER BY day), last(sale.id) FROM sale JOIN shop ON sale.shop = shop.id
  SELECT sum(amount) OVER (PARTITION BY shop ORDER BY day RANGE BETWEEN INTERVAL 7 DAY PRECEDING AND CURRENT ROW), sum(amount) OVER w FROM sale WINDOW w AS (ORDER BY day ROWS 2 PRECEDING), v AS (ORDER BY id)
  SELECT last_value(amount IGNORE NULLS) OVER (ORDER BY day), lag(amount, 1, 0) OVER (ORDER BY day), fill(amount) OVER (ORDER BY day) FROM sale
  SELECT shop, day, sum(amount), grouping(shop), grouping_id(shop, day) FROM sale GROUP BY GROUPING SETS ((shop), (day), ())
  SELECT shop, day, count(*) FROM sale GROUP BY ROLLUP (shop, day)
  SELECT shop, day, count(*) FROM sale GROUP BY CUBE (shop, day)
  SELECT * FROM sale PIVOT (sum(amount) FOR shop IN (1, 2, 3) GROUP BY day)
  SELECT * FROM (SELECT shop, amount FROM sale) PIVOT (sum(amount) AS total, count(*) AS n FOR shop IN (1, 2))
  SELECT * FROM (SELECT id, shop, amount FROM sale) UNPIVOT (v FOR n IN (shop, amount))
  SELECT * FROM sale TABLESAMPLE 50% (bernoulli, 1)
  SELECT * FROM sale TABLESAMPLE reservoir(2 ROWS) REPEATABLE (1)
  SELECT * FROM sale USING SAMPLE 2 ROWS
  SELECT * FROM sale USING SAMPLE 20 PERCENT (bernoulli)
  SELECT id FROM sale UNION BY NAME SELECT city, id FROM shop
  SELECT id FROM sale UNION ALL BY NAME SELECT city, id FROM shop
  (SELECT 1) UNION (SELECT 2)
  SELECT id FROM sale EXCEPT ALL SELECT id FROM shop
  WITH x AS MATERIALIZED (SELECT * FROM sale), y AS NOT MATERIALIZED (SELECT * FROM x) SELECT * FROM y
  WITH sale AS (SELECT * FROM sale WHERE id > 1) SELECT count(*) FROM sale
  WITH sale AS (SELECT * FROM main.sale WHERE id > 1) SELECT count(*) FROM sale
  WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT * FROM r
  SELECT "Sale"."ID" FROM "SALE" AS "Sale"
  SELECT main.sale.id, sale.id FROM main.sale
  SELECT if(id > 1, 'a', 'b'), ifnull(city, 'x'), coalesce(city, 'y'), nullif(id, 1), greatest(1, 2), least(1, 2) FROM shop
  SELECT city ILIKE 'r%', city NOT LIKE 'R%', city LIKE 'R\_%' ESCAPE '\', city GLOB 'R*', city ^@ 'R', starts_with(city, 'R'), contains(city, 'o'), suffix(city, 'e') FROM shop
  SELECT upper(city)[1], length(city), reverse(city), lpad(city, 8, '.'), printf('%d-%s', id, city), format('{} {}', id, city), concat_ws('-', id, city), trim(BOTH 'R' FROM city), substring(city FROM 2 FOR 2), position('o' IN city), translate(city, 'o', '0'), strip_accents(city), levenshtein(city, 'Rome'), jaro_winkler_similarity(city, 'Rome') FROM shop
  SELECT round(1.256, 2), trunc(1.5), ceil(1.2), floor(-1.2), 7 // 2, 7 % 2, 2 ** 3, 2 ^ 3, 5!, abs(-1), sign(-2), sqrt(4), ln(2), log10(100), mod(7, 2), xor(1, 2), 6 & 3, 6 | 3, 1 << 2, @(-1)
  SELECT 1_000_000, 0xFF, 1e3, .5, 'it''s', E'tab\t', $$dollar$$, X'AB'
  SELECT md5(city), sha256(city), hash(city), base64(encode(city)), uuid() IS NOT NULL, bit_count(5), to_base(255, 16), hex(city) FROM shop
  SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b, a BETWEEN 1 AND 2, a IN (1, 2), a NOT IN (SELECT 3) FROM (VALUES (1, 2)) v(a, b)
  SELECT x = ANY ([1, 2]), x IN [1, 2], list_contains([1, 2], x), x > ALL (SELECT 0) FROM (SELECT 1 AS x)
  SELECT amount AS a, a * 2 AS b, b + 1 FROM sale WHERE b > 10
  SELECT array_agg(s) FROM shop s
  SELECT * FROM sale ORDER BY amount DESC NULLS LAST LIMIT 2 OFFSET 1
  SELECT * FROM sale LIMIT 40%
  SELECT * FROM sale LIMIT (SELECT 2)
  SELECT table_name FROM information_schema.tables
  SELECT table_name, comment FROM duckdb_tables
  SELECT rowid, id FROM sale
  SELECT count(*), count() FROM sale;
  SELECT case when amount > 10 then 'x' end AS "case", "day" FROM sale -- the end
  SELECT union_value(n := 1), union_tag(union_value(n := 1)), 'a'::ENUM('a', 'b'), enum_range(NULL::ENUM('a', 'b'))
  SELECT '[1, 2]'::JSON, '{"a": 1}'::JSON ->> 'a', CAST('[1]' AS INTEGER[]), '1 day'::INTERVAL, '\xAA'::BLOB, '101'::BIT
  SELECT date('2020-01-01'), json('{"a": 1}'), len(list_zip([1], [2])), array_value(1, 2), [1, 2]::INTEGER[2]
`);

export const sqlite = lines(String.raw`
  SELECT strftime('%Y-%m', day), sum(amount) FROM sale GROUP BY 1
  SELECT date(day, '+1 month'), datetime('now'), time('now'), julianday(day), unixepoch(day) FROM sale
  SELECT date('now', 'start of month', '-1 day'), strftime('%w', day), strftime('%s', day) FROM sale
  SELECT timediff('2020-02-01', '2020-01-01'), date(2458850.5), datetime(1577836800, 'unixepoch', 'localtime')
  SELECT julianday('2020-02-01') - julianday('2020-01-01')
  SELECT json_extract(doc, '$.by.name'), doc ->> '$.by.name', doc -> 'items' FROM sale
  SELECT value FROM sale, json_each(doc, '$.items')
  SELECT fullkey, atom FROM sale, json_tree(sale.doc) WHERE atom IS NOT NULL
  SELECT json_group_array(city), json_group_object(id, city), json_object('a', 1), json_array(1, 2) FROM shop
  SELECT json_valid(doc), json_type(doc), json_array_length(doc, '$.items'), json_quote('x') FROM sale
  SELECT json_set('{}', '$.a', 1), json_remove('{"a":1}', '$.a'), json_patch('{}', '{"b":2}'), jsonb('{}') IS NULL
  SELECT group_concat(city, ', '), group_concat(DISTINCT city), total(id), string_agg(city, ';') FROM shop
  SELECT typeof(amount), ifnull(city, '?'), iif(amount > 10, 'a', 'b'), instr(city, 'o') FROM sale, shop
  SELECT city GLOB 'R*', city LIKE 'r%', city REGEXP '^R', city NOT LIKE 'x' FROM shop
  SELECT printf('%.2f', amount), format('%05d', id), char(65), unicode('A'), hex('a'), quote('x') FROM sale
  SELECT substring(city, 2), ltrim(city), rtrim(city), trim(city, 'R'), concat(city, id), concat_ws('-', city, id) FROM shop
  SELECT max(1, 2, 3), min(1, 2), random() IS NOT NULL, sign(-1), ceil(1.2), floor(1.8), log10(100)
  SELECT trunc(1.5)
  SELECT mod(7, 2)
  SELECT rowid, oid, _rowid_ FROM shop
  SELECT shop.rowid, [city], "city" FROM shop
  SELECT * FROM generate_series(1, 10, 2)
  SELECT value FROM generate_series(1, 5) WHERE value % 2 = 0
  SELECT name, type FROM pragma_table_info('sale')
  SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
  SELECT name, sql FROM sqlite_schema WHERE type = 'table'
  SELECT * FROM main.sale
  SELECT * FROM sale INDEXED BY sqlite_autoindex_none
  SELECT * FROM sale NOT INDEXED
  SELECT 5 / 2, 5 / 2.0, 5 % 2, 1 << 3, 6 & 3, 6 | 1, ~1
  SELECT id FROM sale WHERE day IS '2020-01-05' OR day IS NOT NULL
  SELECT * FROM sale WHERE shop IS NOT 1
  SELECT CAST('12abc' AS INTEGER), '10' + 5, x'414243', CAST(x'41' AS TEXT)
  SELECT shop, id, max(amount) FROM sale GROUP BY shop
  SELECT id COLLATE NOCASE FROM shop ORDER BY city COLLATE NOCASE
  WITH RECURSIVE d(x) AS (SELECT date('2020-01-01') UNION ALL SELECT date(x, '+1 day') FROM d WHERE x < '2020-02-01') SELECT count(*) FROM d
  WITH RECURSIVE p(id, path) AS (SELECT id, '/' || id FROM shop WHERE parent IS NULL UNION ALL SELECT s.id, path || '/' || s.id FROM shop s JOIN p ON s.parent = p.id) SELECT * FROM p
  SELECT likely(amount > 10), unlikely(amount > 10), likelihood(amount > 10, 0.5) FROM sale
  SELECT soundex(city), nullif(city, ''), zeroblob(4), length(zeroblob(10)), octet_length(city) FROM shop
  SELECT median(amount), stdev(amount), variance(amount), upper_quartile(amount), mode(amount) FROM sale
  SELECT id, amount, sum(amount) OVER (PARTITION BY strftime('%Y', day) ORDER BY day) FROM sale
  SELECT * FROM (SELECT id FROM sale ORDER BY amount DESC LIMIT 2) UNION ALL SELECT * FROM (SELECT id FROM shop LIMIT 1)
  SELECT sqlite_version(), degrees(pi()), radians(180), sin(1), cos(1), tan(1), atan2(1, 1)
  SELECT EXISTS (SELECT 1 FROM sale), NOT EXISTS (SELECT 1 FROM sale)
  SELECT (SELECT city FROM shop WHERE id = sale.shop) FROM sale
  SELECT a.*, b.* FROM sale a, shop b WHERE a.shop = b.id
  SELECT DISTINCT substr(day, 1, 4) FROM sale WHERE day <> ''
`); // prettier-ignore

/** Those that an engine itself answers with an error, with that error; all others yield rows. */
export const erring: Readonly<Record<'postgresql' | 'sqlite' | 'duckdb', Readonly<Record<string, RegExp>>>> = {
  postgresql: {
    "SELECT * FROM sale WHERE city_of(shop) = 'x' OR 1 = 1": /^function city_of\(integer\) does not exist/,
    'SELECT lo_quality(1), editor(2), crosstab_of(3) FROM shop': /^function lo_quality\(integer\) does not exist/,
  },
  sqlite: {
    "SELECT * FROM sale WHERE city_of(shop) = 'x' OR 1 = 1": /^no such function: city_of$/,
    'SELECT lo_quality(1), editor(2), crosstab_of(3) FROM shop': /^no such function: lo_quality$/,
    'SELECT trunc(1.5)': /^no such function: trunc$/,
    'SELECT mod(7, 2)': /^no such function: mod$/,
    'SELECT * FROM sale INDEXED BY sqlite_autoindex_none': /^no such index: sqlite_autoindex_none$/,
  },
  // Functions are on a list there, and statements begin with SELECT or WITH.
  duckdb: {
    "SELECT * FROM sale WHERE city_of(shop) = 'x' OR 1 = 1": /^the function city_of is not allowed/,
    "VALUES (1, 'a'), (2, 'b')": /^VALUES is not allowed/,
    'SELECT lo_quality(1), editor(2), crosstab_of(3) FROM shop': /^the function lo_quality is not allowed/,
  },
};

/** What PostgreSQL has had since a major version; an older one is not asked it. */
export const since: readonly (readonly [number, RegExp])[] = [
  [13, /WITH TIES|gen_random_uuid/],
  [14, /SEARCH DEPTH FIRST|CYCLE id|date_bin/],
];
