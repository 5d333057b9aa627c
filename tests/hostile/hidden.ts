/**
 * Statements that name tables, rows and columns in unusual ways, drawn at random. In a piece, `N` is a name, `R` a row, `T` a table,
 * `A` an alias or none, `V` a value, `B` a relation, `J` joined ones, `Q` a query.
 */
import type { Dialect } from '../../src/domain';

export type Hiding = Extract<Dialect, 'sqlite' | 'duckdb' | 'postgresql' | 'mysql'>;
type Pieces = Readonly<Record<'all' | Hiding, readonly string[]>>;

const NAMES = ['v', 'w', 'p'];
/** Of which a dialect reserves some. */
const ODD =
  'with offset window filter over limit partition only rows values V ſ people orders leads select from * . where as rowid key first last cross natural lateral recursive index force pivot qualify semi anti asof end no columns struct table escape'.split(
    ' ',
  );
const QUOTES: Readonly<Record<Hiding, readonly string[]>> = {
  sqlite: ['"N"', '[N]', '`N`'],
  duckdb: ['"N"'],
  postgresql: ['"N"'],
  mysql: ['`N`', '"N"'],
};
const TABLES: Pieces = {
  all: ['people', 'people', 'orders', 'leads', 'orders', 'leads', '"people"'],
  sqlite: ['main.people', 'main.orders'],
  duckdb: ['main.people', 'main.orders'],
  postgresql: ['public.people', 'public.orders', 'PEOPLE'],
  mysql: ['hidden_a.people', '`people`'],
};
const AFTER_TABLE: Pieces = {
  all: [],
  sqlite: [' NOT INDEXED', ' INDEXED BY x'],
  duckdb: [" PIVOT (max(id) FOR name IN ('ann'))A", ' UNPIVOT (val FOR col IN (id))A', ' TABLESAMPLE 100%'],
  postgresql: [' TABLESAMPLE SYSTEM (100)', ' *'],
  mysql: [' USE INDEX ()', ' IGNORE INDEX FOR JOIN (x)', ' PARTITION (p0, p1)', ' FOR SYSTEM_TIME ALL'],
};
const RELATIONS: Pieces = {
  all: ['(TA)A', "T 'v'", '(J)A', '(J)A', '(J)', 'LATERAL (Q)A'],
  sqlite: ['(VALUES (1, 2, 3), (p.id, v.id, 3))A', "json_each('[1]')A", 'generate_series(1, 2)A'],
  duckdb: [
    '(VALUES (1, 2, 3), (p.id, v.id, 3))A',
    'v: T',
    'generate_series(1, 2)A',
    'unnest([1, 2])A',
    'range(3)A',
    '(FROM T)A',
    '(TABLE T)A',
    '(SUMMARIZE T)',
  ],
  postgresql: [
    ...[
      '(VALUES (1, 2, 3), (p.id, v.id, 3))A',
      'ONLY TA',
      'ONLY (T)A',
      'ONLY (T)A',
      'generate_series(1, 2)A',
      'unnest(ARRAY[1, 2])A',
      'ROWS FROM (generate_series(1, 2))A',
    ],
    ...['LATERAL unnest(ARRAY[v.id])A', 'LATERAL jsonb_each(to_jsonb(v))A', '(T JOIN T USING (id) AS N)'],
  ],
  mysql: ['DUAL', "JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$'))A", '{OJ T LEFT JOIN T ON 1 = 1}'],
};
const JOINS: Pieces = {
  all: [
    ', B',
    ', B',
    ' CROSS JOIN B',
    ' NATURAL JOIN B',
    ' JOIN B ON V IS NOT NULL',
    ' LEFT JOIN B ON 1 = 1',
    ' JOIN B USING (id)',
  ],
  sqlite: [' FULL JOIN B USING (id, name)'],
  duckdb: [' POSITIONAL JOIN B', ' SEMI JOIN B USING (id)', ' NATURAL ANTI JOIN B', ' FULL JOIN B ON true'],
  postgresql: [' FULL JOIN B USING (id)', ' JOIN B USING (id) AS N', ' NATURAL LEFT JOIN B'],
  mysql: [' STRAIGHT_JOIN B', ' JOIN B'],
};
const ITEMS: Pieces = {
  all: ['*', '*', '*', '*', '*', '*', '*', '*', '2 * 3', 'R . *', 'R.id AS N', 'R.id N', 'id N', 'V N', 'V AS N'],
  sqlite: ['main.people.*', 'main.orders.*'],
  duckdb: [
    '* EXCLUDE (id)',
    'R.* EXCLUDE (id)',
    '* REPLACE (1 AS id)',
    "* LIKE '%s%'",
    '* RENAME (id AS N)',
    'main.orders.*',
  ],
  postgresql: ['(R.*)', 'public.people.*', '(R).*'],
  mysql: ['hidden_a.orders.*', '`people`.*'],
};
const VALUES: Pieces = {
  all: [
    ...[
      'R.id',
      'R.id',
      'R.id',
      'R.name',
      'id',
      'name',
      'x',
      'a',
      'b',
      'R.x',
      '1',
      'R',
      '(R)',
      'R.N',
      'count(R.id)',
      'count(*)',
    ],
    ...['(Q)', '(Q)', 'EXISTS (Q)', '1 IN (Q)', "R.name || 'x'"],
  ],
  sqlite: ["(1, 'ann', 'q1') IN T", 'R.rowid', 'rowid', "'ssn'", '"ssn "', "R.'id'", 'json_group_array(R.id)'],
  duckdb: [
    ...[
      'COLUMNS(*)',
      "COLUMNS('.*')",
      "R['id']",
      'to_json(R)',
      'R::VARCHAR',
      'struct_pack(a := R)',
      "{'a': R}",
      '[x FOR x IN [R]]',
    ],
    ...[
      'unnest(R)',
      'list(R)',
      'row(R)',
      'R.to_json()',
      '#3',
      '#1',
      'hash(R)',
      'main.R.id',
      'main.people',
      'hidden_a.main.people',
    ],
    ...['*COLUMNS(*)', 'max(COLUMNS(*))', "struct_extract(R, 'id')", 'max(R)', 'main.people.id'],
  ],
  postgresql: [
    ...[
      'R::text',
      '(R).id',
      '(R).N',
      'to_json(R)',
      'row_to_json(R.*)',
      'R.to_json',
      'row(R.*)::text',
      'count(R.*)',
      'R IS DISTINCT FROM R',
    ],
    ...[
      'ARRAY(Q)',
      'trim(FROM R::text)',
      'max(R::text)',
      'R.*::text',
      'R.own',
      'extract(day FROM now()) IS NULL',
      'public.people.id',
    ],
  ],
  mysql: [
    'CONCAT(R.id)',
    'hidden_a.people.id',
    '.people.id',
    'hidden_a.R.name',
    'ROW(1, R)',
    'R.from',
    'R.where v',
    'R.select',
  ],
};
const QUERIES: Pieces = {
  all: [
    ...[
      'SELECT I FROM J',
      'SELECT I, I FROM J',
      'SELECT I, I FROM J',
      'SELECT I, I, I FROM J',
      'SELECT DISTINCT I FROM J',
      'SELECT I',
    ],
    ...[
      'SELECT I FROM J WHERE V IS NOT NULL',
      'SELECT I, I FROM J GROUP BY V',
      'SELECT I FROM J UNION ALL Q',
      'SELECT I FROM J EXCEPT Q',
    ],
    ...[
      'SELECT I FROM J WINDOW N AS (ORDER BY V)',
      'SELECT I, I FROM J ORDER BY V',
      'SELECT I FROM J LIMIT 5',
      'SELECT I FROM J HAVING V IS NULL',
    ],
    ...[
      'SELECT R.* FROM T v JOIN T w ON 1 = 1',
      'SELECT R.*, R.id FROM TA, TA',
      'SELECT I FROM T AS v, J',
      'SELECT v.* FROM J, J',
    ],
  ],
  sqlite: [],
  duckdb: [
    'SELECT DISTINCT ON (id) I, I FROM J',
    'SELECT I FROM J UNION ALL BY NAME Q',
    'SELECT I FROM J ORDER BY ALL',
  ],
  postgresql: ['SELECT DISTINCT ON (1) I FROM J', 'SELECT ALL I FROM J FETCH FIRST ROW ONLY'],
  mysql: [
    'SELECT STRAIGHT_JOIN I FROM J',
    'SELECT DISTINCTROW I FROM J',
    'SELECT R.from v, I FROM J',
    'SELECT R.from T v, R.where x, I FROM J',
  ],
};
const CTES: Pieces = {
  all: ['c AS (Q)', 'c AS (Q), d AS (Q)', 'people AS (Q)', 'v AS (Q)', 'c (a, b, c) AS (Q)', 'c (id) AS (Q)', 'with AS (Q)', 'RECURSIVE d AS (Q), c AS (Q)'],
  sqlite: [], duckdb: [], postgresql: [], mysql: [],
}; // prettier-ignore

