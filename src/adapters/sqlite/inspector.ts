/**
 * A SQLite parser (sql-parser-cst) as a `SqlInspector`: is this one SELECT, which relations does it read, and which CTEs
 * does it define. In SQLite every CTE of a WITH sees all the others, and names are compared without regard to case.
 */
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { statementsOf } from '../../sql/tree';
import { inspected, inspectingOnce, onlyStatement, Refusal } from '../kit/inspection';
import { refuseFunction, refuseRelation } from './program';

export function createSqliteInspector(): SqlInspector {
  return inspectingOnce({ inspect: (sql) => inspected(() => read(sql)) });
}

interface Found {
  readonly relations: Set<string>;
  readonly ctes: Set<string>;
}

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Functions that may stand in FROM: their rows come from their arguments. */
const TABLE_FUNCTIONS = new Set(['json_each', 'json_tree', 'generate_series']);

function read(sql: string) {
  const statement = onlyStatement(sql, parse, ({ message }) => message.split('\n')[0] ?? '');
  if (statement.type !== 'select_stmt' && statement.type !== 'compound_select_stmt') {
    const name = statement.type
      .replace(/_stmt$/, '')
      .replaceAll('_', ' ')
      .toUpperCase();
    throw new Refusal(`${name} is not allowed: write one SELECT that only reads`);
  }
  const found: Found = { relations: new Set(), ctes: new Set() };
  const own = leadingWith(statement);
  for (const name of own === null ? [] : namesOf(own)) found.ctes.add(name);
  visit(statement, new Set(), found);
  return { relations: [...found.relations].sort(), ctes: [...found.ctes], hasWith: own !== null };
}

const parse = (sql: string): readonly Node[] => statementsOf(sql, 'sqlite') as unknown as Node[];

/** The parser attaches the WITH of a UNION chain to its first SELECT, but it is valid for the whole chain. */
function leadingWith(statement: Node): Node | null {
  if (statement.type === 'compound_select_stmt') return leadingWith(statement['left'] as Node);
  if (statement.type !== 'select_stmt') return null;
  return (statement['clauses'] as Node[]).find(({ type }) => type === 'with_clause') ?? null;
}

const tablesOf = (clause: Node): Node[] => (clause['tables'] as { items: Node[] }).items;
const namesOf = (clause: Node): string[] =>
  tablesOf(clause).map((table) => fold((table['table'] as { name: string }).name, table['table'] as Node));
/** Lower case unless quoted, as the port says. */
const fold = (name: string, { text }: Node): string => (/^["`[]/.test(String(text)) ? name : name.toLowerCase());

function visit(value: unknown, scope: ReadonlySet<string>, found: Found): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, scope, found);
    return;
  }
  if (typeof value !== 'object' || value === null || !('type' in value)) return;
  const node = value as Node;
  switch (node.type) {
    case 'select_stmt':
    case 'compound_select_stmt': {
      const own = leadingWith(node);
      const inner = own === null ? scope : new Set([...scope, ...namesOf(own).map((name) => name.toLowerCase())]);
      children(node, inner, found);
      return;
    }
    case 'common_table_expr': {
      const body = (node['expr'] as { expr?: Node }).expr ?? (node['expr'] as Node);
      if (!/select_stmt$/.test(body.type))
        throw new Refusal(
          `the CTE ${(node['table'] as { name: string }).name} changes data: a CTE may only be a SELECT`,
        );
      visit(node['expr'], scope, found);
      return;
    }
    case 'from_clause':
      visitFrom(node['expr'] as Node, scope, found);
      return;
    case 'binary_expr':
      visitIn(node, scope, found);
      return;
    case 'func_call': {
      const refused = refuseFunction(nameOf(node['name'] as Node) ?? '');
      if (refused !== null) throw new Refusal(refused);
      children(node, scope, found);
      return;
    }
    default:
      children(node, scope, found);
  }
}

function children(node: Node, scope: ReadonlySet<string>, found: Found): void {
  for (const [key, child] of Object.entries(node))
    if (key !== 'leading' && key !== 'trailing') visit(child, scope, found);
}

function visitFrom(node: Node, scope: ReadonlySet<string>, found: Found): void {
  switch (node.type) {
    case 'join_expr':
      visitFrom(node['left'] as Node, scope, found);
      visitFrom(node['right'] as Node, scope, found);
      visit(node['specification'], scope, found);
      return;
    case 'alias':
    case 'indexed_table':
    case 'not_indexed_table':
      visitFrom((node['expr'] ?? node['table']) as Node, scope, found);
      return;
    case 'paren_expr': {
      const inner = node['expr'] as Node;
      if (/select_stmt$/.test(inner.type)) visit(inner, scope, found);
      else visitFrom(inner, scope, found);
      return;
    }
    case 'func_call': {
      const name = nameOf(node['name'] as Node) ?? '';
      // A virtual table can be written like a function, with a search term: `notes('word')` reads the table notes.
      if (!TABLE_FUNCTIONS.has(name.toLowerCase().replace(/^main\./, '')))
        addRelation(node['name'] as Node, scope, found, true);
      visit(node['args'], scope, found);
      return;
    }
    case 'identifier':
    case 'member_expr':
      addRelation(node, scope, found);
      return;
    default:
      visit(node, scope, found);
  }
}

/** `x IN name` and `x IN name(…)` read the table; `x IN (…)` is an ordinary expression. */
function visitIn(node: Node, scope: ReadonlySet<string>, found: Found): void {
  const operators = [node['operator']].flat() as { name?: string }[];
  const right = node['right'] as Node;
  if (operators.at(-1)?.name === 'IN' && ['identifier', 'member_expr', 'func_call'].includes(right.type)) {
    visit(node['left'], scope, found);
    visitFrom(right, scope, found);
    return;
  }
  children(node, scope, found);
}

function addRelation(node: Node, scope: ReadonlySet<string>, found: Found, called = false): void {
  const name = nameOf(node);
  if (name === null) throw new Refusal('a relation is named in an unusual way: write table or main.table');
  if (node.type === 'identifier' && scope.has(name.toLowerCase())) return;
  const bare = name.replace(/^main\./i, '');
  if (
    bare.includes('.') &&
    node.type === 'member_expr' &&
    !/^main$/i.test((node['object'] as { name?: string }).name ?? '')
  ) {
    throw new Refusal(`${name} is outside the database: read its own tables`);
  }
  const refused = refuseRelation(bare, called);
  if (refused !== null) throw new Refusal(refused);
  found.relations.add(bare);
}

function nameOf(node: Node): string | null {
  if (node.type === 'identifier') return fold(String(node['name']), node);
  if (node.type !== 'member_expr') return null;
  const object = nameOf(node['object'] as Node);
  const property = nameOf(node['property'] as Node);
  return object === null || property === null ? null : `${object}.${property}`;
}
