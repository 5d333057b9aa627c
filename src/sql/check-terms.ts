/**
 * The terms of a check's own count, without those of its rivals and without its layout: two checks with the same terms over the
 * same tables that count the same say the same in other words. Where they differ in any literal, code, function or comparison,
 * they may say different things.
 */
import { show } from 'sql-parser-cst';
import type { Dialect } from '../domain';
import { canonical, compareText } from '../domain/canonical';
import { bare, childrenOf, isQuery, nameOf, operatorOf, readQuery, selectOf, type Node } from './tree';
import { countingParts } from './vacuous-check';

export interface CheckTerms {
  /** Of relations, columns and aliases, in lower case. */
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
    // In SQLite a quoted name that is no column is a text.
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
  return node.type === 'blob_literal' ? show(node) : null;
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
