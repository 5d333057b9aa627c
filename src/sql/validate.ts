/**
 * Checks SQL before it may be part of a plan or a test (rule S8): one SELECT over the declared relations. Each function
 * returns null, or one line that tells the author of the SQL what to change.
 */
import type { Operator } from '../domain';
import type { Inspection } from '../domain/ports';

type Declared = Pick<Operator, 'name' | 'relations' | 'inputs'>;

/** A body may read its declared relations and inputs, and itself if it is recursive; no other operator. */
export function validateBody(inspection: Inspection, { name, relations, inputs }: Declared): string | null {
  return stray(
    inspection,
    `the SQL of ${name}`,
    [...relations, ...inputs, name],
    (isOperator) => `, not among its ${isOperator ? 'inputs' : 'relations'}: declare it there or do not read it`,
  );
}

/** A probe, control or wording query may read existing relations and the operators that it is given. */
export function validateSelect(
  inspection: Inspection,
  what: string,
  known: { readonly relations: readonly string[]; readonly operators: readonly string[] },
): string | null {
  return stray(inspection, what, [...known.relations, ...known.operators], (isOperator) =>
    isOperator
      ? ', which has no SQL yet or is under test: read base relations or operators already written'
      : ', which the schema does not have',
  );
}

/** Relations that may not be read; operators are told first. */
function stray(
  inspection: Inspection,
  what: string,
  allowed: readonly string[],
  fault: (isOperator: boolean) => string,
): string | null {
  if (inspection.kind !== 'select') return `${what} is not accepted: ${inspection.message}`;
  const others = inspection.relations.filter((relation) => !allowed.some((name) => sameRelation(relation, name)));
  const operators = others.filter((name) => name.toLowerCase().startsWith('op_'));
  const told = operators.length > 0 ? operators : others;
  return told.length === 0 ? null : `${what} reads ${told.join(', ')}${fault(operators.length > 0)}`;
}

/** A predicate or agreement count is an expression over `observation`, inspected as the query that runs it. */
export function validateExpression(inspection: Inspection, what: string): string | null {
  if (inspection.kind !== 'select') return `${what} is not accepted: ${inspection.message}`;
  const other = inspection.relations.filter((relation) => relation.toLowerCase() !== 'observation');
  if (other.length > 0) return `${what} reads ${other.join(', ')}: it may read only the relation observation`;
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
