import { samplingPages, timestamps, type DialectFacts, type Patterns } from './dialect';

/** PostgreSQL separates tokens by ASCII spaces only; other spaces are parts of names. Its comments nest (`endOfComment`). */
const patterns: Patterns = [
  ['space', /[ \t\n\r\f\v]+|--[^\n\r]*|\/\*/uy],
  ['string', /[eE]'(?:[^'\\]|''|\\[\s\S])*'|(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*'/uy],
  ['string', /\$(?<tag>(?:[A-Za-z_\u0080-\u{10ffff}][A-Za-z0-9_\u0080-\u{10ffff}]*)?)\$[\s\S]*?\$\k<tag>\$/uy],
  ['quoted', /(?:[uU]&)?"(?:[^"]|"")*"/uy],
  ['word', /[A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*/uy],
  ['number', /\d+/uy],
  ['symbol', /[\s\S]/uy],
];

export const postgresql: DialectFacts = {
  name: 'PostgreSQL',
  alsoCalled: ['postgres', 'pg'],
  patterns,
  fold: 'lower',
  quote: '"',
  plain: /^[\p{Ll}\p{Lo}_][\p{Ll}\p{Lo}\p{N}_$]*$/u,
  reserved: [],
  nameParts: 2,
  schema: 'public',
  grammar: 'postgresql',
  syntaxError: '42601',
  clock: timestamps,
  fromNothing: '',
  numbersAsTruth: false,
  sample: samplingPages,
  hidden: (table) => table,
  notes: `PostgreSQL:
- integer / integer truncates: cast to numeric. round(x, n) needs numeric.
- One bad value fails the whole query: guard casts, CASE WHEN t ~ '^-?[0-9]+([.][0-9]+)?$' THEN t::numeric END.
- = and LIKE heed case; ILIKE does not. Double-quote mixed-case names.
- JSON: -> and ->>, jsonb_each, jsonb_array_elements; check jsonb_typeof before unnesting.
- A given clock is a literal, timestamp '…', never now() or CURRENT_DATE. Half-open ranges: >= start AND < end; date_trunc, interval.`,
};
