/**
 * SQL as a syntax tree (sql-parser-cst), for the rules that judge checks, probes and predicates. Which statements may run is
 * decided elsewhere. A dialect is read by the grammar that comes nearest. A text that cannot be read is null, and the rules then
 * say nothing about it (docs/decisions/2026-11-22-sql-is-read-by-parsers.md).
 */
import { BoundedMap } from '../bounded-map';
import { parse, show, type Node, type CompoundSelectStmt, type SelectStmt } from 'sql-parser-cst';
import type { Dialect } from '../domain';
import { plainSql } from './body';
import { DIALECTS } from './dialects';
import { rewritten, tokensOf } from './lexer';
import { asRead, undone } from './mysql-reading';

export type { Node } from 'sql-parser-cst';
export type Query = SelectStmt | CompoundSelectStmt;

const WHOLE = { includeSpaces: true, includeNewlines: true, includeComments: true };

/** A parse takes milliseconds, and a predicate is judged when it is read, when it is run and in every later prompt. */
const READ = new BoundedMap<readonly Node[]>(512 * 1024);

/** Throws what the parser throws: a RangeError where the text is nested too deeply. Nobody changes a tree. */
export function statementsOf(sql: string, dialect: Dialect): readonly Node[] {
  const key = `${dialect} ${sql}`;
  const known = READ.get(key);
  if (known !== undefined) return known;
  const statements = parsed(sql, dialect);
  READ.set(key, statements, key.length);
  return statements;
}

function parsed(sql: string, dialect: Dialect): readonly Node[] {
  refuseDepth(sql, dialect, 200);
  const read = (text: string): Node[] =>
    parse(text, { dialect: DIALECTS[dialect].grammar, ...WHOLE }).statements.filter(({ type }) => type !== 'empty');
  if (dialect === 'mysql') return read(asRead(sql));
  try {
    return read(sql);
  } catch (error) {
    const quoted = dialect === 'sqlite' ? withQuotedNames(sql) : sql;
    if (quoted === sql || error instanceof RangeError) throw error;
    try {
      return read(quoted);
    } catch {
      // The first message has the positions of the text as it was written.
      throw error;
    }
  }
}

/** SQLite takes these for names where no keyword can stand; sql-parser-cst does not. */
const ALSO_NAMES =
  /^(?:cast|cross|full|glob|groups|indexed|inner|left|like|match|natural|outer|raise|regexp|right|window)$/i;

/** The statement with such words in quotes where they are names: an alias, or a part of a qualified name. */
function withQuotedNames(sql: string): string {
  return rewritten(sql, 'sqlite', ({ raw, text }, before, after) => {
    if (!ALSO_NAMES.test(raw)) return raw;
    const isFrame = /^(?:between|unbounded|current|\d)/i.test(after?.raw ?? '');
    const isGroups = text === 'groups' && !isFrame && before?.raw !== '(';
    const isName = before?.raw === '.' || after?.raw === '.' || /^as$/i.test(before?.raw ?? '') || isGroups;
    return isName ? `"${text}"` : raw;
  });
}

/**
 * The parser tries each bracket in several ways: twenty that are never closed, or that hold what it cannot read, would take
 * it minutes.
 */
function refuseDepth(sql: string, dialect: Dialect, maximum: number): void {
  let depth = 0;
  for (const { raw } of tokensOf(sql, dialect)) {
    depth += Number(raw === '(' || raw === '[') - Number(raw === ')' || raw === ']');
    if (depth > maximum) throw new RangeError('brackets are nested too deeply');
  }
  if (depth !== 0) throw new SyntaxError('brackets do not match');
}

/** One query, without brackets around it. */
export function readQuery(sql: string, dialect: Dialect): Query | null {
  try {
    refuseDepth(sql, dialect, 12);
    const [statement, second] = statementsOf(sql, dialect).map(bare);
    return statement !== undefined && second === undefined && isQuery(statement) ? statement : null;
  } catch {
    return null;
  }
}

/** An expression, or the query that it is, without brackets around it. */
export function readExpression(text: string, dialect: Dialect): Node | null {
  const select = selectOf(readQuery(`SELECT ${text}`, dialect));
  const [only, second] = select?.columns ?? [];
  const isBare = only?.name === null && second === undefined && select?.clauses.length === 1;
  return isBare ? only.value : readQuery(text, dialect);
}

