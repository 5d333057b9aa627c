/**
 * SQL laid out for people. What is stored and what runs stays as it was written. A layout is used only where each engine's
 * lexer sees the same tokens in it, and the parsers the same tree; else the SQL is shown as it is.
 */
import { statementsOf } from '../sql/tree';
import { tokensOf } from '../sql/lexer';
import type { Dialect } from '../domain';

type Format = (sql: string, options: { readonly language: Dialect; readonly expressionWidth: number }) => string;

const DIALECTS = ['postgresql', 'sqlite', 'snowflake'] as const satisfies readonly Dialect[];
/** A statement that fits on a line stays on it. */
const LINE = 76;

export function formattedSql(sql: string): string {
  if (sql.length <= LINE && !sql.includes('\n')) return sql;
  const before = meaningOf(sql);
  if (before === null) return sql;
  for (const language of DIALECTS) {
    const text = laidOut(sql, language);
    if (text !== null && meaningOf(text) === before) return text;
  }
  return sql;
}

function laidOut(sql: string, language: Dialect): string | null {
  // Loaded where the first statement is shown: it would hold up the first query of a search.
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- a report is made without waiting
  const { format } = require('sql-formatter') as { readonly format: Format };
  try {
    return format(sql, { language, expressionWidth: LINE });
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('Parse error')) return null;
    throw error;
  }
}

/** null: no parser reads it. */
function meaningOf(sql: string): string | null {
  const trees = (['postgresql', 'sqlite'] as const).map((dialect) => treeOf(sql, dialect));
  if (trees.every((tree) => tree === null)) return null;
  const tokens = DIALECTS.map((dialect) => tokensOf(sql, dialect).map(({ raw }) => raw));
  return JSON.stringify([trees, tokens]);
}

function treeOf(sql: string, dialect: Dialect): string | null {
  try {
    const isSpace = new Set(['leading', 'trailing', 'range']);
    return JSON.stringify(statementsOf(sql, dialect), (key, value: unknown) => (isSpace.has(key) ? undefined : value));
  } catch {
    return null;
  }
}
