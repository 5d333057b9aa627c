/**
 * Finds checks of claims that could not fail (S1 for claims): a count that is a constant, one that is the same expression as
 * what was examined, one whose condition the check's own WHERE already demands or that compares a value with itself, and one
 * beside rivals that only negate it. Only plain forms are recognised, so a check that nothing is said about here may still be
 * weak; that a rival has to lose is the stronger guard. A factor that stands on both sides shows by its neighbours
 * (`fitted.ts`): they match as well.
 */
import type { CaseExpr, FuncCall } from 'sql-parser-cst';
import type { Dialect } from '../domain';
import { normaliseSql } from './body';
import { DIALECTS } from './dialects';
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
  childrenOf,
  isQuery,
  operatorOf,
  shown,
} from './tree';
import { canonical, compareText } from '../domain/canonical';

/**
 * The fault of a check, for its author; null if none is seen. `rivals`: whether each has SQL of its own, which runs through the
 * answer. `defined`: what the check may read besides tables, by name in lower case.
 */
export function vacuousCheck(
  check: string,
  rivals: readonly boolean[],
  dialect: Dialect,
  defined: ReadonlyMap<string, string> = new Map(),
): string | null {
  const query = readQuery(normaliseSql(check), dialect);
  const select = selectOf(query);
  const counts = select?.columns.map(({ value }) => countOf(value)) ?? [];
  const [examined, matching, ...others] = counts;
  if (query === null || examined === undefined || matching === undefined) return null;
  if (others.length !== 0 && others.length !== rivals.length) return null;
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
  const same = operandsOf(own, 'AND');
  const columns = columnsOf(query, defined, dialect);
  if (same.every((each) => isSelfCompared(each, columns)))
    return `it compares ${textOf(same[0] ?? own)}, and both sides are the same expression: compare with what is stored apart from it`;
  const negates = (count: Node): boolean =>
    countText(count) === `${countText(examined)} - ${countText(matching)}` ||
    isNegation(own, conditionOf(count, dialect));
  if (others.length > 0 && others.every((count, at) => rivals[at] === false && negates(count)))
    return 'its rival only negates it: name another reading, with an instead or a condition of its own';
  return null;
}

/** Whether one holds exactly where the other does not. */
function isNegation(one: Node, other: Node | null): boolean {
  if (other === null) return false;
  const [a, b] = [bare(one), bare(other)];
  if ([a, b].some(({ type }) => type === 'prefix_op_expr')) return isNot(a, b) || isNot(b, a);
  if (a.type !== 'binary_expr' || b.type !== 'binary_expr') return false;
  const operators = [operatorOf(a), operatorOf(b)].map((name) => SAME_OPERATOR[name] ?? name);
  const isOpposite = OPPOSITES.some((pair) => pair.every((name) => operators.includes(name)));
  return isOpposite && textOf(a.left) === textOf(b.left) && textOf(a.right) === textOf(b.right);
}

function isNot(node: Node, condition: Node): boolean {
  return node.type === 'prefix_op_expr' && operatorOf(node) === 'NOT' && textOf(node.expr) === textOf(condition);
}

const SAME_OPERATOR: Readonly<Record<string, string>> = { '==': '=', '!=': '<>' };
const OPPOSITES = [
  ['=', '<>'],
  ['<', '>='],
  ['>', '<='],
  ['IN', 'NOT IN'],
  ['IS', 'IS NOT'],
] as const;

/** Whether both sides of a comparison are one expression: as written, or as a relation below defines its columns. */
function isSelfCompared(comparison: Node, columns: Columns): boolean {
  const node = bare(comparison);
  if (node.type !== 'binary_expr') return false;
  const difference = argumentsOf(bare(node.left)).map(bare)[0];
  const isBand = ['<', '<='].includes(operatorOf(node)) && nameOf(bare(node.left)) === 'abs';
  const compared = isBand ? difference : operatorOf(node) === '=' ? node : undefined;
  if (compared?.type !== 'binary_expr' || (isBand && operatorOf(compared) !== '-')) return false;
  const [left, right] = [compared.left, compared.right].map((side) => columns.get(textOf(side)) ?? textOf(side));
  return left === right && readsRows(compared);
}

