/**
 * Turns a predicate or count into a query over the relation `observation` (rule S2). If one of its subqueries gives several
 * rows, so does the query: used as a plain value, SQLite would silently take the first row.
 */
import { show } from 'sql-parser-cst';
import type { Dialect } from '../domain';
import { normaliseSql } from './body';
import {
  bare,
  childrenOf,
  hasAggregate,
  isQuery,
  operatorOf,
  readExpression,
  readsRows,
  selectOf,
  type Node,
} from './tree';

/** Where an expression reads columns outside its subqueries, or has none, it is taken over the observation. */
export function expressionQuery(expression: string, dialect: Dialect): string {
  const text = normaliseSql(expression);
  const node = readExpression(text, dialect);
  if (node === null) return `SELECT (${text})${/\bobservation\b/i.test(text) ? '' : FROM}`;
  if (isQuery(node)) {
    const query = show(node);
    return /^with\b/i.test(query) ? `SELECT * FROM (\n${query}\n) AS gate_value` : query;
  }
  const found = subqueries(node);
  const from = found.length === 0 || readsRows(node, false) ? FROM : '';
  const values = found.filter(({ query, isSet }) => !isSet && !isOneRow(query));
  return [`SELECT (${text})${from}`, ...values.map(({ query }) => secondRow(query))].join('\n');
}

const FROM = ' FROM observation';

/** What its query selects over all rows of the observation, if that is all that the query does; else null. */
export function plainValue(expression: string, dialect: Dialect): { text: string; aggregates: boolean } | null {
  const node = readExpression(normaliseSql(expression), dialect);
  if (node === null) return null;
  const value = isQuery(node) ? onlyValue(node) : node;
  if (value === null || subqueries(value).length > 0 || !readsRows(value)) return null;
  return { text: show(value), aggregates: hasAggregate(value) };
}

/** Of `SELECT … FROM observation`. */
function onlyValue(query: Node): Node | null {
  const select = selectOf(query);
  const from = select?.from;
  const isPlain = select?.clauses.every((clause) => clause === 'select_clause' || clause === 'from_clause') === true;
  if (!isPlain || select.columns.length !== 1 || from?.type !== 'identifier') return null;
  return from.name.toLowerCase() === 'observation' ? (select.columns[0]?.value ?? null) : null;
}

/** Whether its query gives one row, whatever the observation holds, so that it may stand as a value. */
export function isOneValue(expression: string, dialect: Dialect): boolean {
  const node = readExpression(normaliseSql(expression), dialect);
  if (node === null) return false;
  if (isQuery(node)) return isOneRow(node);
  const found = subqueries(node);
  const overRows = found.length === 0 || readsRows(node, false);
  return (!overRows || hasAggregate(node)) && found.every(({ query, isSet }) => isSet || isOneRow(query));
}

/** False for a bare expression of literals only: its value does not depend on the data. */
export function namesSomething(expression: string, dialect: Dialect): boolean {
  const node = readExpression(normaliseSql(expression), dialect);
  return node === null || readsRows(node);
}

interface Subquery {
  readonly query: Node;
  /** After IN, EXISTS, ANY or ARRAY, where it may give several rows. */
  readonly isSet: boolean;
}

/** The outermost ones. */
function subqueries(node: Node, isSet = false): Subquery[] {
  if (isQuery(node)) return [{ query: node, isSet }];
  const set = setIn(node);
  return childrenOf(node).flatMap((child) => subqueries(child, child === set || (isSet && isQuery(child))));
}

function setIn(node: Node): Node | null {
  if (node.type === 'quantifier_expr' || node.type === 'array_constructor') return node.expr;
  if (node.type === 'prefix_op_expr') return operatorOf(node) === 'EXISTS' ? node.expr : null;
  return node.type === 'binary_expr' && ['IN', 'NOT IN'].includes(operatorOf(node)) ? node.right : null;
}

function isOneRow(query: Node): boolean {
  const select = selectOf(bare(query));
  if (select === null || select.clauses.includes('group_by_clause')) return false;
  return select.columns.some(({ value }) => hasAggregate(value));
}

/** SQL that adds a second row to the predicate's result if the subquery has more than one. */
function secondRow(query: Node): string {
  return `UNION ALL SELECT NULL WHERE (SELECT count(*) FROM (\n${show(query)}\n) AS gate_rows) > 1`;
}
