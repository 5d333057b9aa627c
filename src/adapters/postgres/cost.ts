/**
 * The cost guard: compares the planner's cost estimate with a ceiling before the statement runs. Costs are in the
 * planner's own unit (a page read in sequence is 1), which is not time: each database needs its own ceiling.
 */
import type { SqlResult } from '../../domain';

/** A node of `EXPLAIN (FORMAT JSON)`. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Total Cost': number;
  readonly 'Plan Rows': number;
  readonly 'Relation Name'?: string;
  readonly 'CTE Name'?: string;
  readonly 'Function Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** `explained`: the text that EXPLAIN gave. Null when the plan is within the ceiling. */
export function refusePlan(explained: string, ceiling: number): SqlResult | null {
  const [first] = JSON.parse(explained) as { Plan?: PlanNode }[];
  const plan = first?.Plan;
  if (plan === undefined || plan['Total Cost'] <= ceiling) return null;
  const worst = mostExpensive(plan);
  const step = `${worst['Node Type']}${over(worst)}`;
  return {
    kind: 'refused',
    message:
      `the plan is too expensive here: estimated cost ${figure(plan['Total Cost'])} for ${figure(plan['Plan Rows'])} rows, ` +
      `the ceiling is ${figure(ceiling)}; its most expensive step is ${step} (cost ${figure(ownCost(worst))}, ` +
      `${figure(worst['Plan Rows'])} rows): join on keys, filter or aggregate earlier`,
  };
}

/** The step that adds most to the cost of the steps below it. */
function mostExpensive(plan: PlanNode): PlanNode {
  let worst = plan;
  const visit = (node: PlanNode): void => {
    if (ownCost(node) > ownCost(worst)) worst = node;
    node.Plans?.forEach(visit);
  };
  visit(plan);
  return worst;
}

function ownCost(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + child['Total Cost'], 0);
  return Math.max(0, node['Total Cost'] - below);
}

/** The relations below a step, at most four. */
function over(node: PlanNode): string {
  const names = new Set<string>();
  const visit = (at: PlanNode): void => {
    const name = at['Relation Name'] ?? at['CTE Name'] ?? at['Function Name'];
    if (name !== undefined) names.add(name);
    at.Plans?.forEach(visit);
  };
  visit(node);
  if (names.size === 0) return '';
  const shown = [...names].slice(0, 4).join(', ');
  return ` over ${shown}${names.size > 4 ? ', …' : ''}`;
}

function figure(value: number): string {
  return value >= 1e15 ? value.toExponential(1) : Math.round(value).toLocaleString('en-US');
}
