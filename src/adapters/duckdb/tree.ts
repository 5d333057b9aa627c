/**
 * The second reading of a statement, from DuckDB's own parser (`json_serialize_sql`), before DuckDB binds it: binding would
 * already open files. It needs no tokens and knows no words, so that what one reading misses, the other one sees.
 *
 * 1. One statement, of nothing but queries.
 * 2. Relations are tables, queries, VALUES and a few table functions; all functions are on the list.
 * 3. No parameters.
 */
import { duckdbFunctions } from './functions';
import { Refusal, SyntaxProblem } from '../kit/inspection';
import { refuseRelation } from './inspector';

type Node = Readonly<Record<string, unknown>>;

interface Serialized {
  readonly error: boolean;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly position?: string;
  readonly statements?: readonly unknown[];
}

const QUERIES = new Set(['SELECT_NODE', 'SET_OPERATION_NODE', 'RECURSIVE_CTE_NODE', 'CTE_NODE']);
const SOURCES = new Set(['BASE_TABLE', 'SUBQUERY', 'JOIN', 'TABLE_FUNCTION', 'EXPRESSION_LIST', 'EMPTY', 'PIVOT']);
const ONE_SELECT = 'write one SELECT that only reads';

/**
 * The relations that it reads from outside of itself, in lower case. `macros`: of the database, in lower case; one may have the name
 * of a function that is allowed. Throws `Refusal` and `SyntaxProblem`.
 */
export function relationsOf(serialized: string, macros: ReadonlySet<string> = new Set()): Set<string> {
  const { error, error_type: type, error_message: message = '', position, statements } = parse(serialized);
  if (error) {
    if (type === 'parser' && message !== NO_SELECT) {
      const at = position === undefined ? '' : ` (at character ${Number(position) + 1})`;
      throw new SyntaxProblem(`Parser Error: ${message}${at}`);
    }
    throw new Refusal(`only a SELECT is allowed, and PIVOT only with a list (FOR … IN (…)): ${ONE_SELECT}`);
  }
  if (statements?.length !== 1)
    throw new Refusal('only one statement is allowed: remove what follows the first semicolon');
  const reading = { relations: new Set<string>(), macros };
  walk(statements[0], new Set(), reading);
  return reading.relations;
}

/** Said of `WITH x AS (INSERT …)`. */
const NO_SELECT = 'A CTE needs a SELECT';
const parse = (serialized: string): Serialized => JSON.parse(serialized) as Serialized;

interface Reading {
  readonly relations: Set<string>;
  readonly macros: ReadonlySet<string>;
}

function walk(value: unknown, scope: ReadonlySet<string>, reading: Reading): void {
  if (Array.isArray(value)) for (const each of value) walk(each, scope, reading);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const { cte_map: ctes, ...node } = value as Node;
  const inner = ctes === undefined ? scope : withCtes(ctes as Ctes, scope, reading);
  check(node, inner, reading);
  const isRecursive = node['type'] === 'RECURSIVE_CTE_NODE';
  for (const [key, child] of Object.entries(node)) {
    // The first part of a recursive query does not see its name.
    const seen = isRecursive && key !== 'left' ? new Set([...inner, lower(node['cte_name'])]) : inner;
    // A call in FROM has been checked as such.
    walk(key === 'function' ? { ...(child as Node), function_name: null } : child, seen, reading);
  }
}

interface Ctes {
  readonly map: readonly { readonly key: string; readonly value: unknown }[];
}

/** Each sees those before it. */
function withCtes({ map }: Ctes, scope: ReadonlySet<string>, reading: Reading): ReadonlySet<string> {
  return map.reduce((seen, { key, value }) => {
    walk(value, seen, reading);
    return new Set([...seen, key.toLowerCase()]);
  }, scope);
}

function check(node: Node, scope: ReadonlySet<string>, reading: Reading): void {
  const { type, class: kind } = node;
  if (typeof type === 'string' && type.endsWith('_NODE') && !QUERIES.has(type)) refuse(type);
  if ('sample' in node && 'alias' in node) source(node, scope, reading);
  else if (typeof node['function_name'] === 'string') called(node, false, reading);
  if (kind === 'PARAMETER') throw new Refusal('parameters are not allowed: write values as they are');
}

function source(node: Node, scope: ReadonlySet<string>, reading: Reading): void {
  const type = String(node['type']);
  if (!SOURCES.has(type)) refuse(type);
  if (type === 'TABLE_FUNCTION') called(node['function'] as Node, true, reading);
  if (type !== 'BASE_TABLE') return;
  const parts = [node['catalog_name'], node['schema_name'], node['table_name']]
    .map(lower)
    .filter((part) => part !== '');
  const name = parts.join('.');
  if (parts.length === 1 && scope.has(name)) return;
  const refused = refuseRelation(parts);
  if (refused !== null) throw new Refusal(refused);
  reading.relations.add(name);
}

/** Operators are functions whose names have no letters. */
function called({ function_name: name, schema, catalog }: Node, isSource: boolean, { macros }: Reading): void {
  const function_ = String(name);
  if (macros.has(function_.toLowerCase()))
    throw new Refusal(`${function_} is a macro of this database, which may read anything: write what it computes`);
  const path = [catalog, schema].map(lower).filter((part) => part !== '' && part !== 'main' && part !== 'system');
  if (path.length === 0 && !isSource && (/^[^\w]+$/.test(function_) || function_ === '!__postfix')) return;
  const full = [...path, function_].join('.').toUpperCase();
  const refused = isSource ? duckdbFunctions.refuseTable(full) : duckdbFunctions.refuse(full);
  if (refused !== null) throw new Refusal(refused);
}

const lower = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '');

function refuse(type: string): never {
  throw new Refusal(`${type.replace(/_(NODE|REF)$/, '').replaceAll('_', ' ')} is not allowed: ${ONE_SELECT}`);
}
