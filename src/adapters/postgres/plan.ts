/**
 * The cost guard: compares the planner's cost estimate with a ceiling before the statement runs. Costs are in the planner's own
 * unit (a page read in sequence is 1), which is not time: each database needs its own ceiling.
 */
import { overCeiling, type Outcome } from '../kit/engine';

/** A node of `EXPLAIN (FORMAT JSON)`. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Total Cost': number;
  readonly 'Plan Rows': number;
  readonly 'Relation Name'?: string;
  readonly 'CTE Name'?: string;
  readonly 'Function Name'?: string;
  readonly 'Parent Relationship'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** `explained`: what EXPLAIN gave. Null when the plan is within the ceiling. */
export function refusePlan(explained: unknown, ceiling: number): Outcome | null {
  const plan = planOf(explained);
  if (plan === undefined || plan['Total Cost'] <= ceiling) return null;
  const { worst, step } = dearestOf(plan);
  const message = overCeiling({
    what: 'the plan is too expensive',
    estimate: `estimated cost ${figure(plan['Total Cost'])} for ${rowsText(plan)}`,
    ceiling: figure(ceiling),
    largest: `its most expensive step is ${step} (cost ${figure(ownCost(worst))}, ${rowsText(worst)})`,
    advice: 'join on keys, filter or aggregate earlier',
  });
  return { kind: 'refused', message };
}

/** The step that costs most, where there is a plan. */
export function dearestStep(explained: unknown): string | null {
  const plan = planOf(explained);
  return plan === undefined ? null : dearestOf(plan).step;
}

const planOf = (explained: unknown): PlanNode | undefined =>
  (explained as { Plan?: PlanNode }[] | undefined)?.[0]?.Plan;

/** What PostgreSQL 17 and older add to the cost of a step of a kind that is switched off and cannot be avoided. */
const SWITCHED_OFF = 1e10;

/** The step that adds most to the cost of the steps below it. */
function dearestOf(plan: PlanNode): { readonly worst: PlanNode; readonly step: string } {
  const own = (node: PlanNode): number => ownCost(node) % SWITCHED_OFF;
  const worst = nodesOf(plan).reduce((most, node) => (own(node) > own(most) ? node : most));
  const read = new Set(
    nodesOf(worst).flatMap((node) => node['Relation Name'] ?? node['CTE Name'] ?? node['Function Name'] ?? []),
  );
  const over = [...read].slice(0, 4).join(', ');
  const hasQuery = worst.Plans?.some((below) => below['Parent Relationship'] === 'SubPlan') === true;
  const kind = `${worst['Node Type']}${hasQuery ? ' with a subquery for each row' : ''}`;
  return { worst, step: `${kind}${over === '' ? '' : ` over ${over}${read.size > 4 ? ', …' : ''}`}` };
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
const ownCost = ({ Plans = [], 'Total Cost': cost }: PlanNode): number =>
  Math.max(
    0,
    Plans.reduce((rest, below) => rest - below['Total Cost'], cost),
  );
const rowsText = ({ 'Plan Rows': rows }: PlanNode): string => `${figure(rows)} ${rows === 1 ? 'row' : 'rows'}`;
const figure = (value: number): string =>
  value >= 1e15 ? value.toExponential(1) : Math.round(value).toLocaleString('en-US');
