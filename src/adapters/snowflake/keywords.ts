/** Words and symbols as the reader of Snowflake queries tells them apart, and how it writes names. */
import type { Token } from '../../sql/lexer';

export const isSymbol = (token: Token | undefined, text: string): boolean =>
  token?.kind === 'symbol' && token.text === text;
export const isWord = (token: Token | undefined, text: string): boolean =>
  token?.kind === 'word' && token.text === text;

/** As the port says: lower case unless it needs quotes. */
export const shown = (name: string): string => (name === name.toUpperCase() ? name.toLowerCase() : name);

/** Where a relation is expected and another word follows, these words begin a statement. */
export const VERBS = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'CALL', 'EXECUTE', 'CREATE', 'ALTER', 'DROP', 'TRUNCATE', 'COPY', 'SHOW', 'DESCRIBE']); // prettier-ignore
export const QUERY_STARTS = new Set(['SELECT', 'WITH', 'VALUES']);
export const SET_OPERATORS = new Set(['UNION', 'INTERSECT', 'EXCEPT', 'MINUS']);
export const SET_WORDS = new Set(['ALL', 'DISTINCT', 'BY', 'NAME']);
/** Reserved words only: a word that may also be an alias (LIMIT, OFFSET) would hide the relations that follow it. */
export const CLAUSES = new Set(['WHERE', 'GROUP', 'HAVING', 'QUALIFY', 'ORDER', 'START', 'CONNECT']); // prettier-ignore
export const AFTER_ALIAS = new Set([...CLAUSES, 'ON', 'USING', 'JOIN', 'MATCH_CONDITION']);
/** Keywords before a bracket that do not make it a call. */
export const GRAMMAR = new Set(
  `
  ALL AND ANY ARRAY AS ASC AT BEFORE BERNOULLI BETWEEN BIGINT BINARY BLOCK BOOLEAN BY BYTEINT CASE CHANGES CHAR CHARACTER
  CONNECT CROSS CUBE DATE DATETIME DEC DECIMAL DEFAULT DEFINE DESC DISTINCT DOUBLE ELSE END EXCEPT EXCLUDE EXISTS FETCH FLOAT
  FLOAT4 FLOAT8 FOR FROM FULL GEOGRAPHY GEOMETRY GROUP GROUPING HAVING ILIKE IN INNER INT INTEGER INTERSECT INTERVAL IS JOIN
  LATERAL LIKE LIMIT MAP MATCH_CONDITION MATCH_RECOGNIZE MEASURES MINUS NATURAL NCHAR NOT NULL NULLS NUMBER NUMERIC NVARCHAR
  OBJECT OFFSET ON OR ORDER OUTER OVER PARTITION PATTERN PER PERMUTE PIVOT PRECISION QUALIFY RANGE REAL REGEXP RENAME
  REPEATABLE RLIKE ROLLUP ROW ROWS SAMPLE SEED SELECT SETS SKIP SMALLINT SOME STRING SUBSET SYSTEM TABLESAMPLE TEXT THEN TIME
  TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ TIMESTAMP_TZ TINYINT TOP UNION UNPIVOT USING VALUES VARBINARY VARCHAR VARIANT VECTOR
  WHEN WHERE WITHIN XOR
  `
    .trim()
    .split(/\s+/),
);
