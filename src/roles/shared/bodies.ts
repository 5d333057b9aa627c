/** Checks the SQL of a reply by the engine's parser and makes it into bodies (rule S8). */
import type { Assumption, Body, DatabaseDescription, Operator, SqlResult } from '../../domain';
import type { SqlInspector } from '../../domain/ports';
import { SCHEMA_ID } from '../../record/contents';
import { sha256 } from '../../sha256';
import { makeBody, makeOperatorBody, normaliseSql, type SelectInspection } from '../../sql/body';
import { stoppedText } from '../../sql/claims';
import { CLOCK } from '../../sql/clock';
import type { SelectText } from '../../sql/compile';
import { validateBody, validateSelect } from '../../sql/validate';
import { openEngine, openParser, type StepContext } from './context';
import type { LoadedPlan } from './load-plan';

export type Made<T> = { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'invalid'; readonly error: string };

export interface BodyScope {
  /** What SQL of this search may read: the tables of the schema, and its clock if it has one. */
  readonly relations: readonly string[];
  readonly inspector: SqlInspector;
}

export interface SearchScope extends BodyScope {
  readonly description: DatabaseDescription;
}

/** Of a step that runs SQL. */
export async function engineScope(context: StepContext): Promise<SearchScope> {
  return scopeOf(context, async () => (await openEngine(context)).inspector);
}

/** Of a step that asks a model. */
export async function parserScope(context: StepContext): Promise<SearchScope> {
  return scopeOf(context, ({ dialect }) => openParser(context, dialect));
}

async function scopeOf(
  { input, run }: StepContext,
  open: (description: DatabaseDescription) => Promise<SqlInspector>,
): Promise<SearchScope> {
  const { description } = await run.get('schema', SCHEMA_ID);
  const relations = [...description.tables.map(({ name }) => name), ...(input.clock === undefined ? [] : [CLOCK])];
  return { inspector: await open(description), description, relations };
}

/**
 * A body may read its declared inputs and any table of the schema: the tables are often known only once the SQL is written,
 * and the judge's reply cannot declare any. The body itself lists what it reads (`relations`).
 */
export function operatorBody(
  sql: string,
  operator: Pick<Operator, 'name' | 'relations' | 'inputs'>,
  { inspector, relations }: BodyScope,
): Made<Body> {
  const text = normaliseSql(sql);
  const inspection = inspector.inspect(text);
  const error = validateBody(inspection, { ...operator, relations: [...operator.relations, ...relations] });
  if (error !== null || inspection.kind !== 'select') return { kind: 'invalid', error: error ?? 'no SELECT' };
  return { kind: 'ok', value: makeOperatorBody(text, operator, inspection, sha256) };
}

/** A SELECT over base relations and some operators, in the form that the compiler needs. */
export function selectText(
  sql: string,
  what: string,
  { inspector, relations }: BodyScope,
  operators: readonly string[] = [],
): Made<SelectText & SelectInspection> {
  const text = normaliseSql(sql);
  const inspection = inspector.inspect(text);
  const error = validateSelect(inspection, what, { relations, operators });
  if (error !== null || inspection.kind !== 'select') return { kind: 'invalid', error: error ?? 'no SELECT' };
  return { kind: 'ok', value: { ...inspection, sql: text } };
}

/** A query over operators that is not an operator itself, such as a control count. */
export function queryBody(sql: string, what: string, scope: BodyScope, operators: readonly string[]): Made<Body> {
  const select = selectText(sql, what, scope, operators);
  if (select.kind === 'invalid') return select;
  return { kind: 'ok', value: makeBody(select.value.sql, operators, select.value, sha256) };
}

export async function storeBody(context: StepContext, body: Body, assumptions?: readonly Assumption[]): Promise<void> {
  await context.run.put('body', body.bodyId, body);
  if (assumptions !== undefined) {
    await context.run.put('assumptions', body.bodyId, { assumptions: [...assumptions] });
  }
}

/** Each once, by its id. */
export async function loadBodies({ run }: StepContext, ids: readonly string[]): Promise<ReadonlyMap<string, Body>> {
  const bodies = await Promise.all([...new Set(ids)].map((id) => run.get('body', id)));
  return new Map(bodies.map((body) => [body.bodyId, body]));
}

export function isAnswer(plan: LoadedPlan, name: string): boolean {
  return plan.operators.at(-1)?.operator.name === name;
}

/** Null if the statement ran, even if it gave no rows. */
export function runError(result: SqlResult): string | null {
  if (result.kind === 'timeout') return `the query was ${stoppedText(result)}: make it cheaper`;
  return result.kind === 'rows' ? null : result.message;
}

/**
 * Null if the result has the declared columns, in any case. The columns of an operator that others read are found by name,
 * so their order does not matter. Only the values of the answer are read, so there a column may have another name.
 */
export function columnDifference(
  operator: Pick<Operator, 'columns'>,
  result: SqlResult,
  isAnswer: boolean,
): string | null {
  if (result.kind !== 'rows') return null;
  const declared = operator.columns.map((column) => column.name.toLowerCase());
  const returned = result.columns.map((column) => column.name.toLowerCase());
  const isSame = isAnswer
    ? declared.every((name, index) => name === returned[index] || !returned.includes(name))
    : declared.every((name) => returned.includes(name));
  if (declared.length === returned.length && isSame) return null;
  return `it returns (${result.columns.map(({ name }) => name).join(', ')}) but declares (${operator.columns.map(({ name }) => name).join(', ')}): return exactly the declared columns in that order`;
}