/** Each shows what is hidden, without the lists. */
export const SHOWING: Readonly<Record<Hiding, readonly string[]>> = {
  sqlite: [
    "SELECT (1, 'ann', 'q1') IN people",
    "SELECT (1, 'ann', 'q1') IN main.people",
    `SELECT id FROM orders WHERE (1, 'ann', 'q1') NOT IN "main" . [people]`,
    'SELECT 1 AS a, 2 AS b, 3 AS c UNION SELECT * FROM people',
    "SELECT v.* FROM (people) 'v', (SELECT 1 FROM orders v)",
    'WITH c(x, y, z) AS (SELECT * FROM main.people) SELECT z FROM c',
    "SELECT people.'ssn' FROM people",
  ],
  duckdb: [
    'SELECT u FROM people AS p UNPIVOT (val FOR col IN (id)) AS u',
    'SELECT u FROM people AS p UNPIVOT INCLUDE NULLS (val FOR col IN (id)) AS u',
    "SELECT u FROM people AS p PIVOT (max(id) FOR name IN ('ann')) AS u",
    "SELECT to_json(u) FROM people p TABLESAMPLE 100% PIVOT (max(id) FOR name IN ('ann')) AS u",
    'SELECT main.people FROM people',
    'SELECT x FROM people d, LATERAL (SELECT d) AS t(x)',
    "SELECT p['s' || 'sn'] FROM people p",
    'SELECT arg_max(p, p.id) FROM people p',
    "SELECT COLUMNS(c -> c LIKE 's%') FROM people",
    'SELECT DISTINCT ON (id) * EXCLUDE (id) FROM people',
  ],
  postgresql: [
    'SELECT to_json(p) FROM orders, ONLY (public.people) p',
    'SELECT p FROM ONLY (people) AS p',
    'SELECT v FROM people * v',
    "SELECT query_to_xml('SELECT * FROM people', true, false, '')",
    'SELECT p.to_json FROM people p',
    "SELECT o.total FROM orders o JOIN people p ON p::text LIKE '%q1%'",
    'SELECT l FROM people p, LATERAL (VALUES (p)) l',
    "SELECT 1 FROM orders WHERE (1, 'ann'::varchar, 'q1'::varchar) IN (TABLE people)",
    'SELECT c FROM people p, ROWS FROM (unnest(ARRAY[p])) AS x(a, b, c)',
    'SELECT substring(p::text FROM 1) FROM people p',
    'SELECT U&"s\\0073n" FROM people',
    'SELECT v, 1 AS distinct FROM (public.people JOIN public.leads USING (id)) v',
    'SELECT v, w.is distinct FROM (public.people JOIN public.leads USING (id)) v, (SELECT 1 AS is) w',
    "SELECT trim(w.select FROM p::text) FROM people p, (SELECT '' AS select) w",
  ],
  mysql: [
    'SELECT v.* FROM people PARTITION (p0, p1) AS v, (SELECT 1 AS one FROM orders v) w',
    'SELECT hidden_a.people.* FROM people',
    "SELECT 1 FROM orders WHERE (1, 'ann', 'q1') IN (SELECT * FROM people)",
    'WITH c (x, y, z) AS (SELECT * FROM people) SELECT z FROM c',
    'SELECT 1 AS a, 2 AS b, 3 AS c UNION SELECT * FROM people',
  ],
};

