/**
 * Turns a predicate or count into a query over the relation `observation` (rule S2). If one of its subqueries gives several
 * rows, so does the query: used as a plain value, SQLite would silently take the first row.
 */
import type { Dialect } from '../domain';
import { normaliseSql, plainSql } from './body';
import { DIALECTS } from './dialects';
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
  nameOf,
  textOf,
  shown,
} from './tree';

/** Where an expression reads columns outside its subqueries, or has none, it is taken over the observation. */
export function expressionQuery(expression: string, dialect: Dialect): string {
  const text = normaliseSql(expression);
  const node = readExpression(text, dialect);
  if (node === null) return `SELECT (${text})${/\bobservation\b/i.test(text) ? '' : FROM}`;
  if (isQuery(node)) {
    const query = shown(node);
    return /^with\b/i.test(query) ? `SELECT * FROM (\n${query}\n) AS gate_value` : query;
  }
  const found = subqueries(node);
  const from = found.length === 0 || readsRows(node, false) ? FROM : '';
  const values = found.filter(({ query, isSet }) => !isSet && !isOneRow(query));
  return [`SELECT (${text})${from}`, ...values.map(({ query }) => secondRow(query, dialect))].join('\n');
}

const FROM = ' FROM observation';

/** The selection of a query over all rows of the observation, if that is all that the query does; else null. */
export function plainValue(expression: string, dialect: Dialect): { text: string; aggregates: boolean } | null {
  const node = readExpression(normaliseSql(expression), dialect);
  if (node === null) return null;
  const value = isQuery(node) ? onlyValue(node) : node;
  if (value === null || subqueries(value).length > 0 || !readsRows(value)) return null;
  return { text: shown(value), aggregates: hasAggregate(value) };
}

/** The selection of `SELECT … FROM observation`. */
function onlyValue(node: Node): Node | null {
  return isOfObservation(node) ? valueOf(node, ['select_clause', 'from_clause']) : null;
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
function secondRow(query: Node, dialect: Dialect): string {
  return `UNION ALL SELECT NULL${DIALECTS[dialect].fromNothing} WHERE (SELECT count(*) FROM (\n${shown(query)}\n) AS gate_rows) > 1`;
}

/**
 * Finds claims whose result does not depend on the probe and that therefore prove nothing (rule S1): a constant, a count
 * compared with a value that no count can have, an agreement of a number with itself. Only certain forms are recognised. So
 * an honest claim that also holds for no rows, such as `count(*) FILTER (WHERE bad) = 0`, still counts.
 */

/** Whether a predicate is certainly true, or certainly false, before the probe has run. */
export function isForegone(predicate: string, dialect: Dialect): boolean {
  const node = readExpression(normaliseSql(predicate), dialect);
  if (node === null || !isQuery(node)) return node !== null && isDecided(node);
  const value = valueOf(node, ONE_ROW);
  if (value !== null && readsRows(value)) return isDecided(value);
  const constant = valueOf(node, ['select_clause', 'from_clause', 'limit_clause']);
  return constant !== null && !readsRows(constant) && isOfObservation(node);
}

/** Whether both counts of an agreement are the same expression. */
export function isWithItself(
  { matching, examined }: { readonly matching: string; readonly examined: string },
  dialect: Dialect,
): boolean {
  return counted(matching, dialect) === counted(examined, dialect);
}

function counted(expression: string, dialect: Dialect): string {
  const text = normaliseSql(expression);
  const node = readExpression(text, dialect);
  if (node === null) return plainSql(text);
  return textOf(onlyValue(node) ?? node);
}

/** The clauses with which a query that counts still gives one row. */
const ONE_ROW = ['with_clause', 'select_clause', 'from_clause', 'where_clause', 'order_by_clause'];

/** The only column of a query over rows that has no other clauses. */
function valueOf(node: Node, clauses: readonly string[]): Node | null {
  const select = selectOf(node);
  if (select?.columns.length !== 1 || select.from === null) return null;
  return select.clauses.every((clause) => clauses.includes(clause)) ? (select.columns[0]?.value ?? null) : null;
}

function isOfObservation(node: Node): boolean {
  const from = selectOf(node)?.from;
  return from?.type === 'identifier' && from.name.toLowerCase() === 'observation';
}

/** Whether its value is the same for every count, that is every whole number from 0. */
function isDecided(expression: Node): boolean {
  const node = bare(expression);
  if (!readsRows(node)) return true;
  const operator = operatorOf(node);
  if (node.type === 'prefix_op_expr') return operator === 'NOT' && isDecided(node.expr);
  if (node.type !== 'binary_expr') return false;
  const { left, right } = node;
  if (operator === 'AND' || operator === 'OR') return isDecided(left) && isDecided(right);
  if (operator === 'IS' || operator === 'IS NOT') return right.type === 'null_literal' && isCount(left);
  if (!/^(?:[<>]=?|==?|<>|!=)$/.test(operator)) return false;
  if (isCount(left)) return textOf(left) === textOf(right) || isBelowCounts(operator, right);
  return isCount(right) && isBelowCounts(MIRRORED[operator] ?? operator, left);
}

const MIRRORED: Readonly<Record<string, string>> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' };

/** Whether a count compared with the limit always gives the same. */
function isBelowCounts(operator: string, limit: Node): boolean {
  const number = Number(textOf(limit));
  return number < 0 || (number === 0 && (operator === '>=' || operator === '<'));
}

/** `count(…)`, with or without FILTER, or a subquery that returns only that. */
function isCount(expression: Node): boolean {
  const node = bare(expression);
  if (node.type === 'func_call') return nameOf(node) === 'count' && node.over === undefined;
  const value = valueOf(node, ONE_ROW);
  return value !== null && isCount(value);
}
