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
  ['number', /0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/uy],
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
  reserved:
    `assert_rows_modified contains cube define enum escape except exclude extract following grouping groups hash if
    ignore interval into lookup merge new no nulls of over partition preceding proto qualify range recursive respect rollup
    struct treat unbounded unnest within`.split(/\s+/),
  nameParts: 3,
  schema: null,
  grammar: 'bigquery',
  clock: (now, today) => `DATETIME '${now}' AS now, DATE '${today}' AS today`,
  fromNothing: ' FROM UNNEST([1])',
  numbersAsTruth: false,
  sample: (table, rows, limit) =>
    rows < limit * 5 ? null : `${table} TABLESAMPLE SYSTEM (${Math.min(100, (limit / rows) * 150).toFixed(4)} PERCENT)`,
  hidden: null,
  notes: `BigQuery (GoogleSQL):
- Names in backticks, also whole paths: \`project.dataset.table\`; '…' and "…" are texts.
- integer / integer keeps the fraction; DIV truncates. x / 0 is an error: SAFE_DIVIDE or NULLIF.
- One bad value fails the whole query: SAFE_CAST(t AS FLOAT64) gives NULL; also SAFE.PARSE_DATE.
- = and LIKE heed case; compare LOWER(x). REGEXP_CONTAINS finds a part.
- Nested rows: FROM t, UNNEST(t.items) AS i, (SELECT value.string_value FROM UNNEST(event_params) WHERE key = 'x'); JSON_VALUE, JSON_QUERY.
- Date shards: FROM \`d.events_*\` WHERE _TABLE_SUFFIX BETWEEN '20210101' AND '20210131'; columns and shards left out cost nothing.
- DATE, DATETIME and TIMESTAMP do not compare: cast. A given clock is a literal, DATETIME '…', never CURRENT_DATE. Half-open ranges: >= start AND < end; DATE_TRUNC(d, MONTH), DATE_DIFF(a, b, DAY).
- QUALIFY filters window functions. No column list after a CTE's name, no VALUES, no ::, no |> pipes, no scripts.`,
};
