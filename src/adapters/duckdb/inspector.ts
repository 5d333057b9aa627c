/** DuckDB's words for the reader of queries (`kit/reader.ts`). */
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { words } from '../kit/functions';
import type { Grammar } from '../kit/reader';
import { createTokenInspector, readStatement, type Refused } from '../kit/statement';
import { duckdbFunctions } from './functions';

export function createDuckdbInspector(): SqlInspector {
  return createTokenInspector((sql) => readStatement(sql, 'duckdb', REFUSED), GRAMMAR);
}

const REFUSED: Refused = [
  ['$', 'parameters ($…) are not allowed: write values as they are'],
  ['?', 'parameters (?) are not allowed: write values as they are'],
  ['#', 'columns by their place (#…) are not allowed: write their names'],
];

/** Keywords before a bracket that do not make it a call. */
const KEYWORDS = words(`
  ALL AND ANTI ANY ARRAY AS ASC ASOF AT BERNOULLI BETWEEN BIGINT BIGNUM BIT BITSTRING BLOB BOOL BOOLEAN BY BYTEA CASE CAST CHAR
  CHARACTER COLLATE COLUMNS CROSS CUBE DATE DEC DECIMAL DEFAULT DESC DISTINCT DOUBLE ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS
  EXTRACT FETCH FILTER FIRST FLOAT FLOAT4 FLOAT8 FOR FROM FULL GLOB GROUP GROUPING HAVING HUGEINT ILIKE IN INNER INT INTEGER
  INTERSECT INTERVAL IS ISNULL JOIN JSON KEY LATERAL LEADING LEFT LIKE LIMIT LIST LOGICAL MAP MATERIALIZED NATURAL NOT NOTNULL
  NULL NULLS NUMERIC OFFSET ON OR ORDER OUTER OVER OVERLAPS PARTITION PERCENT PIVOT POSITIONAL PRECISION QUALIFY RANGE REAL RENAME
  REPEATABLE RESERVOIR RIGHT ROLLUP ROW ROWS SAMPLE SELECT SEMI SETS SIMILAR SMALLINT SOME STRUCT SYSTEM TABLESAMPLE TEXT THEN TIME
  TIMESTAMP TIMESTAMPTZ TINYINT TO TRAILING TRY TRY_CAST UBIGINT UINTEGER UNION UNPIVOT USING UUID VALUES VARBINARY VARCHAR WHEN
  WHERE WINDOW WITH WITHIN
`);

const STATEMENTS = [
  ...words(
    'ALTER ATTACH CALL COPY CREATE DELETE DESC DESCRIBE DROP EXECUTE EXPLAIN INSERT INSTALL LOAD MERGE PRAGMA SET',
  ),
  ...words('SHOW SUMMARIZE TRUNCATE UPDATE'),
];
const GRAMMAR: Grammar = {
  keywords: KEYWORDS,
  functions: duckdbFunctions,
  refused: new Map([
    ['TABLE', 'TABLE … is not allowed: write SELECT * FROM …'],
    ['PIVOT', 'the statement PIVOT is not allowed: write FROM t PIVOT (… FOR … IN (…))'],
    ['UNPIVOT', 'the statement UNPIVOT is not allowed: write FROM t UNPIVOT (… FOR … IN (…))'],
    ...STATEMENTS.map((word) => [word, `${word} is not allowed: write one SELECT that only reads`] as const),
  ]),
  clauses: new Set(['QUALIFY', 'WINDOW']),
  name: ({ text }) => text,
  sameName: ({ text }) => text.toLowerCase(),
  refuseRelation,
};

/** DuckDB takes the name of no table for that of a file. */
const FILES = /[/\\*?]|^[a-z][a-z0-9]+:|\.(?:csv|tsv|txt|json|jsonl|ndjson|parquet|duckdb|db|xlsx|arrow)(?:\.\w+)?$/i;
/** Views of DuckDB that show more than tables. */
const SETTINGS =
  /^(?:duckdb_(?!(?:columns|constraints|indexes|schemas|tables|types|views)$)\w*|pragma_\w+|pg_(?:settings|prepared_statements))$/i;

export function refuseRelation(parts: readonly string[]): string | null {
  const name = parts.at(-1) ?? '';
  if (FILES.test(name)) return `files such as ${name} are not read here: read the tables, by their names`;
  return SETTINGS.test(name) ? `${name} is not allowed: it shows settings and not the data` : null;
}
