/** Texts that a reply wrote, checked by the engine's parser and made into bodies (rule S8). */
import type { Assumption, Body, Operator } from '../domain';
import type { SqlInspector } from '../ports';
import { makeBody, makeOperatorBody, normaliseSql, type Hash, type SelectInspection } from '../search/body';
import { validateBody, validateSelect } from '../search/validate';
import type { StepContext } from './context';

export type Made<T> = { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'invalid'; readonly error: string };

/**
 * A body may read its declared inputs and any table of the schema: which tables a reading needs is often known only once it
 * is written, and its judge cannot declare. What it reads stands in the body itself (`relations`).
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

/** A SELECT over base relations and some operators, with what the compiler needs to know of it. */
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

/** A query over operators that is no operator itself, such as a control count. */
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
