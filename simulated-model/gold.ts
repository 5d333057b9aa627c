/**
 * What the simulated model must know about a gold query to write plans that run: its output columns, as the engine names and
 * types them, and the relations it reads. Found on first use, once per query. The rows are not kept.
 */
import type { Column, Dialect, SqlResult } from '../src/domain';
import type { SqlEngine, SqlInspector } from '../src/domain/ports';
import { normaliseSql } from '../src/sql/body';
import type { GoldQuestion } from './questions';

export interface OpenDatabase {
  readonly engine: SqlEngine;
  readonly inspector: SqlInspector;
}

export interface Gold {
  readonly sql: string;
  readonly dialect: Dialect;
  /** Unique plain names, in output order. */
  readonly columns: readonly Column[];
  readonly relations: readonly string[];
  readonly ordered: boolean;
  /** The query yields at most one row, by its form or as observed. */
  readonly singleRow: boolean;
}

export class GoldError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GoldError';
  }
}

export function goldDescriber(open: (database: string, dialect: Dialect) => Promise<OpenDatabase>) {
  const known = new Map<string, Promise<Gold>>();
  return (question: GoldQuestion): Promise<Gold> => {
    const key = JSON.stringify([question.engine, question.database, question.gold_sql[0]]);
    const gold = known.get(key) ?? describe(question, open);
    known.set(key, gold);
    // Do not cache a failure: the database may be up again next time.
    gold.catch(() => known.delete(key));
    return gold;
  };
}

async function describe(
  question: GoldQuestion,
  open: (database: string, dialect: Dialect) => Promise<OpenDatabase>,
): Promise<Gold> {
  const sql = normaliseSql(question.gold_sql[0] ?? '');
  const { engine, inspector } = await open(question.database, question.engine);
  const inspection = inspector.inspect(sql);
  if (inspection.kind !== 'select')
    throw new GoldError(`${question.id}: the gold SQL is refused: ${inspection.message}`);
  const options = { timeoutMs: 60_000, maxRows: 2, signal: new AbortController().signal, tag: 'gate simulated model' };
  const [result] = (await engine.run([sql], options)).results;
  if (result?.kind !== 'rows') throw new GoldError(`${question.id}: the gold SQL does not run: ${failure(result)}`);
  return {
    sql,
    dialect: question.engine,
    columns: columnsOf(result),
    relations: inspection.relations,
    ordered: isOrdered(sql),
    singleRow: result.rows.length < 2 && !result.truncated,
  };
}

function failure(result: SqlResult | undefined): string {
  if (result === undefined) return 'no result';
  return result.kind === 'sql-error' || result.kind === 'refused' ? result.message : result.kind;
}

const TYPES = {
  number: 'number',
  text: 'text',
  boolean: 'boolean',
  time: 'timestamp',
  json: 'json',
  other: 'other',
} as const;

/** A later operator cannot read names such as `count(*)` or a name that occurs twice: these get plain names. */
function columnsOf(result: SqlResult & { kind: 'rows' }): Column[] {
  const names = result.columns.map(({ name }) => name.toLowerCase());
  return result.columns.map(({ name, kind }, at) => {
    const usable = /^[a-z][a-z0-9_]{0,40}$/.test(name) && names.indexOf(name.toLowerCase()) === at;
    return { name: usable ? name : `value_${at + 1}`, type: TYPES[kind], meaning: '' };
  });
}

/** An ORDER BY outside every bracket and string. */
function isOrdered(sql: string): boolean {
  let bare = sql.replace(/'(?:[^']|'')*'/g, "''").replace(/"(?:[^"]|"")*"/g, '""');
  for (let before = ''; before !== bare;) {
    before = bare;
    bare = bare.replace(/\([^()]*\)/g, ' ');
  }
  return /\border\s+by\b/i.test(bare);
}
