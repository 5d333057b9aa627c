/**
 * A world made from a seed: plans of random shape, replies that are right, useless or wrong, databases that fail. Every
 * reply is drawn from the seed and the step's own position, so it is the same whenever and in whatever order it is asked.
 */
import type { OperatorView, PlanView } from '../../src/domain';
import { ancestors } from '../../src/search/plan-view';
import type { PlanRef } from '../../src/domain/ports/step-parts';
import { judged, planOf, updateFor, type Script } from './fake-steps';

export class Draw {
  private state: number;

  constructor(key: string) {
    let hash = 0x811c9dc5;
    for (const character of key) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
    this.state = hash >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
  chance(share: number): boolean {
    return this.next() < share;
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
  some<T>(items: readonly T[], share = 0.5): T[] {
    return items.filter(() => this.chance(share));
  }
}

export const MAX_OPERATORS = 4;

export function randomWorld(seed: number): Script {
  const plans = new Map<string, PlanView>();
  const proposals = new Map<string, readonly string[]>();
  const observed = new Map<string, readonly string[]>();
  const groundings = new Map<string, readonly string[]>();
  const results = new Map<string, number>();
  const draw = (...key: readonly (string | number)[]) => new Draw([seed, ...key].join('|'));
  const planBehind = (ref: PlanRef): PlanView => {
    const known = plans.get(ref.planId);
    if (known === undefined) throw new Error(`unknown plan ${ref.planId}`);
    const bodies = new Map(ref.bodies.map(([name, bodyId]) => [name, bodyId]));
    return { ...known, operators: known.operators.map((o) => ({ ...o, bodyId: bodies.get(o.name) ?? null })) };
  };

  return {
    evaluate(input) {
      const random = draw('evaluate', input.position, input.tryNumber);
      if (random.chance(0.15)) return { invalid: 'not JSON' };
      const scores = random.some(input.trajectories, 0.8).map((trajectory) => ({
        trajectory: trajectory.id,
        progress: random.next(),
        potential: random.below(6),
        bottleneck: trajectory.plan?.bodies[random.below(trajectory.plan.bodies.length)]?.[0] ?? null,
      }));
      return { scores };
    },
    plan(input) {
      const random = draw('plan', input.position, input.tryNumber);
      if (random.chance(0.15)) return { invalid: 'not JSON' };
      if (random.chance(0.12)) return { kind: 'unanswerable', reason: 'it is not stored', potential: 1 };
      const plan = randomPlan(`${input.position}#${input.tryNumber}`, random);
      plans.set(plan.planId, plan);
      const carries = random.chance(0.5);
      const proposed = carries ? random.some(plan.operators).map((each) => each.name) : [];
      const proposalId = carries ? `${plan.planId}.proposal` : null;
      if (proposalId !== null) proposals.set(proposalId, proposed);
      const bottleneck = plan.operators[random.below(plan.operators.length)]?.name ?? null;
      return { kind: 'plan', plan, potential: random.below(8), bottleneck, proposalId, proposed };
    },
    propose(input) {
      const random = draw('propose', input.position, input.tryNumber);
      if (random.chance(0.15)) return { invalid: 'not JSON' };
      const proposalId = `${input.position}#${input.tryNumber}`;
      const operators = random.some(input.targets, 0.85);
      proposals.set(proposalId, operators);
      return { proposalId, operators, done: random.chance(0.5) };
    },
    probe(input) {
      const random = draw('probe', input.position);
      const plan = planBehind(input.plan);
      const operators = proposals.get(input.proposalId) ?? [];
      observed.set(`${input.position}.observation`, operators);
      return operators.map((name) => {
        const others = plan.operators.filter((o) => o.name !== name).map((o) => o.bodyId ?? '');
        const relativeTo = random.chance(0.8) ? others.sort() : ['another body'];
        const bodyId = plan.operators.find((o) => o.name === name)?.bodyId ?? `b${random.below(5)}`;
        return {
          operator: name,
          outcome: (['rows', 'rows', 'rows', 'empty', 'sql-error', 'timeout', 'refused'] as const)[random.below(7)]!,
          immaterial: random.chance(0.15) ? { relativeTo, bodyId } : null,
        };
      });
    },
    ground(input) {
      const random = draw('ground', input.position, input.tryNumber);
      if (random.chance(0.15)) return { invalid: 'not JSON' };
      const names = [...new Set(input.observations.flatMap((id) => observed.get(id) ?? []))];
      const groundingId = `${input.position}#${input.tryNumber}`;
      const operators = names.map((name) => {
        const winner = random.chance(0.7) ? 'h1' : null;
        return { operator: name, winner, bodyId: null, decided: winner !== null || random.chance(0.3) };
      });
      groundings.set(
        groundingId,
        operators.filter((each) => each.winner !== null).map((each) => each.operator),
      );
      const written = random
        .some(planBehind(input.plan).operators, 0.15)
        .map((o) => ({ operator: o.name, bodyId: `b${random.below(5)}`, risk: random.next(), assumptions: 1 }));
      const next = random.chance(0.3) ? `${groundingId}.proposal` : null;
      const nextOperators = next === null ? [] : random.some(planBehind(input.plan).operators).map((o) => o.name);
      if (next !== null) proposals.set(next, nextOperators);
      return judged(input, operators, {
        groundingId,
        written,
        facts: random.chance(0.3) ? [{ id: `${groundingId}.fact`, status: 'active', dependsOn: [] }] : [],
        delta: random.chance(0.5) ? random.below(4) - 2 : null,
        impossible: random.chance(0.05) ? 'the rows show that it is not stored' : null,
        nextProposalId: next,
        nextOperators,
      });
    },
    settle(input) {
      const plan = planBehind(input.plan);
      return (groundings.get(input.groundingId) ?? []).map((name) => {
        const random = draw('settle', input.position, name);
        const bodyId = `b${random.below(5)}`;
        const nothing = { operator: name, bodyId, update: null, assumed: false, error: null };
        if (random.chance(0.15)) return { ...nothing, bodyId: null, error: 'no such column' };
        if (random.chance(0.3)) return { ...nothing, assumed: true };
        const below = ancestors(plan, name);
        const dependsOn = input.plan.bodies.flatMap(([other, body, update]) =>
          below.has(other) && body !== null ? [update ?? body] : [],
        );
        return { ...nothing, update: updateFor(`${input.position}.${name}`, plan, name, bodyId, { dependsOn }) };
      });
    },
    check(input) {
      const failing = input.operators.filter((name) => draw('check', input.position, name).chance(0.12));
      return failing.map((name) => ({ operator: name, error: 'no such column' }));
    },
    candidate(input) {
      const bodies = input.plan.bodies.map(([, bodyId]) => bodyId).join();
      const random = draw('candidate', bodies);
      if (random.chance(0.1)) return { outcome: 'sql-error', rowCount: 0 };
      const value = random.below(3);
      results.set(input.candidateId, value);
      const trivial = value === 0;
      return {
        trivial,
        control: random.chance(0.5) ? 7 : null,
        equalTo: input.against.find((id) => results.get(id) === value) ?? null,
      };
    },
    select(input) {
      const random = draw('select', input.tryNumber);
      if (random.chance(0.2)) return { invalid: 'not JSON' };
      const chosen = input.candidates[random.below(input.candidates.length + 1)];
      return { candidate: chosen?.id ?? null, reason: 'drawn' };
    },
  };
}

/** A DAG in dependency order. Shapes, intents and bodies come from small pools, so that plans meet. */
function randomPlan(planId: string, random: Draw): PlanView {
  const operators: OperatorView[] = [];
  const size = 1 + random.below(MAX_OPERATORS);
  for (let index = 0; index < size; index++) {
    const inputs = random.some(operators.map((each) => each.name));
    const bodyId = random.chance(0.55) ? `b${random.below(5)}` : null;
    const risk = bodyId === null ? 1 : random.chance(0.5) ? 0 : random.next();
    operators.push({
      name: `op_${index}`,
      state: bodyId === null ? 'unresolved' : 'assumed',
      bodyId,
      updateId: null,
      shape: `s${random.below(2)}`,
      intent: `i${random.below(2)}`,
      inputs,
      readsBase: inputs.length === 0 || random.chance(0.5),
      risk,
      assumptions: risk === 0 ? 0 : 1,
      immaterial: null,
      barren: 0,
    });
  }
  return planOf(planId, operators);
}