/** The expressions of computed columns, by `relation.column` as a query writes it. */
type Columns = ReadonlyMap<string, string>;

function columnsOf(query: Node, defined: ReadonlyMap<string, string>, dialect: Dialect): Columns {
  const ctes = query.type === 'select_stmt' ? query.clauses.filter((clause) => clause.type === 'with_clause') : [];
  const named = new Map<string, Node | null>([
    ...[...defined].map(([name, sql]) => [name, readQuery(normaliseSql(sql), dialect)] as const),
    ...ctes.flatMap(({ tables }) => tables.items.map(({ table, expr }) => [table.name.toLowerCase(), expr] as const)),
  ]);
  const from = selectOf(query)?.from ?? null;
  const relations = from === null ? [] : relationsIn(from);
  return new Map(
    relations.flatMap(({ name, relation }) => {
      const source = relation.type === 'identifier' ? (named.get(relation.name.toLowerCase()) ?? null) : relation;
      const list = source === null ? [] : (selectOf(bare(source))?.columns ?? []);
      return list.flatMap(({ name: column, value }) => {
        if (column === null) return [];
        const expression = `${name}: ${textOf(value)}`;
        const qualified = [`${name}.${column}`, expression] as const;
        return relations.length === 1 ? [qualified, [column, expression] as const] : [qualified];
      });
    }),
  );
}

function relationsIn(node: Node): { readonly name: string; readonly relation: Node }[] {
  if (node.type === 'join_expr') return [node.left, node.right].flatMap(relationsIn);
  if (node.type === 'alias') return [{ name: node.alias.name.toLowerCase(), relation: bare(node.expr) }];
  return node.type === 'identifier' ? [{ name: node.name.toLowerCase(), relation: node }] : [];
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
  return parts.map(({ expr }) => shown(unnamed(bare(expr))).trim());
}

/** Without the row in front that gives the columns their names. */
function unnamed(part: Node): Node {
  const names = part.type === 'compound_select_stmt' ? (selectOf(part.left)?.columns ?? []) : [];
  const isNaming = names.length > 0 && names.every(({ value }) => value.type === 'null_literal');
  return isNaming && part.type === 'compound_select_stmt' ? bare(part.right) : part;
}

export interface CountingPart {
  readonly name: string;
  readonly columns: readonly string[];
  readonly sql: string;
}

/** A check with these parts. A CTE's column list renames the columns by position, or the first part of a UNION does. */
export function selectParts(parts: readonly CountingPart[], dialect: Dialect): string {
  const { strictNames, fromNothing } = DIALECTS[dialect];
  const list = parts.map(({ name, columns, sql }) => {
    if (strictNames !== true) return `${name} (${columns.join(', ')}) AS (\n${sql}\n)`;
    const names = columns.map((column) => `NULL AS ${column}`).join(', ');
    return `${name} AS (\nSELECT ${names}${fromNothing} WHERE FALSE UNION ALL (\n${sql}\n)\n)`;
  });
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

/** The conditions of a WHERE, each in one form. */
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
      if (isColumn) return readExpression(`${shown(argument)} IS NOT NULL`, dialect);
      return argument.type === 'case_expr' ? caseCondition(argument, ['null']) : null;
    case 'sum':
      return argument.type === 'case_expr' ? caseCondition(argument, ['null', '0']) : argument;
    case 'count_if':
    case 'countif':
      return argument;
    default:
      return null;
  }
}

/** The condition of `case when c then 1 else 0 end`, with or without its ELSE. */
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

/**
 * The terms of a check's own count, without those of its rivals and without its layout: two checks with the same terms over the
 * same tables that count the same say the same in other words. Where they differ in any literal, code, function or comparison,
 * they may say different things.
 */

interface CheckTerms {
  /** The names of relations, columns and aliases, in lower case. */
  readonly names: ReadonlySet<string>;
  /** Literals, functions and operators, in one text. */
  readonly terms: string;
}

