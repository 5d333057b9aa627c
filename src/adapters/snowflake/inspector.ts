/** Snowflake's words for the reader of queries (`kit/reader.ts`). */
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { words } from '../kit/functions';
import type { Grammar } from '../kit/reader';
import { createTokenInspector, readStatement as read, type Refused, type Statement } from '../kit/statement';
import { snowflakeFunctions } from './functions';

export function createSnowflakeInspector(options: { readonly functions?: readonly string[] } = {}): SqlInspector {
  return createTokenInspector(readStatement, grammarWith(options.functions ?? []));
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

/** Keywords before a bracket that do not make it a call. */
const KEYWORDS = words(`
  ALL AND ANY ARRAY AS ASC AT BEFORE BERNOULLI BETWEEN BIGINT BINARY BLOCK BOOLEAN BY BYTEINT CASE CHANGES CHAR CHARACTER
  CONNECT CROSS CUBE DATE DATETIME DEC DECIMAL DEFAULT DEFINE DESC DISTINCT DOUBLE ELSE END EXCEPT EXCLUDE EXISTS FETCH FLOAT
  FLOAT4 FLOAT8 FOR FROM FULL GEOGRAPHY GEOMETRY GROUP GROUPING HAVING ILIKE IN INNER INT INTEGER INTERSECT INTERVAL IS JOIN
  LATERAL LIKE LIMIT MAP MATCH_CONDITION MATCH_RECOGNIZE MEASURES MINUS NATURAL NCHAR NOT NULL NULLS NUMBER NUMERIC NVARCHAR
  OBJECT OFFSET ON OR ORDER OUTER OVER PARTITION PATTERN PER PERMUTE PIVOT PRECISION QUALIFY RANGE REAL REGEXP RENAME
  REPEATABLE RLIKE ROLLUP ROW ROWS SAMPLE SEED SELECT SETS SKIP SMALLINT SOME STRING SUBSET SYSTEM TABLESAMPLE TEXT THEN TIME
  TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ TIMESTAMP_TZ TINYINT TOP UNION UNPIVOT USING VALUES VARBINARY VARCHAR VARIANT VECTOR
  WHEN WHERE WITHIN XOR
`);

const CLAUSES = words('QUALIFY START CONNECT');

/** Unquoted names fold to upper case. */
function grammarWith(functions: readonly string[]): Grammar {
  return {
    keywords: KEYWORDS,
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
