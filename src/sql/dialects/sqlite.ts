import { type DialectFacts, type Patterns } from './dialect';

/** SQLite takes a byte order mark for a space, and reads what is not closed to the end. */
const patterns: Patterns = [
  ['space', /[ \t\n\r\f\ufeff]+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/uy],
  ['string', /[xX]'[0-9A-Fa-f]*'|'(?:[^']|'')*(?:'|$)/uy],
  ['quoted', /"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)/uy],
  ['word', /[A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*/uy],
  ['number', /\d+/uy],
  ['symbol', /[\s\S]/uy],
];

export const sqlite: DialectFacts = {
  name: 'SQLite',
  alsoCalled: ['sqlite3'],
  patterns,
  fold: 'lower',
  quote: '"',
  plain: /^[\p{L}_][\p{L}\p{N}_$]*$/u,
  reserved: [],
  nameParts: 1,
  schema: 'main',
  grammar: 'sqlite',
  syntaxError: 'SQLITE_ERROR',
  rowIds: ['rowid', 'oid', '_rowid_'],
  clock: (now, today) => `'${now}' AS now, '${today}' AS today`,
  fromNothing: '',
  numbersAsTruth: true,
  // Not every table of SQLite has row ids.
  sample: (table, rows, limit) => `${table} WHERE rowid % ${Math.ceil(rows / limit)} = 0`,
  // In SQLite a CTE that names itself is an error, even where it is not recursive.
  hidden: (table) => `main.${table}`,
  notes: `SQLite:
- integer / integer truncates: multiply by 1.0. No :: casts, ILIKE, ~, DISTINCT ON, interval.
- Types belong to values: CAST('abc' AS REAL) is 0 without an error and '10' = 10 may be false; guard with typeof() or GLOB.
- = heeds case; LIKE does not (ASCII).
- JSON: json_extract or ->>, json_each, json_type.
- Dates are mostly text: compare equal formats; date(), datetime(x, '-1 month', 'start of year'), strftime, julianday for differences. A given clock is a literal, never 'now'.`,
};
