/**
 * Finds claims whose result does not depend on the probe and that therefore prove nothing (rule S1): a constant, a count
 * compared with a value that no count can have, an agreement of a number with itself. Only certain forms are recognised. So
 * an honest claim that also holds for no rows, such as `count(*) FILTER (WHERE bad) = 0`, still counts.
 */
import type { Dialect } from '../domain';
import { normaliseSql, plainSql } from './body';
import { bare, isQuery, nameOf, operatorOf, readExpression, readsRows, selectOf, textOf, type Node } from './tree';

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
  return textOf((isOfObservation(node) ? valueOf(node, ['select_clause', 'from_clause']) : null) ?? node);
}

/** With these clauses alone, a query that counts gives one row. */
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
