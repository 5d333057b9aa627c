/** What is particular to a dialect of SQL, as far as text goes: nothing here opens a database. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'symbol' | 'unknown';
  /** Words as the engine folds them (in SQLite in lower case), names without quotes, strings only as `'`. */
  readonly text: string;
  /** The token as it is written. */
  readonly raw: string;
  readonly at: number;
}

/** Tried in this order. */
export type Patterns = readonly (readonly [Token['kind'] | 'space', RegExp])[];

export interface DialectFacts {
  /** As people call it. */
  readonly name: string;
  /** Other names for it in files of questions. */
  readonly alsoCalled: readonly string[];
  readonly patterns: Patterns;
  /** Case to which names without quotes are folded; `none`: they keep the case in which they are written. */
  readonly fold: 'lower' | 'upper' | 'none';
  /** What stands around a name that needs quotes. */
  readonly quote: '"' | '`';
  /** Stored names that need no quotes, unless they are reserved. */
  readonly plain: RegExp;
  /** Words that cannot be names without quotes, beside those of `RESERVED`, in lower case. */
  readonly reserved: readonly string[];
  /** Parts of the name of a described table, at its dots: 1 where a dot is a part of the name. */
  readonly nameParts: 1 | 2 | 3;
  /** Where names without a schema are looked up; null: in the database of the address. */
  readonly schema: string | null;
  /** The grammar of sql-parser-cst that comes nearest. */
  readonly grammar: 'postgresql' | 'sqlite' | 'mysql' | 'bigquery';
  /** The engine's code for it. */
  readonly syntaxError: string;
  /** Other names of the one column of a key. */
  readonly rowIds?: readonly string[];
  /** The two columns of `gate_clock`, without SELECT. Both are ISO text, checked by the caller. */
  readonly clock: (now: string, today: string) => string;
  /** What stands between the columns and WHERE in a SELECT of constants, where it cannot be left out. */
  readonly fromNothing: '' | ' FROM DUAL' | ' FROM UNNEST([1])';
  /** A truth value arrives as 1 or 0. */
  readonly numbersAsTruth: boolean;
  /** FROM and what follows it, to read about `limit` of `rows` rows from all over a table; null: the first rows have to do. */
  readonly sample: (table: string, rows: number, limit: number) => string | null;
  /** How a CTE that has a table's name reads that table; null: it cannot. */
  readonly hidden: ((table: string) => string) | null;
  /** A CTE takes no list of column names, and no two columns of a result have the same name. */
  readonly strictNames?: true;
  /** In a text in quotes a backslash escapes. */
  readonly escapes?: true;
  /**
   * A WITH in a subquery sees no CTE of a WITH around it (MariaDB; in a CTE it does), and a name in the body of a CTE is looked up
   * from where the CTE is read (MySQL).
   */
  readonly flatWith?: true;
  /** For prompts: where models go wrong in it. */
  readonly notes: string;
}

/** Pages from all over the table, always the same, where a table is much larger than the sample. */
export function samplingPages(table: string, rows: number, limit: number): string | null {
  if (rows < limit * 5) return null;
  const share = Math.min(100, (limit / rows) * 150).toFixed(4);
  return `${table} TABLESAMPLE SYSTEM (${share}) REPEATABLE (1)`;
}

export const timestamps = (now: string, today: string): string => `TIMESTAMP '${now}' AS now, DATE '${today}' AS today`;