/** Null where the check cannot be read. */
export function checkTerms(check: string, dialect: Dialect): CheckTerms | null {
  const [own] = countingParts(check, dialect);
  const query = own === undefined ? null : readQuery(own, dialect);
  if (query === null) return null;
  const found = { names: new Set<string>(), terms: new Set<string>() };
  collect(query, null, rivalCounts(query), found);
  return { names: found.names, terms: canonical([...found.terms].sort(compareText)) };
}

/** The strings and numbers in a text of SQL; null where it cannot be read. */
export function literalsOf(sql: string, dialect: Dialect): ReadonlySet<string> | null {
  const query = readQuery(sql, dialect);
  if (query === null) return null;
  const literals = (node: Node): string[] => {
    const own = literalOf(node);
    return own === null ? childrenOf(node).flatMap(literals) : [own];
  };
  return new Set(literals(query));
}

/** The columns behind examined and matching. */
function rivalCounts(query: Node): ReadonlySet<Node> {
  const select = selectOf(query);
  const [only, second] = select?.columns ?? [];
  const from = select?.from ?? null;
  if (only?.value.type === 'all_columns' && second === undefined && from !== null) {
    const inner = bare(from.type === 'alias' ? from.expr : from);
    return isQuery(inner) ? rivalCounts(inner) : new Set();
  }
  return new Set(select?.columns.slice(2).map(({ value }) => value));
}

interface Found {
  readonly names: Set<string>;
  readonly terms: Set<string>;
}

function collect(node: Node, parent: Node | null, without: ReadonlySet<Node>, found: Found): void {
  if (without.has(node)) return;
  const literal = literalOf(node);
  if (literal !== null) {
    if (!isWording(node, parent)) found.terms.add(literal);
    return;
  }
  if (node.type === 'identifier') {
    found.names.add(node.name.toLowerCase());
    // SQLite takes a quoted name that is no column as a text.
    if (!/^\w/.test(node.text)) found.terms.add(node.text);
    return;
  }
  const called = nameOf(node);
  if (called !== '' && !PLAIN_FUNCTIONS.has(called)) found.terms.add(`${called}()`);
  // How tables are joined shows in the counts.
  const operator = node.type === 'join_expr' || isQuery(node) ? '' : operatorOf(node);
  const isNullTest = node.type === 'binary_expr' && node.right.type === 'null_literal';
  if (operator !== '' && !isNullTest && !PLAIN_OPERATORS.has(operator)) found.terms.add(operator);
  const above = node.type === 'list_expr' || node.type === 'paren_expr' ? parent : node;
  for (const child of childrenOf(node))
    if (!(node.type === 'func_call' && child === node.name)) collect(child, above, without, found);
}

/** Every check has these, and what they count shows in its figures. */
const PLAIN_FUNCTIONS = new Set(['count', 'sum', 'coalesce', 'ifnull', 'nvl', 'abs', 'round']);
/** Names of operators as `operatorOf` gives them. */
const PLAIN_OPERATORS = new Set(['=', 'AND', '.']);

function literalOf(node: Node): string | null {
  if (node.type === 'string_literal') return `'${node.value}'`;
  if (node.type === 'number_literal') return String(node.value);
  return node.type === 'blob_literal' ? shown(node) : null;
}

/**
 * Numbers that stand for no value of the data: of `GROUP BY 1`, of 0 and 1 that count, and how near two floats must be.
 * `parent`: above brackets and lists.
 */
function isWording(node: Node, parent: Node | null): boolean {
  if (node.type !== 'number_literal') return false;
  switch (parent?.type) {
    case 'group_by_clause':
    case 'sort_specification':
      return true;
    case 'binary_expr':
      return ['<', '<='].includes(operatorOf(parent)) && parent.right === node && nameOf(bare(parent.left)) === 'abs';
    case 'case_when':
      return parent.result === node && isCounter(node.value);
    case 'case_else':
    case 'func_args':
    case 'select_clause':
      return isCounter(node.value);
    default:
      return false;
  }
}

function isCounter(value: number): boolean {
  return value === 0 || value === 1;
}
