/**
 * The SQL that the simulated model writes, all made from the gold query, so that right and wrong are known by
 * construction. The *right* body yields the gold rows; a *wrong* one yields each of them several times. The form of the
 * text differs with the derivation, so that two derivations share no body.
 */
import { quoteIdentifier } from '../search/compile';
import type { Gold } from './gold';

/** Stands in every wrong body and in no right one: how the simulated judge knows them. */
export const MISREAD = 'misread';

/** `misread` is the slip of a whole derivation: no two derivations misread alike, so wrong ones never agree. */
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

/** One row: how many rows the relation has. */
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
  return `WITH ${from}(${columns}) AS (\n${gold.sql}\n)\nSELECT ${columns} FROM ${from}${filter}${more.join('')}`;
}

/** Passes the rows on; reads the base operator too, where there is one, so that the plan is a chain of three. */
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

/** Runs into an error in any database: for failing SQL on demand. */
export function failingBody(gold: Gold): string {
  const relation = baseRelation(gold);
  return `SELECT no_such_column${relation === null ? '' : ` FROM ${quotedRelation(gold, relation)}`}`;
}
