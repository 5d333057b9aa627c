/**
 * Checks SQL before it may be part of a plan or a test (rule S8): one SELECT over the declared relations. Each function
 * returns null, or one line that tells the author of the SQL what to change.
 */
import type { Operator } from '../domain';
import type { Inspection } from '../domain/ports';

type Declared = Pick<Operator, 'name' | 'relations' | 'inputs'>;

/** A body may read its declared relations and inputs, and itself if it is recursive; no other operator. */
export function validateBody(inspection: Inspection, operator: Declared): string | null {
  if (inspection.kind !== 'select') return `the SQL of ${operator.name} is not accepted: ${inspection.message}`;
  const allowed = [...operator.relations, ...operator.inputs, operator.name];
  const stray = inspection.relations.filter((relation) => !allowed.some((name) => sameRelation(relation, name)));
  if (stray.length === 0) return null;
  const operators = stray.filter(isOperatorName);
  if (operators.length > 0)
    return `the SQL of ${operator.name} reads ${list(operators)}, not among its inputs: declare it there or do not read it`;
  return `the SQL of ${operator.name} reads ${list(stray)}, not among its relations: declare it there or do not read it`;
}

/** A probe, control or wording query may read existing relations and the operators that it is given. */
export function validateSelect(
  inspection: Inspection,
  what: string,
  known: { readonly relations: readonly string[]; readonly operators: readonly string[] },
): string | null {
  if (inspection.kind !== 'select') return `${what} is not accepted: ${inspection.message}`;
  const allowed = [...known.relations, ...known.operators];
  const stray = inspection.relations.filter((relation) => !allowed.some((name) => sameRelation(relation, name)));
  if (stray.length === 0) return null;
  const operators = stray.filter(isOperatorName);
  if (operators.length > 0)
    return `${what} reads ${list(operators)}, which has no SQL yet or is under test: read base relations or operators already written`;
  return `${what} reads ${list(stray)}, which the schema does not have`;
}

/** A predicate or agreement count is an expression over `observation`, inspected as the query that runs it. */
export function validateExpression(inspection: Inspection, what: string): string | null {
  if (inspection.kind !== 'select') return `${what} is not accepted: ${inspection.message}`;
  const other = inspection.relations.filter((relation) => relation.toLowerCase() !== 'observation');
  if (other.length > 0) return `${what} reads ${list(other)}: it may read only the relation observation`;
  if (inspection.relations.length === 0) {
    return `${what} does not read the relation observation, so it says nothing about the data: write for example (SELECT count(*) FROM observation WHERE ...) > 0`;
  }
  return null;
}

/** Case and a missing or default schema prefix do not matter. */
export function sameRelation(left: string, right: string): boolean {
  const one = left.toLowerCase().split('.');
  const two = right.toLowerCase().split('.');
  const common = Math.min(one.length, two.length);
  return one.slice(-common).join('.') === two.slice(-common).join('.');
}

function isOperatorName(name: string): boolean {
  return name.toLowerCase().startsWith('op_');
}

function list(names: readonly string[]): string {
  return names.join(', ');
}
