/**
 * Access lists: which tables and columns may be read and shown (design §7). A pattern is `table`, `schema.table`,
 * `table.column` or `schema.table.column`; `*` stands for any characters in one part; case does not matter. Two parts are
 * read both ways: `*.ssn` names the column ssn of every table and the table ssn of every schema.
 *
 * 1. Deny wins over allow; an empty allow list allows everything.
 * 2. A pattern for a table allows all of its columns. A pattern for a column allows that column only, and so that its
 *    table is read.
 */

export interface AccessLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export interface AccessRules {
  /** Neither list has an entry. */
  readonly open: boolean;
  mayReadTable(table: string): boolean;
  mayReadColumn(table: string, column: string): boolean;
}

/** The schemas that a name without one may stand for. */
export const DEFAULT_SCHEMAS: readonly string[] = ['public', 'main'];

export function accessRules({ allow, deny }: AccessLists, schemas = DEFAULT_SCHEMAS): AccessRules {
  const splitName = (name: string): TableName => nameParts(name, schemas);
  const allowed = allow.map(toPattern);
  const denied = deny.map(toPattern);
  const mayReadTable = (table: string): boolean => {
    const name = splitName(table);
    if (denied.some((pattern) => pattern.isTable(name))) return false;
    return allowed.length === 0 || allowed.some((pattern) => pattern.isTable(name) || pattern.reachesInto(name));
  };
  return {
    open: allow.length === 0 && deny.length === 0,
    mayReadTable,
    mayReadColumn(table, column) {
      const name = splitName(table);
      if (!mayReadTable(table) || denied.some((pattern) => pattern.isColumn(name, column))) return false;
      return allowed.length === 0 || allowed.some((pattern) => pattern.isTable(name) || pattern.isColumn(name, column));
    },
  };
}

interface TableName {
  readonly schemas: readonly string[];
  readonly table: string;
}

interface Pattern {
  isTable(name: TableName): boolean;
  isColumn(name: TableName, column: string): boolean;
  /** Some column of the table may match. */
  reachesInto(name: TableName): boolean;
}

function toPattern(text: string): Pattern {
  const parts = text.trim().split('.').map(toExpression);
  const [first, second, third] = parts;
  const inSchema = (schema: RegExp | undefined, name: TableName): boolean =>
    name.schemas.some((one) => schema?.test(one) === true);
  const never = (): boolean => false;
  if (parts.length === 1)
    return { isTable: ({ table }) => first?.test(table) === true, isColumn: never, reachesInto: never };
  if (parts.length === 2) {
    return {
      isTable: (name) => inSchema(first, name) && second?.test(name.table) === true,
      isColumn: ({ table }, column) => first?.test(table) === true && second?.test(column) === true,
      reachesInto: ({ table }) => first?.test(table) === true,
    };
  }
  const isIn = (name: TableName): boolean => inSchema(first, name) && second?.test(name.table) === true;
  return { isTable: never, isColumn: (name, column) => isIn(name) && third?.test(column) === true, reachesInto: isIn };
}

function toExpression(part: string): RegExp {
  const escaped = part.split('*').map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 'is');
}

function nameParts(name: string, schemas: readonly string[]): TableName {
  const dot = name.indexOf('.');
  return dot < 0 ? { schemas, table: name } : { schemas: [name.slice(0, dot)], table: name.slice(dot + 1) };
}
