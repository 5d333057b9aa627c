/**
 * The literals on which a statement rests: a value that a column is compared with, the branch of a CASE, a constant factor, the
 * bound of a range. Each stands for a convention, so each has to be covered by something shown (`roles/sql/unsaid.ts`).
 *
 * Left out are literals that carry no convention: formats, padding of compared keys, places of rounding, LIMIT, `100 *` of a
 * percentage, and comparisons of what the statement computes itself with 0 or 1, such as `rn = 1`.
 */
import type { Dialect } from '../domain';
import { argumentsOf, bare, childrenOf, isQuery, nameOf, operatorOf, readQuery, textOf, type Node } from './tree';

export interface LiteralUse {
  /** The condition or term, in one form: `vk_cl = '310'`. */
  readonly text: string;
  /** The columns beside the literals, without their tables, in lower case. */
  readonly columns: readonly string[];
  /** Strings without quotes, numbers as they are written. */
  readonly values: readonly string[];
  /** Whether it decides which rows there are; else it is part of a value. */
  readonly filters: boolean;
  /** The values that a column as it stands is set equal to, or not. */
  readonly codes: readonly Code[];
}

/** What the row of a code table can define. */
export interface Code {
  readonly column: string;
  readonly value: string;
}

/** `stored`: the columns of tables, in lower case. Null where the text cannot be read. */
export function literalUses(sql: string, stored: ReadonlySet<string>, dialect: Dialect): readonly LiteralUse[] | null {
  const query = readQuery(sql, dialect);
  if (query === null) return null;
  const uses = usesIn(query).filter(({ columns, values }) => values.length > 0 && columns.length > 0);
  const carried = uses.filter(
    ({ columns, values }) => columns.some((column) => stored.has(column)) || !values.every(isZeroOrOne),
  );
  return [...new Map(carried.map((use) => [use.text, use])).values()];
}

/** The columns by whose values a statement chooses its rows, also through columns that it equates with them; in lower case. */
export function filteredBy(sql: string, dialect: Dialect): readonly string[] {
  const query = readQuery(sql, dialect);
  if (query === null) return [];
  const filtered = new Set(
    usesIn(query).flatMap(({ filters, values, columns }) => (filters && values.length > 0 ? columns : [])),
  );
  const equated = equatedIn(query);
  const isNew = (pair: readonly string[]): boolean => pair.filter((column) => filtered.has(column)).length === 1;
  for (let pair = equated.find(isNew); pair !== undefined; pair = equated.find(isNew))
    for (const column of pair) filtered.add(column);
  return [...filtered];
}

/** Pairs of columns that are set equal, as by a join. */
function equatedIn(node: Node): string[][] {
  const within = childrenOf(node).flatMap(equatedIn);
  if (node.type !== 'binary_expr' || !['=', '=='].includes(operatorOf(node))) return within;
  const sides = [node.left, node.right].map(bare);
  return sides.every(isColumn) ? [sides.flatMap(ownColumns)] : within;
}

function isColumn({ type }: Node): boolean {
  return type === 'identifier' || type === 'member_expr';
}

const COMPARISONS =
  /^(?:=|==|<>|!=|<|>|<=|>=|~\*?|!~\*?|(?:NOT )?(?:I?LIKE|IN|GLOB|REGEXP|SIMILAR TO)|IS(?: NOT)?(?: DISTINCT FROM)?)$/;

function usesIn(node: Node, isFilter = false): LiteralUse[] {
  const own = ownUse(node);
  const within = own === null ? childrenOf(node) : partsOf(node);
  const filters = FILTERS.has(node.type) || (isFilter && !isQuery(node));
  return [...(own ?? []).map((use) => ({ ...use, filters })), ...within.flatMap((each) => usesIn(each, filters))];
}

const FILTERS: ReadonlySet<string> = new Set(['where_clause', 'having_clause', 'join_on_specification']);

type OwnUse = Omit<LiteralUse, 'filters'>;

/** Null where the node itself uses no literal. */
function ownUse(node: Node): OwnUse[] | null {
  switch (node.type) {
    case 'between_expr':
      return [useOf(node, [node.left, node.begin, node.end])];
    case 'binary_expr':
      if (COMPARISONS.test(operatorOf(node))) return [comparedUse(node, [node.left, node.right])];
      return isScaled(node) ? scaledUse(node) : null;
    case 'case_expr':
      return node.clauses.flatMap((clause) => {
        if (clause.type !== 'case_when') return [];
        const { condition, result } = clause;
        const operand = node.expr === undefined ? [] : [node.expr];
        const number = numberOf(result);
        const use = useOf(clause, [...operand, condition], true);
        const codes = [...use.codes, ...operand.flatMap((each) => codesOf(each, condition))];
        const values = number === null || isZeroOrOne(number) ? use.values : [...use.values, number];
        return [{ ...use, codes, values }];
      });
    default:
      return null;
  }
}

/** Two keys may be padded before they are compared: that chooses no rows. */
function comparedUse(node: Node, sides: readonly Node[]): OwnUse {
  const use = useOf(node, sides);
  const isOfKeys = sides.every((side) => ownColumns(side).length > 0);
  return isOfKeys ? { ...use, values: use.values.filter((value) => !/^[0 ]?$/.test(value)) } : use;
}

