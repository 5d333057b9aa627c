/**
 * The structural half of the reuse key (rule S3) and the control view of an operator (design D1). The shape covers base
 * relations, output columns and grain. The control loop compares the intent and the bodies of the inputs.
 */
import type { Operator, OperatorView } from '../domain';
import type { Hash } from './body';

type Interface = Pick<Operator, 'relations' | 'columns' | 'grain'>;

export function operatorShape(operator: Interface, hash: Hash): string {
  const relations = [...new Set(operator.relations.map(lower))].sort();
  const columns = operator.columns.map((column) => [lower(column.name), column.type]);
  const grain = [...new Set(operator.grain.map(lower))].sort();
  return `s${hash(JSON.stringify([relations, columns, grain])).slice(0, 16)}`;
}

/** The control view of an operator as the planner wrote it: nothing is grounded yet. */
export function toOperatorView(operator: Operator, hash: Hash): OperatorView {
  const assumptions = operator.body.kind === 'assumed' ? operator.body.assumptions : [];
  return {
    name: operator.name,
    state: operator.body.kind,
    bodyId: operator.body.kind === 'assumed' ? operator.body.bodyId : null,
    updateId: null,
    shape: operatorShape(operator, hash),
    intent: operator.intent,
    inputs: operator.inputs,
    readsBase: operator.relations.length > 0,
    risk: assumptions.reduce((highest, assumption) => Math.max(highest, assumption.risk), 0),
    assumptions: assumptions.length,
    immaterial: null,
    barren: 0,
  };
}

function lower(text: string): string {
  return text.toLowerCase();
}
