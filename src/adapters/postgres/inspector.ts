/**
 * PostgreSQL's own grammar (libpg_query, WebAssembly) as a `SqlInspector`: is this one SELECT, which relations does it
 * read, and which CTEs does it define. Loading is asynchronous and happens once; inspecting is synchronous.
 *
 * Scopes: a CTE is visible to later CTEs of its WITH (to all of them with RECURSIVE), to its query and to everything
 * nested in it; an inner name shadows an outer one; a schema-qualified name is never a CTE.
 */
import { loadModule, parseSync } from 'libpg-query';
import type { Inspection, SqlInspector } from '../../ports/sql-inspector';
import { inspectingOnce } from '../inspect-once';
import { MAX_STATEMENT_LENGTH, refuseFunction, refuseRelation, TOO_DEEP, TOO_LONG } from '../../sql/guard/refusals';

export async function createPostgresInspector(): Promise<SqlInspector> {
  await loadModule();
  return inspectingOnce({ inspect });
}

const EMPTY = 'the statement is empty: write one SELECT';

class Refusal extends Error {}

interface Found {
  readonly relations: Set<string>;
  readonly ctes: Set<string>;
}

type Node = Readonly<Record<string, unknown>>;

function inspect(sql: string): Inspection {
  if (sql.trim() === '') return { kind: 'refused', message: EMPTY };
  if (sql.length > MAX_STATEMENT_LENGTH) return { kind: 'refused', message: TOO_LONG };
  // The parser would stop at the NUL and miss the rest.
  if (sql.includes('\0')) return { kind: 'refused', message: 'the statement holds a NUL character: leave it out' };
  let statements: readonly { readonly stmt?: unknown }[];
  try {
    statements = parseSync(sql).stmts ?? [];
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'refused', message: TOO_DEEP };
    return { kind: 'syntax-error', message: messageOf(error) };
  }
  const [first] = statements;
  if (first === undefined) return { kind: 'refused', message: EMPTY };
  if (statements.length > 1)
    return { kind: 'refused', message: 'only one statement is allowed: remove what follows the first semicolon' };
  const select = (first.stmt as { SelectStmt?: Node } | undefined)?.SelectStmt;
  if (select === undefined) {
    const kind = Object.keys((first.stmt as object | undefined) ?? { Unknown: 0 })[0] ?? 'Unknown';
    return { kind: 'refused', message: `${statementName(kind)} is not allowed: write one SELECT that only reads` };
  }
  const found: Found = { relations: new Set(), ctes: new Set() };
  try {
    visitSelect(select, new Set(), found, true);
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', message: error.message };
    if (error instanceof RangeError) return { kind: 'refused', message: TOO_DEEP };
    throw error;
  }
  return {
    kind: 'select',
    relations: [...found.relations].sort(),
    ctes: [...found.ctes],
    hasWith: leadingWith(select),
  };
}

/** In a chain of UNIONs the leading WITH belongs to the outermost operation. */
const leadingWith = (select: Node): boolean => select['withClause'] !== undefined;

function visitSelect(select: Node, outer: ReadonlySet<string>, found: Found, top: boolean): void {
  if (select['intoClause'] !== undefined)
    throw new Refusal('SELECT INTO is not allowed: leave INTO out, the rows are returned');
  if (select['lockingClause'] !== undefined)
    throw new Refusal('FOR UPDATE and FOR SHARE are not allowed: leave the locking clause out');
  const { withClause, ...rest } = select as {
    withClause?: { ctes?: readonly { CommonTableExpr?: Node }[]; recursive?: boolean };
  };
  let scope = outer;
  const ctes = (withClause?.ctes ?? []).flatMap(({ CommonTableExpr }) =>
    CommonTableExpr === undefined ? [] : [CommonTableExpr],
  );
  const names = ctes.map((cte) => String(cte['ctename']));
  if (top) for (const name of names) found.ctes.add(name);
  if (withClause?.recursive === true) scope = new Set([...scope, ...names]);
  for (const [index, cte] of ctes.entries()) {
    const { ctequery, ...clauses } = cte as { ctequery?: Node };
    const body = ctequery?.['SelectStmt'] as Node | undefined;
    if (body === undefined) throw new Refusal(`the CTE ${names[index]} changes data: a CTE may only be a SELECT`);
    visitSelect(body, scope, found, false);
    visit(clauses, scope, found);
    scope = new Set([...scope, names[index] ?? '']);
  }
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'larg' || key === 'rarg') visitSelect(value as Node, scope, found, false);
    else visit(value, scope, found);
  }
}

function visit(value: unknown, scope: ReadonlySet<string>, found: Found): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, scope, found);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value as Node)) {
    if (key === 'SelectStmt') visitSelect(child as Node, scope, found, false);
    else if (key === 'RangeVar') visitRelation(child as Node, scope, found);
    else {
      if (key === 'FuncCall') visitFunction(child as Node);
      visit(child, scope, found);
    }
  }
}

function visitRelation(relation: Node, scope: ReadonlySet<string>, found: Found): void {
  const name = String(relation['relname']);
  const schema = relation['schemaname'] as string | undefined;
  if (schema === undefined && scope.has(name)) return;
  const catalog = relation['catalogname'] as string | undefined;
  if (catalog !== undefined) {
    throw new Refusal(`the name ${catalog}.${schema ?? ''}.${name} has three parts: write schema.table`);
  }
  const qualified = schema === undefined ? name : `${schema}.${name}`;
  const refused = refuseRelation(qualified);
  if (refused !== null) throw new Refusal(refused);
  found.relations.add(qualified);
}

function visitFunction(call: Node): void {
  const parts = (call['funcname'] as readonly { String?: { sval?: string } }[] | undefined) ?? [];
  const name = parts.at(-1)?.String?.sval ?? '';
  const refused = refuseFunction(name);
  if (refused !== null) throw new Refusal(refused);
}

/** `InsertStmt` is INSERT, `VariableSetStmt` is SET, `CreateTableAsStmt` is CREATE TABLE AS. */
function statementName(node: string): string {
  const known: Record<string, string> = {
    VariableSetStmt: 'SET',
    VariableShowStmt: 'SHOW',
    TransactionStmt: 'transaction control',
  };
  return (
    known[node] ??
    node
      .replace(/Stmt$/, '')
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toUpperCase()
  );
}

function messageOf(error: unknown): string {
  const { message, sqlDetails } = error as { message: string; sqlDetails?: { cursorPosition?: number } };
  const position = sqlDetails?.cursorPosition;
  return position === undefined || position < 0 ? message : `${message} (at character ${position + 1})`;
}