/** What is read for further uses: subqueries, and terms that have uses of their own. */
function partsOf(node: Node): Node[] {
  if (isScaled(node)) return factorsOf(node);
  if (node.type === 'case_expr')
    return node.clauses.flatMap((clause) =>
      clause.type === 'case_when' ? [...queriesIn(clause.condition), clause.result] : [clause.result],
    );
  return childrenOf(node).flatMap((child) => (hasOwn(child) ? [child] : queriesIn(child)));
}

function hasOwn(node: Node): boolean {
  const inner = bare(node);
  return inner.type === 'case_expr' || (inner.type === 'binary_expr' && isScaled(inner));
}

function queriesIn(node: Node): Node[] {
  return isQuery(node) ? [node] : childrenOf(node).flatMap((child) => (hasOwn(child) ? [child] : queriesIn(child)));
}

function useOf(node: Node, parts: readonly Node[], inBranch = false): OwnUse {
  const columns = [...new Set(parts.flatMap(ownColumns))];
  const values = parts.flatMap((part) => valuesIn(part, inBranch));
  return { text: textOf(node), columns, values: [...new Set(values)], codes: codesIn(node) };
}

function codesIn(node: Node): Code[] {
  if (isQuery(node)) return [];
  if (node.type !== 'binary_expr' || !EQUATIONS.test(operatorOf(node))) return childrenOf(node).flatMap(codesIn);
  return [...codesOf(node.left, node.right), ...codesOf(node.right, node.left)];
}

const EQUATIONS = /^(?:=|==|<>|!=|(?:NOT )?IN|IS(?: NOT)?(?: DISTINCT FROM)?)$/;

function codesOf(side: Node, other: Node): Code[] {
  const inner = bare(side);
  if (!isColumn(inner) || isQuery(bare(other)) || ownColumns(other).length > 0) return [];
  return ownColumns(inner).flatMap((column) => valuesIn(other, false).map((value) => ({ column, value })));
}

/** Outside subqueries, without their tables. */
function ownColumns(node: Node): string[] {
  if (node.type === 'member_expr' && node.property.type === 'identifier') return [node.property.name.toLowerCase()];
  if (node.type === 'identifier') return [node.name.toLowerCase()];
  if (isQuery(node)) return [];
  return childrenOf(node).flatMap((child) =>
    node.type === 'func_call' && child === node.name ? [] : ownColumns(child),
  );
}

/** Of a comparison: not those of subqueries, and not those of terms with uses of their own. */
function valuesIn(node: Node, inBranch: boolean): string[] {
  if (isQuery(node) || (!inBranch && hasOwn(node))) return [];
  if (node.type === 'func_call') {
    const isFormat = FORMATTERS.has(nameOf(node));
    return argumentsOf(node)
      .flatMap((argument) => (numberOf(argument) === null ? valuesIn(argument, inBranch) : []))
      .filter((value) => !isFormat || /\d{4}/.test(value));
  }
  const number = numberOf(node);
  if (number !== null) return [number];
  if (node.type === 'string_literal') return [node.value];
  if (node.type === 'boolean_literal') return [node.value ? 'true' : 'false'];
  return childrenOf(node).flatMap((child) => valuesIn(child, inBranch));
}

/** Their strings are formats, units or modifiers. */
const FORMATTERS = new Set([
  ...['to_char', 'to_date', 'to_timestamp', 'strftime', 'date_trunc', 'date_part', 'julianday', 'datetime', 'date'],
  ...['unixepoch', 'dateadd', 'datediff', 'round'],
]);

function numberOf(node: Node): string | null {
  const inner = bare(node);
  // `1000.0` is written to divide without rounding, and means what `1000` means.
  if (inner.type === 'number_literal') return inner.text.replace(/\.0+$/, '');
  const isSigned = inner.type === 'prefix_op_expr' && operatorOf(inner) === '-';
  return isSigned && bare(inner.expr).type === 'number_literal' ? `-${numberOf(inner.expr) ?? ''}` : null;
}

function isScaled(node: Node): boolean {
  return node.type === 'binary_expr' && ['*', '/'].includes(operatorOf(node));
}

/** A chain of factors and divisors is one use. */
function scaledUse(node: Node): OwnUse[] {
  const factors = factorsOf(node);
  const numbers = factors.flatMap((factor) => numberOf(factor) ?? []);
  const isShare = hasOtherDivisor(node);
  const values = numbers.filter((value) => Number(value) !== 1 && !(isShare && Number(value) === 100));
  const columns = [...new Set(factors.flatMap(ownColumns))];
  return [{ text: textOf(node), columns, values: [...new Set(values)], codes: [] }];
}

function factorsOf(node: Node): Node[] {
  const inner = bare(node);
  return inner.type === 'binary_expr' && isScaled(inner) ? [inner.left, inner.right].flatMap(factorsOf) : [inner];
}

/** Whether something else than a number divides, as in a percentage. */
function hasOtherDivisor(node: Node): boolean {
  const inner = bare(node);
  if (inner.type !== 'binary_expr' || !isScaled(inner)) return false;
  const divides = operatorOf(inner) === '/' && numberOf(inner.right) === null;
  return divides || hasOtherDivisor(inner.left) || hasOtherDivisor(inner.right);
}

function isZeroOrOne(value: string): boolean {
  return value === '0' || value === '1';
}
