import { timestamps, type DialectFacts, type Patterns } from './dialect';

/** Its lexer is PostgreSQL's of long ago, with further symbols; what readers could split differently is unknown. */
const patterns: Patterns = [
  ['space', /[ \t\n\r\f\v]+|--[^\n\r]*|\/\*/uy],
  ['string', /[eE]'(?:[^'\\]|''|\\[\s\S])*'|[xXbB]?'(?:[^']|'')*'/uy],
  ['string', /\$(?<tag>(?:[A-Za-z_\u0080-\u{10ffff}][A-Za-z0-9_\u0080-\u{10ffff}]*)?)\$[\s\S]*?\$\k<tag>\$/uy],
  ['quoted', /"(?:[^"]|"")*"/uy],
  ['word', /[A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*/uy],
  ['number', /(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?/uy],
  [
    'symbol',
    /->>|->|<->|@>|<@|\^@|=>|::|:=|\|\||<>|!=|<=|>=|<<|>>|\*\*|\/\/|~~~|!?~~\*?|!?~\*?|[-+*/%^&|~!@(),.;:<>=[\]{}]/uy,
  ],
];

export const duckdb: DialectFacts = {
  name: 'DuckDB',
  alsoCalled: [],
  patterns,
  fold: 'lower',
  quote: '"',
  plain: /^[\p{L}_][\p{L}\p{N}_$]*$/u,
  reserved:
    `anti asof at describe glob lambda pivot pivot_longer pivot_wider positional semi show summarize unpack unpivot`.split(
      ' ',
    ),
  nameParts: 2,
  schema: 'main',
  grammar: 'postgresql',
  syntaxError: 'Parser Error',
  clock: timestamps,
  fromNothing: '',
  numbersAsTruth: false,
  // `system` takes whole vectors of 2,048 rows, and of most tables none at all.
  sample: (table, rows, limit) =>
    rows < limit * 5 ? null : `${table} TABLESAMPLE ${Math.min(100, (limit / rows) * 120).toFixed(4)}% (bernoulli, 1)`,
  hidden: (table) => table,
  notes: `DuckDB:
- integer / integer keeps the fraction; // truncates. x / 0 is Infinity, x // 0 and x % 0 are NULL: divide by NULLIF(y, 0).
- One bad value fails the whole query: TRY_CAST(t AS DOUBLE) gives NULL.
- = and LIKE heed case; ILIKE does not. Names do not heed case; double-quote odd ones.
- JSON: ->> '$.a' or json_extract_string, UNNEST for lists; structs as s.a, lists as l[1].
- Dates: a given clock is a literal, TIMESTAMP '…', never now() or CURRENT_DATE. Half-open ranges: >= start AND < end; date_trunc, INTERVAL, date_diff('day', a, b); strptime(t, '%d.%m.%Y') reads texts.
- date - date is a number of days; date_trunc gives a timestamp. JSON numbers compare after a cast: CAST(j->>'$.a' AS DOUBLE).
- Begin with SELECT or WITH; no FROM-first, no alias in front, no PIVOT statement, read_csv or file names. No macros of the database, no methods: upper(x), not x.upper().`,
};
