/** BigQuery's words for the reader of queries (`kit/reader.ts`). */
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { bigquery } from '../../sql/dialects/bigquery';
import { partsOfPaths, type Token } from '../../sql/lexer';
import { eachOf, words } from '../kit/functions';
import type { Grammar } from '../kit/reader';
import { createTokenInspector, readStatement as read, type Refused, type Statement } from '../kit/statement';
import { bigqueryFunctions } from './functions';

export function createBigQueryInspector(functions: readonly string[] = []): SqlInspector {
  const inParts = (sql: string): Statement => {
    const statement = readStatement(sql);
    return statement.kind === 'select' ? { ...statement, tokens: partsOfPaths(statement.tokens) } : statement;
  };
  return createTokenInspector(inParts, grammarWith(functions));
}

/** The engine checks no more than this. */
export const readStatement = (sql: string): Statement => read(sql, 'bigquery', REFUSED);

const REFUSED: Refused = [
  ['|>', 'pipes (|>) are not allowed: write one SELECT, with CTEs'],
  ['@@', 'system variables (@@…) are not allowed: write values as they are'],
  ['@', 'parameters and hints (@…) are not allowed: write values as they are'],
  ['?', 'parameters (?) are not allowed: write values as they are'],
  ['/*', 'a comment is not closed, or holds another one: leave it out'],
  ['--', 'a comment holds a carriage return: leave it out'],
  ['#', 'a comment holds a carriage return: leave it out'],
  ['`', 'a name in backticks is empty, is not closed, or holds a backslash: write it as it is'],
  ['{', 'braces are not allowed: write STRUCT(…)'],
];

/** Keywords before a bracket that do not make it a call. */
const KEYWORDS = words(`
  ALL AND ANY ARRAY AS ASC BETWEEN BIGDECIMAL BIGNUMERIC BY BYTES CASE CROSS CUBE DECIMAL DESC DISTINCT ELSE END EXCEPT EXISTS
  FOR FROM FULL GROUP GROUPS HAVING IN INNER INTERSECT INTERVAL IS JOIN LIKE LIMIT MEASURES NOT NULL NULLS NUMERIC OF OFFSET ON OR ORDER
  ORDINAL OUTER OVER PARTITION PIVOT QUALIFY RANGE ROLLUP ROWS SAFE_OFFSET SAFE_ORDINAL SELECT SETS SOME STRUCT SYSTEM
  TABLESAMPLE THEN UNION UNNEST UNPIVOT USING WHEN WHERE WINDOW
`);

/** After a value or a relation, where no call can stand: not after words that a value follows, unless they are the end of a path. */
const operand = `(?<!(?<!\\. )\\b(?:${bigquery.reserved.join('|')}|AS VALUE|HAVING (?:MAX|MIN)|TIME ZONE|(?:AS \\w+|[)>]) FORMAT))(?<=[\\w\`)\\]])`;
const [AFTER_OPERAND, AS_SUBSCRIPT] = [new RegExp(`${operand}$`, 'i'), new RegExp(`${operand} \\[$`, 'i')];
const AS_TYPE = new RegExp(`(?:${operand}|\\bAS|\\b(?:ARRAY|STRUCT) <)$`, 'i');

/** A function of a dataset may have these names. */
const UNRESERVED: Readonly<Record<string, RegExp>> = {
  ...eachOf('MEASURES PIVOT UNPIVOT', AFTER_OPERAND),
  ...eachOf('OFFSET ORDINAL SAFE_OFFSET SAFE_ORDINAL', AS_SUBSCRIPT),
  ...eachOf('NUMERIC BIGNUMERIC DECIMAL BIGDECIMAL BYTES', AS_TYPE),
  ...{ SYSTEM: /\bTABLESAMPLE$/, SETS: /\bGROUPING$/ },
};

/** What describes tables. Others show jobs, users, sessions and rights. */
const CATALOGUE = words(
  'COLUMNS COLUMN_FIELD_PATHS CONSTRAINT_COLUMN_USAGE KEY_COLUMN_USAGE PARTITIONS TABLES TABLE_CONSTRAINTS TABLE_OPTIONS',
);

/** After a relation; PIVOT and the like take the relation's name away, whatever they are here. */
const isAlias = ({ raw }: Token): boolean => !bigquery.reserved.includes(raw.toLowerCase());

function grammarWith(functions: readonly string[]): Grammar {
  return {
    keywords: KEYWORDS,
    unreserved: UNRESERVED,
    functions: bigqueryFunctions(functions),
    refused: new Map([
      ['TABLE', 'TABLE … is not allowed: write SELECT * FROM …, and a column of that name in backticks'],
    ]),
    clauses: words('QUALIFY WINDOW LIMIT'),
    forward: true,
    arrays: isAlias,
    name: ({ kind, text, raw }) => (kind === 'word' ? raw : text),
    // Names of CTEs do not heed case.
    sameName: ({ text }) => text.toLowerCase(),
    refuseRelation(parts) {
      const at = parts.findIndex((part) => part.toUpperCase() === 'INFORMATION_SCHEMA');
      // No dataset has a dash in its name.
      if ((at === 0 && parts.length > 1) || (at > 0 && parts[at - 1]?.includes('-')))
        return 'INFORMATION_SCHEMA of a region or project is not allowed: it shows the account; read that of a dataset';
      if (at > 0 && !CATALOGUE.has((parts[at + 1] ?? '').toUpperCase()))
        return `INFORMATION_SCHEMA.${parts[at + 1] ?? ''} is not allowed: it shows the account and not the data`;
      if (parts.some((part) => /[$@]/.test(part)))
        return `decorators (${parts.join('.')}) are not allowed: write WHERE _PARTITIONTIME … or FOR SYSTEM_TIME AS OF …`;
      if (parts.some((part) => part === '')) return `the name ${parts.join('.')} has an empty part`;
      if (parts.slice(0, -1).some((part) => part.includes('*')))
        return `a wildcard must be the end of the table's name: ${parts.join('.')}`;
      return null;
    },
  };
}
