/** The reader of Snowflake queries (`reader.ts`) as a `SqlInspector`. */
import type { Inspection, SqlInspector } from '../../ports/sql-inspector';
import { functionRules, type FunctionRules } from './functions';
import { isWord } from './keywords';
import { Reader, Refusal, SyntaxProblem } from './reader';
import type { Token } from '../../sql/lexer';
import { readStatement } from './statement';

export function createSnowflakeInspector(options: { readonly functions?: readonly string[] } = {}): SqlInspector {
  const rules = functionRules(options.functions ?? []);
  return {
    inspect(sql) {
      const statement = readStatement(sql);
      return statement.kind === 'select' ? read(statement.tokens, rules) : statement;
    },
  };
}

function read(tokens: readonly Token[], rules: FunctionRules): Inspection {
  const reader = new Reader(tokens, rules);
  try {
    reader.level({ scope: new Set(), clause: 'none', expects: 'query', values: false, alias: false });
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', message: error.message };
    if (error instanceof SyntaxProblem) return { kind: 'syntax-error', message: error.message };
    if (error instanceof RangeError)
      return { kind: 'refused', message: 'the statement is nested too deeply: split it into CTEs' };
    throw error;
  }
  const hasWith = isWord(tokens[0], 'WITH');
  return {
    kind: 'select',
    relations: [...reader.relations].sort(),
    ctes: hasWith ? [...reader.firstCtes] : [],
    hasWith,
  };
}
