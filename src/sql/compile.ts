/**
 * Compiles operators to one SQL text (rule S8). The text of a body is not edited: if it reads an operator under a name other
 * than this plan's, nested WITH scopes define aliases. Where such a scope may reach too far (`flatWith`), the name is replaced.
 *
 * 1. The last body is the main query and not a CTE, so that its ORDER BY holds.
 * 2. Only operators that the main query reads, directly or through others, are compiled, in dependency order.
 * 3. A body that reads itself becomes WITH RECURSIVE under the name that its own text uses.
 */
import type { Body, Dialect } from '../domain';
import { DIALECTS, quoteIdentifier } from './dialects';
import { closing, rewritten, tokensOf, type Token } from './lexer';

export interface PlanOperator {
  readonly name: string;
  readonly body: Pick<Body, 'sql' | 'reads' | 'hasWith' | 'relations'>;
  /** The operator that each name in the body's text stands for; a name that is not listed stands for itself. */
  readonly bindings: Readonly<Record<string, string>>;
}

export interface SelectText {
  readonly sql: string;
  /** The relations that the statement reads, operators included, as the inspector gives them. */
  readonly relations: readonly string[];
  readonly hasWith: boolean;
}

/** The plan or the request is inconsistent. The message names the operator and the problem. */
export class CompileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CompileError';
  }
}

/** The whole plan, or the part of it that yields the operator `upTo`. */
export function compilePlan(operators: readonly PlanOperator[], dialect: Dialect, upTo?: string): string {
  const last = upTo === undefined ? operators.at(-1) : operators.find((operator) => operator.name === upTo);
  if (last === undefined)
    throw new CompileError(upTo === undefined ? 'the plan has no operator' : `no operator ${upTo}`);
  const earlier = ancestors(operators, targets(last), [last.name]);
  return assemble(earlier, scoped(last, operators, dialect), dialect);
}

/** Any SELECT over written operators and base relations: a probe, a control count, another wording. */
export function compileSelect(operators: readonly PlanOperator[], select: SelectText, dialect: Dialect): string {
  const named = new Set(select.relations.map((relation) => relation.toLowerCase()));
  const read = operators.filter((operator) => named.has(operator.name)).map((operator) => operator.name);
  return assemble(ancestors(operators, read, []), { sql: select.sql, hasWith: select.hasWith }, dialect, operators);
}

interface Query {
  readonly sql: string;
  readonly hasWith: boolean;
}
type Cte = readonly [name: string, sql: string];

function targets(operator: PlanOperator): string[] {
  return operator.body.reads.map((local) => boundTo(operator, local)).filter((name) => name !== operator.name);
}

function boundTo(operator: PlanOperator, local: string): string {
  return operator.bindings[local] ?? local;
}

/** `names` and all operators that they read, in dependency order. `path` detects operators that read each other in a circle. */
function ancestors(
  operators: readonly PlanOperator[],
  names: readonly string[],
  path: readonly string[],
): PlanOperator[] {
  const found: PlanOperator[] = [];
  for (const name of names) {
    if (path.includes(name))
      throw new CompileError(`operators read each other in a circle: ${[...path, name].join(', ')}`);
    const operator = operators.find((candidate) => candidate.name === name);
    if (operator === undefined) throw new CompileError(`${name} is read but is not a written operator of this plan`);
    for (const each of [...ancestors(operators, targets(operator), [...path, name]), operator]) {
      if (!found.includes(each)) found.push(each);
    }
  }
  return found;
}

function assemble(
  earlier: readonly PlanOperator[],
  main: Query,
  dialect: Dialect,
  operators: readonly PlanOperator[] = earlier,
): string {
  const ctes = earlier.map((operator): Cte => [operator.name, scoped(operator, operators, dialect).sql]);
  if (DIALECTS[dialect].flatWith === true) {
    refuseHiding('the statement', main.sql, earlier, dialect);
    for (const each of earlier)
      refuseHiding(each.name, each.body.sql, ancestors(operators, targets(each), [each.name]), dialect);
  }
  return withCtes(ctes, main, dialect).sql;
}

/**
 * MySQL looks up what the body of a CTE reads from where the CTE is read, so that a WITH around that place may hide a table or
 * an operator from it.
 */
function refuseHiding(name: string, sql: string, read: readonly PlanOperator[], dialect: Dialect): void {
  const tokens = tokensOf(sql, dialect);
  const own = new Set(tokens.filter((_, at) => definesAt(tokens, at)).map(({ text }) => text.toLowerCase()));
  for (const operator of read)
    for (const relation of operator.body.relations.map((local) => boundTo(operator, local)))
      if (own.has(relation.toLowerCase()))
        throw new CompileError(
          `${name} has a CTE called ${relation} and reads ${operator.name}, which reads a relation of that name; MySQL could take the one for the other: give the CTE another name`,
        );
}

/** `name AS (` or `name (columns) AS (` in a WITH. */
function definesAt(tokens: readonly Token[], at: number): boolean {
  if (!/^(?:with|recursive|,)$/.test(tokens[at - 1]?.text ?? '')) return false;
  const end = tokens[at + 1]?.text === '(' ? closing(tokens, at + 1) : at;
  return tokens[end + 1]?.text === 'as' && tokens[end + 2]?.text === '(';
}

