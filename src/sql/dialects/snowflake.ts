import { samplingPages, timestamps, type DialectFacts, type Patterns } from './dialect';

/** Text that readers could split differently (nested comments, `//`, a carriage return in a comment of one line, other characters) is unknown, so that nothing can hide. */
const patterns: Patterns = [
  ['space', /[ \t\r\n\f\v]+|--(?:[^\n\r]|\r(?=\n))*(?=\n|$)|\/\*(?:(?!\*\/|\/\*)[\s\S])*\*\//uy],
  ['string', /'(?:[^'\\]|''|\\[\s\S])*'|\$\$(?:(?!\$\$)[\s\S])*\$\$/uy],
  ['quoted', /"(?:[^"]|"")*"/uy],
  // `$1` is a column by its position. As a number it is refused where a relation is expected.
  ['number', /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|\$\d+/uy],
  ['word', /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy],
  // `|`, `?`, `^`, and `$` at the end, belong to the row patterns of MATCH_RECOGNIZE.
  ['symbol', /(?!\/[/*]|--|->>)(?:=>|->|::|\|\||<>|!=|<=|>=|[-+*/%(),.;:<>=[\]{}|^]|(?<=[}\)*+])\?|\$(?=\s*\)))/uy],
];

export const snowflake: DialectFacts = {
  name: 'Snowflake',
  alsoCalled: [],
  patterns,
  fold: 'upper',
  quote: '"',
  plain: /^[A-Z_][A-Z0-9_$]*$/,
  reserved: [],
  nameParts: 2,
  schema: 'PUBLIC',
  grammar: 'postgresql',
  syntaxError: '001003',
  clock: timestamps,
  fromNothing: '',
  numbersAsTruth: false,
  sample: samplingPages,
  hidden: null,
  escapes: true,
  notes: `Snowflake:
- Unquoted names fold to upper case: write upper-case names without quotes; double-quote only names shown with lower-case letters.
- integer / integer keeps the fraction. x / 0 is an error: DIV0NULL or NULLIF.
- One bad value fails the whole query: TRY_TO_NUMBER(t, 38, 6), TRY_TO_DOUBLE, TRY_TO_DATE, TRY_TO_TIMESTAMP give NULL.
- = and LIKE heed case; ILIKE does not. REGEXP_LIKE matches the whole text; backslashes in '…' are doubled.
- VARIANT: col:path.to[0]::string, LATERAL FLATTEN(input => col) f with f.value, f.key; TYPEOF before casting. Paths heed case.
- QUALIFY filters window functions. A given clock is a literal, '…'::timestamp, never CURRENT_DATE. Half-open ranges: >= start AND < end; DATE_TRUNC, DATEADD, DATEDIFF.
- Only documented read-only functions; no stages, no $1, no IDENTIFIER(), no // comments.`,
};
