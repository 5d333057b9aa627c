/** The reader of Snowflake queries (`reader.ts`) as a `SqlInspector`. */
import { statementIn, tokensOf, type Token } from '../../sql/lexer';
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { inspected } from '../kit/inspection';
import { words } from '../kit/functions';
import { isWord, Reader, type Grammar } from '../kit/reader';
import { snowflakeFunctions } from './functions';

export function createSnowflakeInspector(options: { readonly functions?: readonly string[] } = {}): SqlInspector {
  const grammar = grammarWith(options.functions ?? []);
  return {
    inspect(sql) {
      const statement = readStatement(sql);
      if (statement.kind !== 'select') return statement;
      return inspected(() => {
        const reader = new Reader(statement.tokens, grammar);
        reader.inner(new Set());
        const hasWith = isWord(statement.tokens[0], 'WITH');
        return { relations: [...reader.relations].sort(), ctes: hasWith ? [...reader.firstCtes] : [], hasWith };
      });
    },
  };
}

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

/** Unquoted names fold to upper case. */
function grammarWith(functions: readonly string[]): Grammar {
  return {
    keywords: KEYWORDS,
    functions: snowflakeFunctions(functions),
    refused: new Map(),
    name: ({ text }) => (text === text.toUpperCase() ? text.toLowerCase() : text),
    sameName: ({ text }) => text,
    refuseRelation: ([first, second]) =>
      second !== undefined && first === 'snowflake'
        ? 'the database SNOWFLAKE is not allowed: it shows the account and not the data'
        : null,
  };
}

/**
 * What every reader of a Snowflake statement needs: its tokens are known, it begins like a query, its brackets match, and no
 * second statement follows. The engine checks no more than that.
 */

type Statement =
  /** Both without the final semicolon and what follows it, so that the text can stand in brackets. */
  | { readonly kind: 'select'; readonly text: string; readonly tokens: readonly Token[] }
  | { readonly kind: 'refused' | 'syntax-error'; readonly message: string; readonly text?: undefined };

const ONE_SELECT = 'write one SELECT that only reads';

export function readStatement(sql: string): Statement {
  const tokens = tokensOf(sql, 'snowflake');
  const unknown = tokens.find(({ kind }) => kind === 'unknown');
  if (unknown !== undefined) return refuseCharacter(sql, unknown.at);
  const { first, isSeveral, text } = statementIn(sql, tokens);
  const refused = (message: string): Statement => ({ kind: 'refused', message });
  if (first === null) return refused('the statement is empty: write one SELECT');
  if (first.kind !== 'word' || !['SELECT', 'WITH'].includes(first.text))
    return refused(`${first.kind === 'word' ? first.text : 'this statement'} is not allowed: ${ONE_SELECT}`);
  if (isSeveral) return refused('only one statement is allowed: remove what follows the first semicolon');
  if (tokens.some(({ raw }) => raw === '->>'))
    return refused('chained statements (->>) are not allowed: write one SELECT, with CTEs');
  if (!isBalanced(tokens)) return refused(`brackets do not match: ${ONE_SELECT}`);
  return { kind: 'select', text, tokens: tokens.filter(({ at }) => at < text.length) };
}

/** The beginnings of refused tokens, each with what to write instead. */
const REFUSED: readonly (readonly [string, string])[] = [
  ['//', 'comments with // are not allowed: write -- in front of them'],
  ['/*', 'a comment is not closed, or holds another one: leave it out'],
  ['@', 'stages (@…) are not allowed: read tables and views'],
  ['$', 'variables ($…) are not allowed: write values as they are'],
  ['?', 'bind variables are not allowed: write values as they are'],
  ['&', 'variables (&…) are not allowed: write values as they are'],
  ['!', 'methods (name!method) are not allowed: use functions that only read'],
];

function refuseCharacter(sql: string, at: number): Statement {
  const found = REFUSED.find(([start]) => sql.startsWith(start, at));
  if (found !== undefined) return { kind: 'refused', message: found[1] };
  const isQuote = sql[at] === "'" || sql[at] === '"';
  const what = isQuote ? 'a quote is not closed' : `unexpected character ${JSON.stringify(sql[at])}`;
  return { kind: 'syntax-error', message: `${what} (at character ${at + 1})` };
}

const CLOSES: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

function isBalanced(tokens: readonly Token[]): boolean {
  const open: string[] = [];
  for (const { raw } of tokens) {
    if (raw === '(' || raw === '[' || raw === '{') open.push(raw);
    else if (raw in CLOSES && open.pop() !== CLOSES[raw]) return false;
  }
  return open.length === 0;
}
