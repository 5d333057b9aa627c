/**
 * Finds checks of claims that could not fail (S1 for claims): a count that is a constant, one that is the same expression as
 * what was examined, or one whose condition the check's own WHERE already demands. Only plain forms are recognised, so a
 * check that nothing is said about here may still be weak; that a rival has to lose is the stronger guard.
 */
import { show, type CaseExpr, type FuncCall } from 'sql-parser-cst';
import type { Dialect } from '../domain';
import { normaliseSql } from './body';
import {
  argumentsOf,
  bare,
  columnsIn,
  nameOf,
  operandsOf,
  readExpression,
  readQuery,
  readsRows,
  selectOf,
  textOf,
  type Node,
} from './tree';

/** What is wrong with the check, for its author; null if nothing is seen. `side`: counts beside examined and matching. */
export function vacuousCheck(check: string, side: number, dialect: Dialect): string | null {
  const select = selectOf(readQuery(normaliseSql(check), dialect));
  const counts = select?.columns.map(({ value }) => countOf(value)) ?? [];
  const [examined, matching, ...others] = counts;
  if (examined === undefined || matching === undefined || others.length !== side) return null;
  if (countText(matching) === countText(examined)) return 'matching is the same expression as examined: it cannot fail';
  const constant = counts.findIndex((count) => !readsRows(count));
  if (constant >= 0)
    return `its column ${constant + 1} is the constant ${textOf(counts[constant] ?? matching)}: count what the rows show`;
  const own = conditionOf(matching, dialect);
  if (own === null) return null;
  // One alternative that always holds is enough.
  const sure = operandsOf(own, 'OR').find((each) => !readsRows(each));
  if (sure !== undefined) return `it counts ${textOf(sure)}, which says nothing about the rows: it cannot fail`;
  const filtered = demanded(own, conditionsOf(select?.where ?? null));
  if (filtered !== null)
    return `it counts ${filtered} among rows that were filtered by just that: leave it out of WHERE`;
  return null;
}

/** The queries that count: a check that was kept lists them as CTEs and selects all of their columns. */
export function countingParts(check: string, dialect: Dialect): readonly string[] {
  const query = readQuery(normaliseSql(check), dialect);
  const select = selectOf(query);
  const [only, second] = select?.columns ?? [];
  const list =
    query?.type === 'select_stmt' ? query.clauses.find((clause) => clause.type === 'with_clause') : undefined;
  if (list === undefined || only?.value.type !== 'all_columns' || second !== undefined) return [check];
  const read = columnsIn(select?.from ?? only.value);
  const parts = list.tables.items.filter(({ table }) => read.includes(table.name.toLowerCase()));
  return parts.map(({ expr }) => show(bare(expr)).trim());
}

export interface CountingPart {
  readonly name: string;
  readonly columns: readonly string[];
  readonly sql: string;
}

/** A check with these parts. A CTE's column list renames the columns by position, in all engines. */
export function selectParts(parts: readonly CountingPart[]): string {
  const list = parts.map(({ name, columns, sql }) => `${name} (${columns.join(', ')}) AS (\n${sql}\n)`);
  return `WITH ${list.join(',\n')}\nSELECT * FROM ${parts.map(({ name }) => name).join(' CROSS JOIN ')}`;
}

/** `count(1)` is `count(*)`. */
function countText(node: Node): string {
  return textOf(node).replace(/^count\(\d+\)/, 'count(*)');
}

/** A sum of a constant is that constant. */
function countOf(node: Node): Node {
  const [only, second] = argumentsOf(node);
  if (only?.type !== 'number_literal' || second !== undefined || node.type !== 'func_call') return node;
  return ['sum', 'min', 'max', 'avg'].includes(nameOf(node)) && node.filter === undefined ? only : node;
}

/** `count(*)` or `count(1)`, with or without FILTER. */
export function isCountOfRows(node: Node): node is FuncCall {
  const [counted] = argumentsOf(node);
  return nameOf(node) === 'count' && (counted?.type === 'all_columns' || counted?.type === 'number_literal');
}

/** What a WHERE demands, each in one form. */
export function conditionsOf(where: Node | null): ReadonlySet<string> {
  return new Set(where === null ? [] : operandsOf(where, 'AND').map(textOf));
}

/** The condition, or the alternative of it, that holds for every row because all its parts are demanded. */
export function demanded(condition: Node, conditions: ReadonlySet<string>): string | null {
  const isDemanded = (each: Node) => operandsOf(each, 'AND').every((part) => conditions.has(textOf(part)));
  const found = [condition, ...operandsOf(condition, 'OR')].find(isDemanded);
  return found === undefined ? null : textOf(found);
}

/** The condition whose rows are counted: `count(a)`, `count(*) filter(where c)`, `sum(c)`, `sum(case when c then 1 …)`. */
export function conditionOf(count: Node, dialect: Dialect): Node | null {
  if (count.type !== 'func_call' || count.over !== undefined) return null;
  if (count.filter !== undefined) return isCountOfRows(count) ? count.filter.where.expr.expr : null;
  const [argument, second] = argumentsOf(count).map(uncast);
  if (argument === undefined || second !== undefined || count.args?.expr.distinctKw !== undefined) return null;
  const isColumn = argument.type === 'identifier' || argument.type === 'member_expr';
  switch (nameOf(count)) {
    case 'count':
      if (isColumn) return readExpression(`${show(argument)} IS NOT NULL`, dialect);
      return argument.type === 'case_expr' ? caseCondition(argument, ['null']) : null;
    case 'sum':
      return argument.type === 'case_expr' ? caseCondition(argument, ['null', '0']) : argument;
    case 'count_if':
      return argument;
    default:
      return null;
  }
}

/** Of `case when c then 1 else 0 end`, with or without its ELSE. */
function caseCondition({ expr, clauses }: CaseExpr, otherwise: readonly string[]): Node | null {
  const [first, ...others] = clauses;
  if (expr !== undefined || first?.type !== 'case_when' || textOf(first.result) !== '1') return null;
  const isPlain = others.every((each) => each.type === 'case_else' && otherwise.includes(textOf(each.result)));
  return isPlain ? first.condition : null;
}

function uncast(argument: Node): Node {
  const node = bare(argument);
  if (node.type === 'cast_operator_expr') return uncast(node.left);
  return node.type === 'cast_expr' ? uncast(node.args.expr.expr) : node;
}
