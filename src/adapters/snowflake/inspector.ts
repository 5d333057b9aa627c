/** Snowflake's words for the reader of queries (`kit/reader.ts`). */
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { eachOf, words } from '../kit/functions';
import type { Grammar } from '../kit/reader';
import { createTokenInspector, readStatement as read, type Refused, type Statement } from '../kit/statement';
import { snowflakeFunctions } from './functions';

export function createSnowflakeInspector(functions: readonly string[] = []): SqlInspector {
  return createTokenInspector(readStatement, grammarWith(functions));
}

/** The engine checks no more than this. */
export const readStatement = (sql: string): Statement => read(sql, 'snowflake', REFUSED);

const REFUSED: Refused = [
  ['->>', 'chained statements (->>) are not allowed: write one SELECT, with CTEs'],
  ['//', 'comments with // are not allowed: write -- in front of them'],
  ['--', 'a comment holds a carriage return: leave it out'],
  ['/*', 'a comment is not closed, or holds another one: leave it out'],
  ['@', 'stages (@…) are not allowed: read tables and views'],
  ['$', 'variables ($…) are not allowed: write values as they are'],
  ['?', 'bind variables are not allowed: write values as they are'],
  ['&', 'variables (&…) are not allowed: write values as they are'],
  ['!', 'methods (name!method) are not allowed: use functions that only read'],
];

/** Keywords before a bracket that do not make it a call. All but CUBE and ROLLUP are reserved. */
const RESERVED = words(`
  ALL AND ANY AS BETWEEN BY CASE CONNECT CROSS CUBE DISTINCT ELSE EXISTS FOR FROM FULL GROUP HAVING ILIKE IN INNER INTERSECT IS JOIN
  LATERAL LIKE MINUS NATURAL NOT NULL ON OR ORDER QUALIFY REGEXP RLIKE ROLLUP ROW ROWS SAMPLE SELECT SOME TABLESAMPLE THEN UNION
  USING VALUES WHEN WHERE WITH
`);

/** Words that are not reserved, and that a value follows too. */
const BEFORE_VALUE = words(
  'BOTH CONNECT_BY_ROOT ESCAPE EXCEPT FETCH FN INTERVAL LEADING LIMIT MEASURES OFFSET PRIOR TOP TRAILING',
);

/** After a value or a relation, or all columns, no call can stand. */
const operand = `(?<!\\b(?:${[...RESERVED, ...BEFORE_VALUE].join('|')}))(?<=[\\p{L}\\p{M}\\p{N}_$"')\\]}])`;
const AFTER_OPERAND = new RegExp(`${operand}$`, 'iu');
const AFTER_COLUMNS = new RegExp(`(?:${operand}|(?:\\b(?:SELECT|DISTINCT|ALL|TOP \\d+)|[,.({]) \\*)$`, 'iu');
const AS_TYPE = new RegExp(
  `(?:${operand}|::|\\bAS|\\b(?:ARRAY|MAP|VECTOR) \\(|\\bMAP \\( \\w+(?: \\( \\d+ \\))? ,)$`,
  'iu',
);
const AS_METHOD = /\b(?:TABLE)?SAMPLE$/;

/** A function of the database may have these names. */
const UNRESERVED: Readonly<Record<string, RegExp>> = {
  ...eachOf('MATCH_RECOGNIZE MEASURES OVER PIVOT REPEATABLE SEED UNPIVOT', AFTER_OPERAND),
  ...eachOf('EXCLUDE RENAME', AFTER_COLUMNS),
  ...eachOf(
    'ARRAY BINARY CHARACTER DATETIME DEC DECIMAL MAP NCHAR NUMBER NUMERIC NVARCHAR NVARCHAR2 OBJECT STRING TEXT',
    AS_TYPE,
  ),
  ...eachOf('TIMESTAMP TIMESTAMPLTZ TIMESTAMPNTZ TIMESTAMPTZ TIMESTAMP_LTZ TIMESTAMP_NTZ TIMESTAMP_TZ', AS_TYPE),
  ...eachOf('VARBINARY VARCHAR VARYING VECTOR', AS_TYPE),
  ...eachOf('BERNOULLI BLOCK SYSTEM', AS_METHOD),
  ...{ NULLS: /\b(?:INCLUDE|EXCLUDE)$/, SETS: /\bGROUPING$/ },
};

const KEYWORDS = new Set([...RESERVED, ...Object.keys(UNRESERVED)]);

const CLAUSES = words('QUALIFY START CONNECT');

/** Unquoted names fold to upper case. */
function grammarWith(functions: readonly string[]): Grammar {
  return {
    keywords: KEYWORDS,
    unreserved: UNRESERVED,
    functions: snowflakeFunctions(functions),
    clauses: CLAUSES,
    refused: new Map(),
    name: ({ text }) => (text === text.toUpperCase() ? text.toLowerCase() : text),
    sameName: ({ text }) => text,
    refuseRelation: ([first, second]) =>
      second !== undefined && first === 'snowflake'
        ? 'the database SNOWFLAKE is not allowed: it shows the account and not the data'
        : null,
  };
}
