import { timestamps, type DialectFacts, type Patterns } from './dialect';

/**
 * As sessions read it: `ANSI_QUOTES` makes "…" a name, `NO_BACKSLASH_ESCAPES` a backslash a character. Comments that are run
 * (they begin with `!`) or that change settings (with `+`), variables and parameters are unknown tokens.
 */
const patterns: Patterns = [
  ['space', /[ \t\n\r\f\v]+|--(?=[\s\x00-\x1f]|$)[^\n]*|#[^\n]*|\/\*(?![!+]|M!)(?:(?!\*\/)[\s\S])*\*\//uy],
  ['string', /[xXbBnN]?'(?:[^']|'')*'/uy],
  ['quoted', /"(?:[^"]|"")*"|`(?:[^`]|``)*`/uy],
  ['number', /0[xX][0-9a-fA-F]+(?![\w$])|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z_$\u0080-\u{10ffff}])/uy],
  ['word', /[A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*/uy],
  ['symbol', /(?!\/\*)(?:->>|->|<=>|<>|!=|<=|>=|<<|>>|\|\||&&|[-+*/%^&|~!(),.;<>=])/uy],
];

export const mysql: DialectFacts = {
  name: 'MySQL',
  alsoCalled: ['mariadb'],
  patterns,
  fold: 'none',
  quote: '"',
  plain: /^[\p{L}_][\p{L}\p{N}_$]*$/u,
  reserved:
    `accessible analyze call cascade change condition continue convert cube current_user cursor database databases
    day_hour day_minute declare delayed describe deterministic distinctrow div dual each elseif empty enclosed escaped exit
    explain fulltext generated get groups high_priority if ignore infile inout int interval iterate json_table keys kill lag
    lead leave lines load lock long loop match maxvalue mod modifies optimize option optionally out outfile partition
    procedure purge range rank read reads recursive release rename repeat replace require resignal restrict return row_number
    schema schemas sensitive separator show signal spatial specific sql ssl starting stored straight_join system terminated
    tinyint undo unlock unsigned usage use utc_date utc_time utc_timestamp varying virtual while write xor zerofill`.split(
      /\s+/,
    ),
  nameParts: 2,
  schema: null,
  grammar: 'mysql',
  clock: timestamps,
  numbersAsTruth: true,
  sample: () => null,
  hidden: null,
  notes: `MySQL, in a session that reads standard SQL:
- '…' is a text, "…" and \`…\` are names; || joins texts; a backslash in '…' is a plain character.
- integer / integer keeps the fraction; DIV truncates. x / 0 is NULL.
- A text compared or added as a number silently becomes its leading digits, else 0: check with REGEXP '^-?[0-9]+([.][0-9]+)?$' before CAST(t AS DECIMAL(20,6)).
- = and LIKE mostly ignore case and = ignores blanks at the end, by the column's collation; BINARY x = y heeds them.
- JSON: col->>'$.a', JSON_EXTRACT, JSON_TABLE. GROUP_CONCAT(x ORDER BY y SEPARATOR ', ').
- Dates: a given clock is a literal, TIMESTAMP '…', never NOW() or CURDATE(). Half-open ranges: >= start AND < end; DATE_ADD(d, INTERVAL 1 DAY), TIMESTAMPDIFF(DAY, a, b), DATE_FORMAT; '0000-00-00' stands for no date in some tables.
- No FULL JOIN, ILIKE, ::, DISTINCT ON, FILTER (WHERE …): SUM(CASE WHEN … THEN 1 ELSE 0 END). No variables.`,
};
