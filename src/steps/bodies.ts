/** Checks the SQL of a reply by the engine's parser and makes it into bodies (rule S8). */
import type { Assumption, Body, Operator } from '../domain';
import type { SqlInspector } from '../ports';
import { makeBody, makeOperatorBody, normaliseSql, type Hash, type SelectInspection } from '../sql/body';
import { validateBody, validateSelect } from '../sql/validate';
import type { StepContext } from './context';

export type Made<T> = { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'invalid'; readonly error: string };

/**
 * A body may read its declared inputs and any table of the schema: the tables are often known only once the SQL is written,
 * and the judge's reply cannot declare any. The body itself lists what it reads (`relations`).
 */
export function operatorBody(
  sql: string,
  operator: Pick<Operator, 'name' | 'relations' | 'inputs'>,
  { inspector, relations, hash }: BodyScope,
): Made<Body> {
  const text = normaliseSql(sql);
  const inspection = inspector.inspect(text);
  const error = validateBody(inspection, { ...operator, relations: [...operator.relations, ...relations] });
  if (error !== null || inspection.kind !== 'select') return { kind: 'invalid', error: error ?? 'no SELECT' };
  return { kind: 'ok', value: makeOperatorBody(text, operator, inspection, hash) };
}

export interface BodyScope {
  /** Relations of the schema. */
  readonly relations: readonly string[];
  readonly inspector: SqlInspector;
  readonly hash: Hash;
}

/** A SELECT over base relations and some operators, in the form that the compiler needs. */
export function selectText(
  sql: string,
  what: string,
  inspector: SqlInspector,
  known: { readonly relations: readonly string[]; readonly operators: readonly string[] },
): Made<{ readonly sql: string; readonly inspection: SelectInspection }> {
  const text = normaliseSql(sql);
  const inspection = inspector.inspect(text);
  const error = validateSelect(inspection, what, known);
  if (error !== null || inspection.kind !== 'select') return { kind: 'invalid', error: error ?? 'no SELECT' };
  return { kind: 'ok', value: { sql: text, inspection } };
}

/** A query over operators that is not an operator itself, such as a control count. */
export function queryBody(
  sql: string,
  what: string,
  inspector: SqlInspector,
  known: { readonly relations: readonly string[]; readonly operators: readonly string[] },
  hash: Hash,
): Made<Body> {
  const select = selectText(sql, what, inspector, known);
  if (select.kind === 'invalid') return select;
  return { kind: 'ok', value: makeBody(select.value.sql, known.operators, select.value.inspection, hash) };
}

export async function storeBody(context: StepContext, body: Body, assumptions?: readonly Assumption[]): Promise<void> {
  await context.run.put('body', body.bodyId, body);
  if (assumptions !== undefined) {
    await context.run.put('assumptions', body.bodyId, { schemaVersion: 1, assumptions: [...assumptions] });
  }
}