/** Whether an ORDER BY of its own puts the rows of the whole query in order. */
export function isOrdered(query: Query): boolean {
  const last = query.type === 'compound_select_stmt' ? query.right : query;
  const clauses = last.type === 'select_stmt' ? (last.clauses as readonly Node[]) : [];
  // An ORDER BY in brackets orders one part of a union only.
  const isWhole = last === query;
  return clauses.some(
    (clause) =>
      clause.type === 'order_by_clause' ||
      (isWhole && clause.type === 'paren_expr' && isQuery(clause.expr) && isOrdered(clause.expr)),
  );
}

export function isQuery(node: Node): node is Query {
  return node.type === 'select_stmt' || node.type === 'compound_select_stmt';
}

export interface Select {
  readonly columns: readonly { readonly name: string | null; readonly value: Node }[];
  readonly from: Node | null;
  readonly where: Node | null;
  readonly clauses: readonly string[];
}

/** Null for a union, VALUES and the like. */
export function selectOf(node: Node | null): Select | null {
  if (node?.type !== 'select_stmt') return null;
  const clause = <T extends Node['type']>(type: T) =>
    (node.clauses as Node[]).find((each): each is Extract<Node, { type: T }> => each.type === type);
  const list = clause('select_clause');
  if (list === undefined || list.modifiers.some(({ type }) => type !== 'select_all')) return null;
  return {
    columns: (list.columns?.items ?? []).map((item: Node) =>
      item.type === 'alias'
        ? { name: item.alias.name.toLowerCase(), value: bare(item.expr) }
        : { name: null, value: bare(item) },
    ),
    from: clause('from_clause')?.expr ?? null,
    where: clause('where_clause')?.expr ?? null,
    clauses: node.clauses.map(({ type }) => type),
  };
}

/** The node without brackets around it. */
export function bare(node: Node): Node {
  if (node.type === 'paren_expr' && node.expr.type !== 'list_expr') return bare(node.expr);
  const [only] = node.type === 'select_stmt' && node.clauses.length === 1 ? node.clauses : [];
  return only?.type === 'paren_expr' ? bare(only) : node;
}

/** The text in one form: without comments, layout, outer brackets and the case of words. */
export function textOf(node: Node): string {
  return plainSql(shown(bare(node)));
}

/** Its SQL, which can be run. */
export const shown = (node: Node): string => undone(show(node));

export function childrenOf(node: Node): Node[] {
  const values: unknown[] = Object.values(node).flat();
  return values.filter((value): value is Node => typeof value === 'object' && value !== null && 'type' in value);
}

/** The operands of a chain of AND or OR. */
export function operandsOf(node: Node, operator: 'AND' | 'OR'): Node[] {
  const inner = bare(node);
  return inner.type === 'binary_expr' && operatorOf(inner) === operator
    ? [inner.left, inner.right].flatMap((each) => operandsOf(each, operator))
    : [inner];
}

/** Keywords in upper case, joined: `IS NOT`. */
export function operatorOf(node: Node): string {
  const parts: unknown[] = 'operator' in node ? [node.operator].flat() : [];
  return parts.map((part) => (typeof part === 'string' ? part : (part as { name?: string }).name)).join(' ');
}

/** The names in it other than those of functions, in lower case; `*` for all columns. */
export function columnsIn(node: Node, inSubqueries = true): string[] {
  if (node.type === 'identifier') return [node.name.toLowerCase()];
  if (node.type === 'all_columns') return ['*'];
  if (isQuery(node) && !inSubqueries) return [];
  const called = node.type === 'func_call' ? node.name : null;
  return childrenOf(node).flatMap((child) => (child === called ? [] : columnsIn(child, inSubqueries)));
}

/** Whether its value depends on rows: it names a column, or aggregates them. */
export function readsRows(node: Node, inSubqueries = true): boolean {
  return hasAggregate(node) || columnsIn(node, inSubqueries).length > 0;
}

/** Nodes that give a value without naming a column, as in `sum(1)`. */
const AGGREGATES =
  'count count_if countif sum avg total group_concat every bool_and bool_or logical_and logical_or'.split(' ');

/** Outside its subqueries. In SQLite `max(a, b)` is none. */
export function hasAggregate(node: Node): boolean {
  const name = node.type === 'func_call' && node.over === undefined ? nameOf(node) : '';
  const isExtreme = (name === 'min' || name === 'max') && argumentsOf(node).length === 1;
  return isExtreme || AGGREGATES.includes(name) || (!isQuery(node) && childrenOf(node).some(hasAggregate));
}

/** The name of the function that is called; empty where none is. */
export function nameOf(node: Node): string {
  return node.type === 'func_call' && node.name.type === 'identifier' ? node.name.name.toLowerCase() : '';
}

export function argumentsOf(node: Node): Node[] {
  return (node.type === 'func_call' && node.args?.expr.args.items) || [];
}
