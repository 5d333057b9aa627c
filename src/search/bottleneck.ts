/** Which operators of a plan are attempted next (rule S7; Algorithm 1, Bottleneck). */
import type { OperatorView, PlanView } from '../domain';
import { descendants, isBlocked, isTestable, needsWork } from './state/plan-view';

/**
 * The operators to attempt next: the preferred bottleneck first, then unresolved ones in plan order, then assumptions by
 * falling risk. At most `breadth`, and none that depends on another of them (design §3, step 4, Breadth).
 */
export function chooseBottlenecks(
  plan: PlanView,
  options: {
    readonly breadth: number;
    readonly preferred: string | null;
    readonly proof: 'execution' | 'model';
    readonly except?: ReadonlySet<string>;
  },
): readonly string[] {
  const open = plan.operators.filter(
    (o) => needsWork(o, options.proof) && !isBlocked(o) && isTestable(plan, o) && options.except?.has(o.name) !== true,
  );
  const rank = (o: OperatorView): number =>
    o.name === options.preferred ? -1 : o.state === 'unresolved' ? 0 : 2 - o.risk;
  const chosen: string[] = [];
  for (const operator of [...open].sort(
    (a, b) => rank(a) - rank(b) || plan.operators.indexOf(a) - plan.operators.indexOf(b),
  )) {
    const below = descendants(plan, operator.name);
    const dependent = chosen.some((name) => below.has(name) || descendants(plan, name).has(operator.name));
    if (!dependent && chosen.length < options.breadth) chosen.push(operator.name);
  }
  return chosen;
}

/** Whether an attempt could still change the answer of this plan. */
export function hasBottleneck(plan: PlanView, proof: 'execution' | 'model'): boolean {
  return chooseBottlenecks(plan, { breadth: 1, preferred: null, proof }).length > 0;
}
