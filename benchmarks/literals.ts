/**
 * The literals of a statement, each with the part that it plays: what is compared with data, what is only written about it
 * (a format, a factor, a label), and what is given back as it stands. Limits, positions and sizes of types are left out,
 * because they hold no value of the data.
 */
import type { Dialect } from '../src/domain';
import { tokensOf } from '../src/sql/lexer';
import { argumentsOf, bare, childrenOf, isQuery, nameOf, operatorOf, statementsOf, type Node } from '../src/sql/tree';

export type LiteralRole =
  /** Compared with data. */
  | 'value'
  /** Of LIKE or a regular expression. */
  | 'pattern'
  /** Of a computation. */
  | 'factor'
  /** A position, a number of places or of rows, as in `round(x, 2)`. */
  | 'count'
  /** Of a date, or the unit of one: `%Y-%m`. */
  | 'format'
  /** How far a date is moved: `-1 month`. */
  | 'shift'
  /** Where something lies in JSON: `$.a[0]`, `{a,0}`. */
  | 'path'
  /** What a case is called, or a missing value. */
  | 'label'
  /** Of a row that is written out: VALUES, or a query of which no column reads a row. */
  | 'row'
  /** Given back by the outermost query, which reads no row for it. */
  | 'constant'
  /** Given back beside what reads rows: a column, an aggregate or a case that is the same whatever the rows hold. */
  | 'beside';

export interface Literal {
  readonly kind: 'text' | 'number';
  readonly value: string;
  readonly role: LiteralRole;
}

/** Null where the parser cannot read the statement. */
export function literalsIn(sql: string, dialect: Dialect): readonly Literal[] | null {
  let statements: readonly Node[];
  try {
    statements = statementsOf(sql, dialect);
  } catch (error) {
    // What cannot be parsed, or is nested too deeply, is the caller's to judge.
    if (error instanceof Error) return null;
    throw error;
  }
  const found = new Collector(dialect);
  for (const statement of statements) {
    found.constants(statement);
    found.visit(statement, 'value');
  }
  return found.all();
}