/** Wraps the body in the scopes that its text expects: its own name if it recurses, and the names of its inputs. */
function scoped(operator: PlanOperator, operators: readonly PlanOperator[], dialect: Dialect): Query {
  if (DIALECTS[dialect].flatWith === true) return renamed(operator, dialect);
  const self = operator.body.reads.find((local) => boundTo(operator, local) === operator.name);
  const query = self === undefined ? operator.body : recursive(self, operator.body.sql, dialect);
  const aliases = operator.body.reads
    .filter((local) => local !== self && boundTo(operator, local) !== local)
    .map((local) => ({ local, target: boundTo(operator, local) }));
  if (aliases.length === 0) return query;
  if (!aliases.some(({ local }) => aliases.some(({ target }) => target === local))) {
    return withCtes(
      aliases.map(({ local, target }) => alias(local, target, dialect)),
      query,
      dialect,
    );
  }
  // Names are swapped: define neutral names first, else the second alias would read the first one.
  const neutral = neutralNames(aliases.length, operator, operators);
  const inner = aliases.map(({ local }, index) => alias(local, neutral[index] ?? local, dialect));
  const outer = aliases.map(({ target }, index) => alias(neutral[index] ?? target, target, dialect));
  return withCtes(outer, withCtes(inner, query, dialect), dialect);
}

/** The body in the names of this plan. A qualifier or an alias is called like the operator, and gets its new name too. */
function renamed(operator: PlanOperator, dialect: Dialect): Query {
  const { reads, sql, hasWith } = operator.body;
  const text = rewritten(sql, dialect, (token) => {
    const local = token.text.toLowerCase();
    const target = reads.includes(local) ? boundTo(operator, local) : local;
    return target === local ? token.raw : quoteIdentifier(target, dialect);
  });
  const isRecursive = reads.some((local) => boundTo(operator, local) === operator.name);
  return isRecursive ? recursive(operator.name, text, dialect) : { sql: text, hasWith };
}

function recursive(self: string, sql: string, dialect: Dialect): Query {
  const name = quoteIdentifier(self, dialect);
  return { sql: `WITH RECURSIVE ${name} AS (\n${sql}\n)\nSELECT * FROM ${name}`, hasWith: true };
}

function alias(name: string, target: string, dialect: Dialect): Cte {
  return [name, `SELECT * FROM ${quoteIdentifier(target, dialect)}`];
}

export function withCtes(ctes: readonly Cte[], query: Query, dialect: Dialect): Query {
  if (ctes.length === 0) return query;
  const isFlat = DIALECTS[dialect].flatWith === true;
  if (isFlat && !query.hasWith) return lifted(ctes, query.sql, dialect);
  const list = listOf(ctes, dialect);
  if (isFlat) return flat(list, query, dialect);
  return { sql: `WITH ${list}\n${afterWith(query)}`, hasWith: true };
}

const listOf = (ctes: readonly Cte[], dialect: Dialect): string =>
  ctes.map(([name, sql]) => `${quoteIdentifier(name, dialect)} AS (\n${sql}\n)`).join(',\n');

/** A subquery with its own WITH that reads one of the CTEs becomes a CTE after them, whose WITH sees them. */
function lifted(ctes: readonly Cte[], sql: string, dialect: Dialect): Query {
  const tokens = tokensOf(sql, dialect);
  const names = new Set(ctes.map(([name]) => name.toLowerCase()));
  const all = [...ctes];
  let text = '';
  let from = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    const [open, first] = [tokens[at], tokens[at + 1]];
    if (open?.raw !== '(' || first?.kind !== 'word' || first.text !== 'with') continue;
    const end = closing(tokens, at);
    const isReader = tokens.slice(at, end).some((token) => names.has(token.text.toLowerCase()));
    const close = tokens[end]?.at ?? sql.length;
    at = end;
    if (!isReader) continue;
    const name = `gate_with_${all.length}`;
    all.push([name, sql.slice(first.at, close)]);
    text += `${sql.slice(from, first.at)}SELECT * FROM ${name}`;
    from = close;
  }
  return { sql: `WITH ${listOf(all, dialect)}\n${text}${sql.slice(from)}`, hasWith: true };
}

/** The query's own list follows the other. Where that one defines or reads a name of it, the query becomes a CTE itself. */
function flat(list: string, { sql }: Query, dialect: Dialect): Query {
  const tokens = tokensOf(sql, dialect);
  const known = new Set(tokensOf(list, dialect).map(({ text }) => text.toLowerCase()));
  const isTaken = tokens.some(({ text }, at) => known.has(text.toLowerCase()) && definesAt(tokens, at));
  if (isTaken) return { sql: `WITH ${list},\ngate_body AS (\n${sql}\n)\nSELECT * FROM gate_body`, hasWith: true };
  const isRecursive = tokens[1]?.text === 'recursive' && tokens[2]?.text !== 'as';
  const rest = sql.slice(tokens[isRecursive ? 2 : 1]?.at);
  return { sql: `WITH ${isRecursive ? 'RECURSIVE ' : ''}${list},\n${rest}`, hasWith: true };
}

/**
 * Makes a query with its own WITH usable after another WITH, where no engine accepts it, bare or in parentheses: it becomes
 * the only subquery of a SELECT. The engines keep the order of such a subquery.
 */
function afterWith(query: Query): string {
  return query.hasWith ? `SELECT * FROM (\n${query.sql}\n) AS gate_body` : query.sql;
}

/** Names that no operator has (their prefix differs) and that occur in no text of the plan. */
function neutralNames(count: number, operator: PlanOperator, operators: readonly PlanOperator[]): string[] {
  const texts = [operator, ...operators].map((each) => each.body.sql.toLowerCase());
  const names: string[] = [];
  for (let number = 1; names.length < count; number += 1) {
    const name = `gate_alias_${number}`;
    if (!texts.some((text) => text.includes(name))) names.push(name);
  }
  return names;
}
