import { timestamps, type DialectFacts, type Patterns } from './dialect';

/**
 * As sessions read it: `ANSI_QUOTES` makes "…" a name, `NO_BACKSLASH_ESCAPES` a backslash a character. Comments that are run
 * (they begin with `!`) or that change settings (with `+`), variables, parameters and braces are unknown tokens, and so is what
 * the two servers could split differently: a dollar sign at the beginning, a number before a dot and a name, digits after a
 * name and a dot. A name may begin with digits; `1e5` and `0x1f` are numbers.
 */
const patterns: Patterns = [
  ['space', /[ \t\n\r\f\v]+|--(?=[\x00-\x20\x7f]|$)[^\n]*|#[^\n]*|\/\*(?![!+]|M!)(?:(?!\*\/)[\s\S])*\*\//uy],
  ['string', /[xXbBnN]?'(?:[^']|'')*'(?!')/uy],
  ['quoted', /"(?:[^"]|"")*"(?!")|`(?:[^`]|``)*`(?!`)/uy],
  ['number', /(?:0x[0-9a-fA-F]+|0b[01]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?![\w$.\u0080-\u{10ffff}])/uy],
  ['number', /(?<![\w$"`\u0080-\u{10ffff}])\.\d+(?:[eE][+-]?\d+)?(?![\w$.\u0080-\u{10ffff}])/uy],
  [
    'word',
    /(?:[A-Za-z_\u0080-\u{10ffff}]|(?!0[xXbB]|\d+[eE]\d)\d+(?=[\w$\u0080-\u{10ffff}]*[A-Za-z_]))[\w$\u0080-\u{10ffff}]*/uy,
  ],
  // A dot before digits belongs to a number, except directly after a name.
  [
    'symbol',
    /(?!\/\*|\.\d+(?![A-Za-z_\d])|(?<![\w$\u0080-\u{10ffff}])\.\d)(?:->>|->|<=>|<>|!=|<=|>=|<<|>>|\|\||&&|[-+*/%^&|~!(),.;<>=])/uy,
  ],
];

export const mysql: DialectFacts = {
  name: 'MySQL',
  alsoCalled: ['mariadb'],
  patterns,
  fold: 'none',
  // Both quotes make names in our sessions; these do in people's own too.
  quote: '`',
  plain: /^[\p{L}_][\p{L}\p{N}_$]*$/u,
  // Those of MySQL 9.7 and of MariaDB 10.11, tried as names on both.
  reserved:
    `accessible asensitive before bigint blob call cascade change char character condition continue convert cube cume_dist
    cursor database databases day_hour day_microsecond day_minute day_second dec decimal declare delayed delete_domain_id
    dense_rank describe deterministic distinctrow div do_domain_ids double dual each elseif empty enclosed escaped exit
    explain external first_value float float4 float8 force fulltext function generated get grouping groups high_priority
    hour_microsecond hour_minute hour_second ignore ignore_domain_ids infile inout insensitive int int1 int2 int3 int4
    int8 integer interval io_after_gtids io_before_gtids iterate json_table key keys kill lag last_value lead leave
    library linear lines load lock long longblob longtext loop low_priority master_demote_to_replica
    master_demote_to_slave master_ssl_verify_server_cert match maxvalue mediumblob mediumint mediumtext middleint
    minute_microsecond minute_second mod modifies no_write_to_binlog nth_value ntile numeric of optimize optimizer_costs
    option optionally out outfile over page_checksum parse_vcol_expr partition percent_rank portion precision procedure
    purge range rank read read_write reads real recursive ref_system_id release rename repeat replace require resignal
    restrict return rollup row_number schema schemas second_microsecond sensitive separator show signal smallint spatial
    specific sql sql_big_result sql_buffer_result sql_cache sql_calc_found_rows sql_no_cache sql_small_result sqlexception
    sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent stats_sample_pages stored straight_join system
    terminated tinyblob tinyint tinytext undo unlock unsigned usage use utc_date utc_time utc_timestamp varbinary varchar
    varcharacter varying virtual while write xor year_month zerofill`.split(/\s+/),
  nameParts: 2,
  schema: null,
  grammar: 'mysql',
  syntaxError: '1064',
  rowIds: ['_rowid'],
  clock: timestamps,
  fromNothing: ' FROM DUAL',
  numbersAsTruth: true,
  sample: () => null,
  hidden: null,
  flatWith: true,
  notes: `MySQL, in a session that reads standard SQL:
- '…' is a text, "…" and \`…\` are names; || joins texts; a backslash in '…' is a plain character.
- integer / integer keeps the fraction; DIV truncates. x / 0 is NULL. There are no truth values: TRUE is 1.
- A text compared or added as a number silently becomes its leading digits, else 0: check with REGEXP '^-?[0-9]+([.][0-9]+)?$' before CAST(t AS DECIMAL(20,6)).
- = and LIKE mostly ignore case and = may ignore blanks at the end, by the column's collation; CAST(x AS BINARY) = y heeds both.
- JSON: JSON_VALUE(col, '$.a'), JSON_EXTRACT, JSON_TABLE. GROUP_CONCAT(x ORDER BY y SEPARATOR ', '). CAST(x AS SIGNED), not AS INTEGER.
- Dates: a given clock is a literal, TIMESTAMP '…', never NOW() or CURDATE(). Half-open ranges: >= start AND < end; DATE_ADD(d, INTERVAL 1 DAY), TIMESTAMPDIFF(DAY, a, b), DATE_FORMAT; '0000-00-00' stands for no date in some tables.
- Reserved, so no aliases: over, rank, rows, groups, range, key, keys, system.
- No FULL JOIN, ILIKE, ::, DISTINCT ON, FILTER (WHERE …): SUM(CASE WHEN … THEN 1 ELSE 0 END). No variables, hints or /*! */ comments.`,
};
