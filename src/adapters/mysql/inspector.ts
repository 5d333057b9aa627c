/** MySQL's and MariaDB's words for the reader of queries (`kit/reader.ts`). */
import { tokensOf } from '../../sql/lexer';
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { words } from '../kit/functions';
import type { Grammar } from '../kit/reader';
import { createTokenInspector, readStatement as read, type Refused, type Statement } from '../kit/statement';
import { mysqlFunctions } from './functions';

export const createMysqlInspector = (): SqlInspector => createTokenInspector(readStatement, GRAMMAR);

/** The engine checks no more than this. */
export function readStatement(sql: string): Statement {
  const statement = read(sql, 'mysql', REFUSED);
  if (statement.kind !== 'select') return statement;
  const reserved = statement.tokens.map(({ kind, raw }, at, { [at - 1]: before }) =>
    kind === 'word' && before?.raw !== '.' ? raw.toUpperCase() : '.',
  );
  const found = PHRASES.find(([phrase]) => phrase.test(reserved.join(' ')));
  return found === undefined ? statement : { kind: 'refused', message: found[1] };
}

/** Of reserved words, which stand for nothing else wherever they are. */
const PHRASES: readonly (readonly [phrase: RegExp, message: string])[] = [
  [/\bINTO\b/, 'SELECT INTO is not allowed: leave INTO out, the rows are returned'],
  [/\bLOCK IN\b/, 'LOCK IN SHARE MODE is not allowed: leave the locking clause out'],
  [/\bPROCEDURE\b/, 'PROCEDURE is not allowed: leave it out'],
  [/\b(NEXT|PREVIOUS) VALUE FOR\b/, 'sequences (NEXT VALUE FOR) are not allowed: they change state'],
  [/\bCURRENT_(USER|ROLE)\b/, 'CURRENT_USER is not allowed: it tells about the session, not the data'],
];

const REFUSED: Refused = [
  ['/*!', 'comments that are executed (/*! … */) are not allowed: write what is in them, or leave them out'],
  ['/*M!', 'comments that are executed (/*M! … */) are not allowed: write what is in them, or leave them out'],
  ['/*+', 'optimizer hints (/*+ … */) are not allowed: leave them out'],
  ['/*', 'a comment is not closed: leave it out'],
  ['@@', 'settings (@@…) are not allowed: leave them out'],
  ['@', 'variables (@…) are not allowed: write values as they are'],
  [':=', 'variables (:=) are not allowed: write values as they are'],
  ['?', 'bind variables are not allowed: write values as they are'],
  ['\\', 'a backslash stands for itself here: write NULL for \\N, and no backslash outside of texts'],
  ['{', "ODBC's braces are not allowed: write DATE '…' or TIMESTAMP '…'"],
  ['.', 'a name that is a number needs backticks: write t.`1`'],
];

/** Keywords before a bracket that do not make it a call. */
const KEYWORDS = words(`
  AGAINST ALL AND ANY AS ASC BETWEEN BINARY BY CASE CHAR CHARACTER COLUMNS CROSS CUBE DATE DATETIME DECIMAL DESC DISTINCT
  DISTINCTROW DIV DOUBLE ELSE END ERROR ESCAPE EXCEPT EXISTS FLOAT FOR FORCE FROM GROUP HAVING IGNORE IN INDEX INNER INT
  INTEGER INTERSECT INTERVAL IS JOIN JSON KEY LATERAL LEFT LIKE LIMIT MATCH MEMBER MINUS MOD NATURAL NCHAR NESTED NOT NULL
  NUMERIC NVARCHAR OF OFFSET ON OR ORDER OUTER OVER PARTITION PATH RANGE REAL RECURSIVE REGEXP RLIKE ROLLUP ROW ROWS SELECT
  SEPARATOR SIGNED SOME SOUNDS STRAIGHT_JOIN THEN TIME TIMESTAMP TRANSACTION UNION UNSIGNED USE USING VALUES VARBINARY VARCHAR WHEN WHERE
  WINDOW WITH XOR YEAR
`);

const READ_TABLES = 'read the tables of the database';
/** Of the information schema: what describes tables. Others tell about accounts, sessions and the server. */
const DESCRIBING = words(`
  CHARACTER_SETS CHECK_CONSTRAINTS COLLATIONS COLUMNS COLUMN_STATISTICS KEY_COLUMN_USAGE PARTITIONS REFERENTIAL_CONSTRAINTS
  SCHEMATA STATISTICS TABLES TABLE_CONSTRAINTS ST_GEOMETRY_COLUMNS GEOMETRY_COLUMNS PERIODS
`);
const SERVER = words('MYSQL PERFORMANCE_SCHEMA SYS NDBINFO');

/** What a definition of the server's calls that no statement may, other than who reads and what is computed from passwords. */
export function actsBeyond(definition: string): boolean {
  const tokens = tokensOf(definition, 'mysql');
  return tokens.some(({ kind, raw }, at) => {
    const name = raw.toUpperCase();
    if (kind !== 'word' || tokens[at + 1]?.raw !== '(' || KEYWORDS.has(name) || ONLY_TELLS.test(name)) return false;
    return mysqlFunctions.refuse(name) !== null;
  });
}

const ONLY_TELLS =
  /^(USER|CURRENT_USER|SESSION_USER|SYSTEM_USER|CURRENT_ROLE|CONNECTION_ID|AES_\w+|DES_\w+|ENCODE|DECODE|JSON_TABLE|CHARSET|COLLATION|COERCIBILITY|VERSION|UUID)$/;

const GRAMMAR: Grammar = {
  keywords: KEYWORDS,
  functions: mysqlFunctions,
  refused: new Map([
    ['TABLE', 'TABLE … is not allowed: write SELECT * FROM …'],
    ['HANDLER', 'HANDLER is not allowed: write one SELECT that only reads'],
  ]),
  clauses: words('LIMIT'),
  flatWith: true,
  nothing: 'DUAL',
  // Whether the server folds them is not known here.
  name: ({ kind, raw, text }) => (kind === 'word' ? raw : text),
  sameName: ({ kind, raw, text }) => (kind === 'word' ? raw : text),
  refuseRelation(parts) {
    const [schema = '', table = ''] = parts.map((part) => part.toUpperCase());
    if (parts.length > 2) return `a table is named by database and table only: ${READ_TABLES}`;
    if (parts.length < 2) return null;
    if (SERVER.has(schema))
      return `the database ${schema.toLowerCase()} is not allowed: it shows accounts and the server, ${READ_TABLES}`;
    if (schema === 'INFORMATION_SCHEMA' && !DESCRIBING.has(table))
      return `information_schema.${table.toLowerCase()} is not allowed: it shows the server and not the data, ${READ_TABLES}`;
    return null;
  },
};
