/**
 * The SQL that the simulated model writes. All of it is made from the gold query, so it is known by construction whether it
 * is right. The *right* body yields the gold rows, a *wrong* one yields each of them several times. Each derivation has its
 * own form of the text, so that two derivations share no body.
 */
import { quoteIdentifier } from '../src/sql/dialects';
import type { Gold } from './gold';

/** A word in every wrong body and in no right one, by which the simulated judge recognises them. */
export const MISREAD = 'misread';

/** `misread` is an error of a whole derivation. Each derivation errs differently, so wrong ones never agree. */
export type Reading = 'right' | 'right-again' | 'twice' | 'thrice' | 'misread';

export function isWrong(sql: string): boolean {
  return new RegExp(`\\b${MISREAD}\\b`).test(sql);
}

export function columnList(gold: Gold): string {
  return gold.columns.map(({ name }) => quoteIdentifier(name, gold.dialect)).join(', ');
}

/** The relation that the base operator and the probes count. */
export function baseRelation(gold: Gold): string | null {
  const [relation] = [...gold.relations].sort();
  return relation ?? null;
}

export function quotedRelation(gold: Gold, relation: string): string {
  return relation
    .split('.')
    .map((part) => quoteIdentifier(part, gold.dialect))
    .join('.');
}

/** A body with one row: how many rows the relation has. */
export function baseBody(gold: Gold, derivation: number): string {
  const relation = baseRelation(gold);
  if (relation === null) throw new TypeError('a gold query without relations has no base operator');
  return `SELECT count(*) AS examined FROM ${quotedRelation(gold, relation)} AS t${derivation}`;
}

/** The gold rows under plain column names. */
export function rowsBody(gold: Gold, derivation: number, reading: Reading): string {
  const from = `gold${derivation}`;
  const columns = columnList(gold);
  const repeats = { right: 0, 'right-again': 0, twice: 1, thrice: 2, misread: derivation + 3 }[reading];
  const more = Array.from(
    { length: repeats },
    (_, at) => `\nUNION ALL\nSELECT ${columns} FROM ${from} AS ${at === 0 ? MISREAD : `${MISREAD}_${at}`}`,
  );
  const filter = reading === 'right-again' ? ' WHERE 1 = 1' : '';
  return `WITH ${namesOf(from, gold)} AS (\n${gold.sql}\n)\nSELECT ${columns} FROM ${from}${filter}${more.join('')}`;
}

/** A CTE of the gold rows. In BigQuery it takes no list of columns, and the gold query has to name them. */
export function namesOf(cte: string, gold: Gold): string {
  return gold.dialect === 'bigquery' ? cte : `${cte}(${columnList(gold)})`;
}

/** Returns the rows unchanged. Also reads the base operator, if there is one, so that the plan is a chain of three. */
export function answerBody(gold: Gold, rows: string, base: string | null): string {
  const filter = base === null ? '' : ` WHERE (SELECT examined FROM ${base}) >= 0`;
  return `SELECT ${columnList(gold)} FROM ${rows}${filter}`;
}

/** The answer in words, with places for its values. */
export function answerSentence(gold: Gold): string {
  const [column] = gold.columns;
  return gold.singleRow && column !== undefined
    ? `The answer is {${column.name}}.`
    : 'The answer is a list of {rows} rows.';
}

/** SQL that fails in any database. */
export function failingBody(gold: Gold): string {
  const relation = baseRelation(gold);
  return `SELECT no_such_column${relation === null ? '' : ` FROM ${quotedRelation(gold, relation)}`}`;
}