/** Every string and number of a text that cannot be parsed; each counts as a value, but for `substring(x from '…')`. */
export function literalTokens(sql: string, dialect: Dialect): readonly Literal[] {
  return tokensOf(sql, dialect).flatMap(({ kind, raw }, at, tokens): Literal[] => {
    if (kind === 'number') return [{ kind, value: raw, role: 'value' }];
    if (kind !== 'string') return [];
    const role = tokens[at - 1]?.text.toLowerCase() === 'from' ? 'pattern' : 'value';
    return [{ kind: 'text', value: raw.replace(/^[^']*'|'$/g, ''), role }];
  });
}

/** Arguments that are formats or units, by the function's name. */
const FORMATS: Readonly<Record<string, number>> = {
  ...{ strftime: 0, date_trunc: 0, date_part: 0, datediff: 0, dateadd: 0, timestampdiff: 0, timestampadd: 0 },
  ...{ format: 0, printf: 0, to_char: 1, to_date: 1, to_timestamp: 1, to_number: 1, trunc: 1 },
};
/** SQLite's functions of dates: from this argument on, a date is moved. */
const SHIFTS: Readonly<Record<string, number>> = {
  date: 1,
  time: 1,
  datetime: 1,
  julianday: 1,
  unixepoch: 1,
  strftime: 2,
};
const COUNTS = new Set(
  'substr substring left right round trunc lpad rpad split_part nth_value ntile lag lead power mod percentile_cont percentile_disc repeat width_bucket generate_series'.split(
    ' ',
  ),
);
const PATTERNS = new Set(
  ['LIKE', 'ILIKE', 'GLOB', 'REGEXP', 'RLIKE', 'SIMILAR TO'].flatMap((name) => [name, `NOT ${name}`]),
).add('~');
const PATHS = new Set(['->', '->>', '#>', '#>>']);
/** What they give where there is no value. */
const DEFAULTS = new Set(['coalesce', 'ifnull', 'nvl', 'zeroifnull']);
/** They make rows of their first argument. */
const TABLES = new Set(
  ['each', 'tree', 'array_elements', 'array_elements_text', 'to_record', 'to_recordset', 'populate_recordset']
    .flatMap((name) => [`json_${name}`, `jsonb_${name}`])
    .concat('unnest', 'values', 'string_to_table'),
);
const ARITHMETIC = new Set(['+', '-', '*', '/', '%', '||', '^', '&', '|']);

/** They give their first argument back, of one row or of all. */
const GIVERS = new Set(
  'min max avg median any_value group_concat string_agg listagg array_agg json_agg jsonb_agg json_group_array first_value last_value nth_value lag lead'.split(
    ' ',
  ),
);
/** They depend on how many rows there are, whatever their argument is. */
const COUNTERS = new Set(['count', 'sum', 'total']);

/** What an aggregate or a window gives back; null: it is neither. In SQLite `max(a, b)` is none. */
function givenBack(node: Node): Node | null {
  const [name, args] = [nameOf(node), argumentsOf(node)];
  const isScalar = (name === 'min' || name === 'max') && args.length !== 1;
  return GIVERS.has(name) && !isScalar ? (args[0] ?? null) : null;
}

/** Whether its value depends on rows: `max('x')` is the same for all of them. */
function dependsOnRows(node: Node): boolean {
  if (node.type === 'alias') return dependsOnRows(node.expr);
  if (node.type === 'identifier' || node.type === 'all_columns' || COUNTERS.has(nameOf(node))) return true;
  const given = givenBack(node);
  if (given !== null) return dependsOnRows(given);
  if (node.type === 'func_call' && node.over !== undefined) return true;
  const called = node.type === 'func_call' ? node.name : null;
  return childrenOf(node).some((child) => child !== called && dependsOnRows(child));
}

const columnsOf = (clause: Node | undefined): readonly Node[] =>
  clause?.type === 'select_clause' ? (clause.columns?.items ?? []) : [];

/** Whether a column of the list depends on rows. */
const givesRows = (clause: Node | undefined): boolean => columnsOf(clause).some(dependsOnRows);

const FIXED: ReadonlySet<LiteralRole> = new Set(['constant', 'beside', 'row']);

class Collector {
  private readonly found: Literal[] = [];
  private readonly quoted = new Set<Literal>();
  private readonly named = new Set<string>();
  private readonly given = new Map<Node, LiteralRole>();

  constructor(private readonly dialect: Dialect) {}

  all(): readonly Literal[] {
    return this.found.filter((one) => !this.quoted.has(one) || !this.named.has(one.value.toLowerCase()));
  }

  /** Marks what the outermost query gives back without reading a row. */
  constants(node: Node): void {
    const query = bare(node);
    if (query.type === 'compound_select_stmt') [query.left, query.right].forEach((arm) => this.constants(arm));
    if (query.type !== 'select_stmt') return;
    for (const clause of query.clauses as Node[])
      if (clause.type === 'values_clause' || (clause.type === 'select_clause' && !givesRows(clause)))
        this.given.set(clause, 'constant');
      else for (const column of columnsOf(clause)) if (!dependsOnRows(column)) this.given.set(column, 'beside');
  }

  visit(node: Node, asked: LiteralRole): void {
    const role = this.given.get(node) ?? asked;
    switch (node.type) {
      case 'string_literal':
      case 'number_literal':
        this.found.push({ kind: node.type === 'string_literal' ? 'text' : 'number', value: String(node.value), role });
        return;
      case 'identifier':
        // In SQLite a name in double quotes that is no column is a text.
        if (this.dialect === 'sqlite' && node.text.startsWith('"')) this.quoted.add(this.text(node.name, role));
        return;
      case 'boolean_literal':
        if (role === 'constant' || role === 'beside') this.text(String(node.value), role);
        return;
      case 'blob_literal':
        this.text(Buffer.from(node.value).toString(), role);
        return;
      case 'alias':
        this.name(node.alias);
        this.visit(node.expr, role);
        return;
      case 'common_table_expr':
        this.name(node.table);
        this.visit(node.expr, role);
        return;
      case 'limit_clause':
      case 'offset_clause':
      case 'fetch_clause':
      case 'sort_specification':
        for (const child of childrenOf(node)) if (child.type !== 'number_literal') this.visit(child, role);
        return;
      case 'group_by_clause':
      case 'order_by_clause':
        for (const child of childrenOf(node.type === 'group_by_clause' ? node.columns : node.specifications))
          if (child.type !== 'number_literal') this.visit(child, role);
        return;
      case 'modified_data_type':
        return;
      case 'frame_bound_preceding':
      case 'frame_bound_following':
        this.under(node, 'count');
        return;
      case 'values_clause':
        this.under(node, role === 'constant' ? role : 'row');
        return;
      case 'interval_literal':
        this.under(node, 'shift');
        return;
      case 'case_expr':
        this.cases(node, role);
        return;
      case 'binary_expr':
        this.binary(node, role);
        return;
      case 'func_call':
        this.call(node, role);
        return;
      case 'paren_expr':
      case 'list_expr':
      case 'cast_expr':
      case 'cast_arg':
      case 'cast_operator_expr':
      case 'prefix_op_expr':
        this.under(node, role);
        return;
      case 'select_stmt': {
        for (const clause of node.clauses)
          this.visit(clause, clause.type === 'select_clause' && !givesRows(clause) ? 'row' : 'value');
        return;
      }
      default:
        this.under(node, isQuery(node) || !FIXED.has(role) ? 'value' : role);
    }
  }

  private under(node: Node, role: LiteralRole): void {
    for (const child of childrenOf(node)) this.visit(child, role);
  }

  private name(node: Node | undefined): void {
    if (node?.type === 'identifier') this.named.add(node.name.toLowerCase());
  }

  private text(value: string, role: LiteralRole): Literal {
    const literal: Literal = { kind: 'text', value, role };
    this.found.push(literal);
    return literal;
  }

  /** A case that no row decides gives its result back as it stands. */
  private cases(node: Extract<Node, { type: 'case_expr' }>, role: LiteralRole): void {
    if (node.expr !== undefined) this.visit(node.expr, 'value');
    let isDecided = node.expr === undefined || !dependsOnRows(node.expr);
    for (const one of node.clauses) {
      if (one.type === 'case_when') {
        this.visit(one.condition, 'value');
        isDecided &&= !dependsOnRows(one.condition);
      }
      this.visit(one.result, FIXED.has(role) ? role : isDecided ? 'beside' : 'label');
    }
  }

  private binary(node: Extract<Node, { type: 'binary_expr' }>, role: LiteralRole): void {
    const operator = operatorOf(node).toUpperCase();
    const isFixed = FIXED.has(role);
    const isShift = role === 'shift' && operator === '||';
    const side = isFixed || isShift ? role : ARITHMETIC.has(operator) ? 'factor' : 'value';
    this.visit(node.left, side);
    if (PATTERNS.has(operator.replace(/^!?~+\*?$/, '~'))) this.visit(node.right, 'pattern');
    else if (PATHS.has(operator)) this.visit(node.right, 'path');
    else this.visit(node.right, operator === 'AT TIME ZONE' ? 'format' : side);
  }

  private call(node: Extract<Node, { type: 'func_call' }>, role: LiteralRole): void {
    const name = nameOf(node);
    const args = argumentsOf(node);
    const given = givenBack(node);
    const isSame = given !== null && !dependsOnRows(given);
    const roleOf = (at: number): LiteralRole => {
      if (FORMATS[name] === at) return 'format';
      if (at >= (SHIFTS[name] ?? Infinity)) return 'shift';
      if (FIXED.has(role)) return role;
      if (at === 0 && isSame) return 'beside';
      if (TABLES.has(name) && (at === 0 || name === 'values')) return 'row';
      if (COUNTS.has(name)) return 'count';
      if (name.startsWith('regexp')) return 'pattern';
      if (name.startsWith('json') && at > 0) return 'path';
      if (name === 'iif' || name === 'if')
        return at === 0 ? 'value' : args.slice(0, 1).some(dependsOnRows) ? 'label' : 'beside';
      return DEFAULTS.has(name) && at > 0 ? 'label' : 'value';
    };
    args.forEach((argument, at) => this.visit(argument, roleOf(at)));
    for (const child of childrenOf(node)) if (child !== node.name && child !== node.args) this.visit(child, 'value');
  }
}
