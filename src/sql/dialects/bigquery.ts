import type { DialectFacts, Patterns } from './dialect';

/**
 * Texts stand in single or double quotes, also three, with escapes by backslash (with r the backslash stays, and still hides a
 * quote); names in backticks. What readers could split differently is unknown: other spaces and letters outside of quotes,
 * nested comments, a carriage return in a comment of one line, pipes, braces.
 */
const patterns: Patterns = [
  ['space', /[ \t\n\r\f\v]+|(?:--|#)(?:[^\n\r]|\r(?=\n))*(?=\n|$)|\/\*(?:(?!\*\/|\/\*)[\s\S])*\*\//uy],
  ['string', /(?:[rR][bB]?|[bB][rR]?)?(?:'''(?:[^\\]|\\[\s\S])*?'''|"""(?:[^\\]|\\[\s\S])*?""")/uy],
  ['string', /(?:[rR][bB]?|[bB][rR]?)?(?:'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*")/uy],
  ['quoted', /`[^`\\\n\r]+`/uy],
  // After a dot a name may begin with digits.
  ['word', /(?<=[\w`)\]]\.)\d\w*/uy],
  ['number', /0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|(?<![\w`)\]])\.\d+)(?:[eE][+-]?\d+)?/uy],
  // The project of a path may have dashes without quotes; nowhere else does a name follow FROM or JOIN so.
  ['word', /(?<=\b(?:FROM|JOIN)\s+)[A-Z_]\w*(?:-\w+)+(?=\.[A-Z_`])/iuy],
  ['word', /[A-Za-z_]\w*/uy],
  ['symbol', /(?!\/\*|--|\|>)(?:=>|->|\|\||<>|!=|<=|>=|<<|>>|[-+*/^&|~(),.;<>=[\]])/uy],
];

export const bigquery: DialectFacts = {
  name: 'BigQuery',
  alsoCalled: ['bq'],
  patterns,
  fold: 'none',
  quote: '`',
  plain: /^[A-Za-z_][A-Za-z0-9_]*$/,
  // All of them: what is none may be an alias, which the reader of relations has to know.
  reserved:
    `all and any array as asc assert_rows_modified at between by case cast collate contains create cross cube current
    default define desc distinct else end enum escape except exclude exists extract false fetch following for
    from full graph_table group grouping groups hash having if ignore in inner intersect interval into is join
    lateral left like limit lookup merge natural new no not null nulls of on or order outer over partition
    preceding proto qualify range recursive respect right rollup rows select set some struct tablesample then to
    treat true unbounded union unnest using when where window with within`.split(/\s+/),
  nameParts: 3,
  schema: null,
  grammar: 'bigquery',
  syntaxError: 'invalidQuery',
  clock: (now, today) => `DATETIME '${now}' AS now, DATE '${today}' AS today`,
  fromNothing: ' FROM UNNEST([1])',
  numbersAsTruth: false,
  sample: (table, rows, limit) =>
    rows < limit * 5 ? null : `${table} TABLESAMPLE SYSTEM (${Math.min(100, (limit / rows) * 150).toFixed(4)} PERCENT)`,
  hidden: null,
  strictNames: true,
  escapes: true,
  notes: `BigQuery (GoogleSQL):
- Names in backticks, also whole paths: \`project.dataset.table\`; '…' and "…" are texts.
- integer / integer keeps the fraction; DIV truncates. x / 0 is an error: SAFE_DIVIDE or NULLIF.
- One bad value fails the whole query: SAFE_CAST(t AS FLOAT64) gives NULL; also SAFE.PARSE_DATE.
- = and LIKE heed case; compare LOWER(x). REGEXP_CONTAINS finds a part.
- Nested rows: FROM t, UNNEST(t.items) AS i, (SELECT value.string_value FROM UNNEST(event_params) WHERE key = 'x'); JSON_VALUE, JSON_QUERY.
- Date shards: FROM \`d.events_*\` WHERE _TABLE_SUFFIX BETWEEN '20210101' AND '20210131'; columns and shards left out cost nothing.
- DATE, DATETIME and TIMESTAMP do not compare: cast. A given clock is a literal, DATETIME '…', never CURRENT_DATE. Half-open ranges: >= start AND < end; DATE_TRUNC(d, MONTH), DATE_DIFF(a, b, DAY).
- UNION ALL or UNION DISTINCT, never UNION alone. COUNTIF(x), SUM(IF(x, 1, 0)): no FILTER (WHERE …). Each column of a result has its own name.
- QUALIFY filters window functions. No column list after a CTE's name, no VALUES, no ::, no |> pipes, no scripts.`,
};