export function draw(dialect: Hiding, next: () => number): string {
  const one = (items: readonly string[]): string => items[Math.floor(next() * items.length)] ?? '';
  const of = (pieces: Pieces): string => one([...pieces.all, ...pieces[dialect]]);
  const chance = (share: number): boolean => next() < share;
  /** By what rows of the relations drawn so far may be told. */
  const given: string[] = [];
  const hasCtes = chance(0.3);
  const name = (): string => {
    if (chance(0.88)) return one(NAMES);
    const odd = one(ODD);
    return chance(0.5) ? odd : one(QUOTES[dialect]).replace('N', () => odd);
  };
  const alias = (): string => {
    if (chance(0.25)) return '';
    given.pop();
    const list = chance(0.03) ? one([' (a, b, c)', '(a)', '(ssn, b)']) : '';
    given.push(name());
    return one([' ', ' AS ', '\n/* x */ ', ' as ']) + (chance(0.03) ? "'v'" : given.at(-1)!) + list;
  };
  const table = (): string => {
    const drawn = hasCtes && chance(0.3) ? one(['c', 'c', 'd', 'v']) : of(TABLES);
    given.push(drawn);
    return drawn;
  };
  const relation = (depth: number): string => {
    if (depth < 0 || chance(0.6)) {
      const after = chance(0.06) ? filled(one(AFTER_TABLE[dialect]), 0) : '';
      return chance(0.5) ? `${table()}${after}${alias()}` : `${table()}${alias()}${after}`;
    }
    given.push('v');
    return filled(chance(0.4) ? '(Q)A' : of(RELATIONS), depth - 1);
  };
  const joined = (depth: number): string =>
    relation(depth) +
    (chance(depth > 0 ? 0.5 : 0.3) ? filled(of(JOINS), depth - 1) : '') +
    (depth > 0 && chance(0.2) ? filled(of(JOINS), depth - 1) : '');
  const value = (depth: number): string => {
    if (chance(0.5)) return filled(one(['R.id', 'R.id', 'id', '1']), 0);
    for (;;) {
      const piece = of(VALUES);
      if (depth > 0 || !piece.includes('Q')) return filled(piece, depth - 1);
    }
  };
  const fill: Readonly<Record<string, (depth: number) => string>> = {
    N: name,
    R: () =>
      chance(0.85) && given.length > 0
        ? one(given.slice(-3))
        : chance(0.6)
          ? name()
          : one(['c', 'd', 'people', 'main.people', 'orders']),
    T: table,
    TA: () => table() + alias(),
    A: alias,
    V: value,
    I: (depth) => (chance(0.7) ? filled(chance(0.45) ? 'R.*' : of(ITEMS), depth) : value(depth)),
    J: joined,
    B: relation,
    Q: (depth) =>
      filled(
        depth > 0 && chance(0.5)
          ? of(QUERIES)
          : one([
              'SELECT * FROM TA',
              'SELECT R.* FROM TA',
              'SELECT R.id FROM TA',
              'SELECT id FROM TA',
              'SELECT 1 AS a FROM TA',
            ]),
        depth - 1,
      ),
  };
  /** What follows the first FROM is drawn first, so that what precedes it can name its rows. */
  const filled = (piece: string, depth: number): string => {
    const at = /^SELECT/.test(piece) ? piece.indexOf(' FROM ') : -1;
    const replaced = (text: string): string =>
      text.replace(/\b(?:TA|[NRTAVIJBQ])\b|(?<=\))A\b/g, (letter) => fill[letter]!(depth));
    const tail = at < 0 ? '' : replaced(piece.slice(at));
    return replaced(at < 0 ? piece : piece.slice(0, at)) + tail;
  };
  const head = hasCtes ? `WITH ${filled(of(CTES), 1)} ` : '';
  return head + filled(of(QUERIES), Math.floor(next() * 3));
}
