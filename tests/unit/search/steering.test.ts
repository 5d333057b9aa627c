import fc from '../../helpers/property';
import { isCutShort } from '../../../src/domain/control-view';
import { exhaustedBudget } from '../../../src/search/budgets';
import { SearchState, type Settings, type Steering } from '../../../src/domain';
import { runSearch } from '../../../src/search/search';
import { initialState, type SearchHooks, type SteeredSearch } from '../../../src/search/run';
import { candidateBodies } from '../../../src/search/candidate';
import { mergeExpansion, rootTrajectory } from '../../../src/search/remember';
import { chooseBottlenecks, findOperator } from '../../../src/search/plan-view';
import { applyMemory } from '../../../src/search/memory';
import { budgetsOf, enforce, heard, refusal, steer, unheardHints } from '../../../src/search/steering';
import {
  candidateView,
  expansionOf,
  trajectoryOf,
  FakeSteps,
  operator,
  planned,
  planOf,
  testHooks,
  toEnd,
  testSettings,
  updateFor,
  type Call,
  type Gate,
  type Script,
  type StepName,
} from '../../helpers/fake-steps';
import { Draw, randomWorld } from '../../helpers/random-world';

const settings = testSettings();
const author = 'ada';
const plan = planOf('p1', [
  operator('op_a', { bodyId: 'a', updateId: 'u1' }),
  operator('op_b', { bodyId: 'b', updateId: 'u2', inputs: ['op_a'] }),
  operator('op_c', { bodyId: 'c', risk: 0.6 }),
  operator('op_d', { inputs: ['op_b'] }),
]);
const candidate = (id: string, of: typeof plan, at = 't1') =>
  candidateView(id, { trajectory: at, bodies: candidateBodies(of) });
const state: SearchState = {
  ...initialState('s', 0),
  trajectories: [rootTrajectory(), trajectoryOf('t1', { plan })],
  updates: [updateFor('u1', plan, 'op_a', 'a'), updateFor('u2', plan, 'op_b', 'b', { dependsOn: ['u1'] })],
  facts: [{ id: 'f1', status: 'active', dependsOn: ['u2'] }],
  candidates: [candidate('c1', plan)],
};
const veto = (update: string): Steering & { kind: 'veto' } => ({ kind: 'veto', author, update, reason: 'wrong year' });
const pin = (target: string): Steering & { kind: 'pin' } => ({ kind: 'pin', author, target, reason: 'I know' });
const told = (at: SearchState, ...commands: (Steering & { kind: 'veto' | 'pin' | 'hint' | 'budget' | 'stop' })[]) =>
  commands.reduce((now, steering, index) => steer(now, settings, { steering, remarkId: `h${index + 1}` }), at);
const operatorOf = (at: SearchState, id: string, name: string) =>
  findOperator(at.trajectories.find((t) => t.id === id)!.plan!, name)!;
const used = { ...initialState('s', 0).usage, llmCalls: 4, sqlRows: 900 };

describe('what makes no sense is refused with the reason', () => {
  const full = told(state, ...Array.from({ length: 20 }, () => ({ kind: 'hint' as const, author, text: 'x' })));
  const vetoed = told(state, veto('u2'));
  test.each<[string, SearchState, Steering, string]>([
    ['a budget that says nothing', state, { kind: 'budget', author, budgets: {} }, 'no budget given'],
    [
      'a limit below what is used up',
      { ...state, usage: used },
      { kind: 'budget', author, budgets: { llmCalls: 4 } },
      'its budget llmCalls would be used up already: stop it instead',
    ],
    [
      'rows below what was fetched',
      { ...state, usage: used },
      { kind: 'budget', author, budgets: { sqlRows: 10 } },
      'its budget sqlRows would be used up already: stop it instead',
    ],
    ['a veto of an unknown update', state, veto('u9'), 'no update u9; known: u1, u2'],
    ['a veto where nothing is proved', initialState('s', 0), veto('u1'), 'no update u1; nothing is proved yet'],
    ['a second veto', vetoed, veto('u2'), 'update u2 is withdrawn already'],
    ['a pin of nothing known', state, pin('op_x'), 'no operator or active update op_x; known: u1, u2'],
    ['a pin of an operator without SQL', state, pin('op_d'), 'operator op_d has no SQL yet: give a hint'],
    ['a pin of a withdrawn update', vetoed, pin('u2'), 'no operator or active update u2; known: u1'],
    [
      'more words than prompts have room for',
      full,
      veto('u1'),
      'it has been told 20 times: fork it with a better question',
    ],
  ])('%s', (_what, at, steering, reason) => {
    expect(refusal(at, settings, steering, 0)).toBe(reason);
  });

  test('a veto or a pin of the method react', () => {
    const react = { ...settings, method: 'react' as const };
    for (const steering of [veto('u1'), pin('op_a')])
      expect(refusal(state, react, steering, 0)).toBe('the method react has no groundings: give it a hint');
    expect(refusal(state, react, { kind: 'hint', author, text: 'x' }, 0)).toBeNull();
  });

  test('a wall time that is over', () => {
    const steering = { kind: 'budget' as const, author, budgets: { wallMs: 1_000 } };
    expect(refusal(state, settings, steering, 1_000)).toBe(
      'its budget wallMs would be used up already: stop it instead',
    );
    expect(refusal(state, settings, steering, 999)).toBeNull();
  });
});

describe('a hint and a budget', () => {
  test('a hint is counted among the remarks and noted with its author', () => {
    const after = told(state, { kind: 'hint', author, text: 'gaps are seconds' });
    expect(after.steered?.remarks).toEqual(['h1']);
    expect(after.events.at(-1)).toMatchObject({ kind: 'steered', subject: 'h1', detail: 'hint by ada' });
  });

  test('a new limit replaces the old one, null lifts it, and the others stay', () => {
    const given = { ...settings, budgets: { ...settings.budgets, llmCalls: 3, tokens: 500 } };
    const steering = { kind: 'budget' as const, author, budgets: { llmCalls: null, sqlRows: 70 } };
    const after = steer(state, given, { steering, remarkId: null });
    expect(budgetsOf(after, given)).toEqual({ ...given.budgets, llmCalls: null, sqlRows: 70 });
    expect(after.steered?.remarks).toEqual([]);
  });
});

describe('a hint is heard', () => {
  const hint: Steering & { kind: 'hint' } = { kind: 'hint', author, text: 'gaps are seconds' };
  const written = (id: string) => planned(planOf(id, [operator('op_answer', { bodyId: `b-${id}` })]));
  /** A search of one plan; `say` is called as a step begins. */
  async function listening(
    say: (call: Call, desk: SteeredSearch) => void,
    script: Script = {},
    given: Partial<Settings> = {},
    more: Partial<SearchHooks> = {},
  ) {
    let desk: SteeredSearch | null = null;
    const gate: Gate = (call) => {
      if (desk !== null) say(call, desk);
      return Promise.resolve();
    };
    const steps = new FakeSteps({ plan: (input) => written(input.position), ...script }, gate);
    const hooks = testHooks({ attach: (attached) => (desk = attached), ...more });
    const one = testSettings('fast', { cMin: 1, cMax: 1, maxPlans: 1, ...given });
    await runSearch({ searchId: 's', settings: one, state: null }, steps, hooks);
    const shown = (step: StepName) =>
      steps
        .inputs<{ position: string; memory: { remarks?: string[] } }>(step)
        .map((input) => input.memory.remarks ?? []);
    return { steps, end: steps.finished!, shown };
  }
  const once = (step: StepName, then = (desk: SteeredSearch) => desk.steer({ steering: hint, remarkId: 'h1' })) => {
    let told = false;
    return (call: Call, desk: SteeredSearch) => {
      if (call.step !== step || told) return;
      told = true;
      then(desk);
    };
  };

  test('by the model call after it, not by the one under way', () => {
    const after = told(state, hint);
    expect(unheardHints(after)).toEqual(['h1']);
    expect(unheardHints(heard(after, []))).toEqual(['h1']);
    expect(unheardHints(heard(after, ['h1']))).toEqual([]);
  });

  test('by one more plan, where it came during the last model call', async () => {
    const { steps, end, shown } = await listening(once('plan'));
    expect(shown('plan')).toEqual([[], ['h1']]);
    expect(steps.count('plan', 'finish')).toBe(3);
    expect(end).toMatchObject({ status: 'answered', endedBy: 'candidates' });
    expect(unheardHints(end.state)).toEqual([]);
  });

  test('by one more plan, where it came after the last model call', async () => {
    expect((await listening(once('candidate'))).shown('plan')).toEqual([[], ['h1']]);
  });

  test('by nobody, where a limit leaves no call for it: the state says so', async () => {
    const budgets = { ...testSettings().budgets, llmCalls: 1 };
    const { end, shown } = await listening(once('plan'), {}, { budgets });
    expect(shown('plan')).toEqual([[]]);
    expect(unheardHints(end.state)).toEqual(['h1']);
  });

  test('not by a later try, which repeats the conversation of the first', async () => {
    let plans = 0;
    const { shown } = await listening(once('plan'), {
      plan: (input) => (plans++ === 0 ? { invalid: 'no JSON' } : written(input.position)),
    });
    expect(shown('plan')).toEqual([[], [], ['h1']]);
  });

  test('by the judge, who is asked again where it came during his call', async () => {
    const rivals: Script = {
      candidate: ({ candidateId }) => ({ equalTo: null, rowCount: Number(candidateId.slice(1)) }),
    };
    const two = { cMin: 2, cMax: 2, maxPlans: 2, followOn: false };
    const { steps, shown } = await listening(once('select'), rivals, two);
    expect(shown('select')).toEqual([[], ['h1']]);
    expect(steps.inputs<{ position: string }>('select').map(({ position }) => position)).toEqual([
      'select',
      'again2.select',
    ]);
  });

  test('a veto during the call of the judge takes the candidate out of his choice', async () => {
    const proved = planOf('p', [operator('op_answer', { bodyId: 'x', updateId: 'u1' })]);
    let plans = 0;
    const script: Script = {
      plan: () => planned(plans++ === 0 ? proved : planOf('p2', [operator('op_other', { bodyId: 'y' })])),
      prepare: () => ({ knownUpdates: [updateFor('u1', proved, 'op_answer', 'x')] }),
    };
    const two = { cMin: 2, cMax: 2, maxPlans: 2, followOn: false, secondDerivation: 'always' as const };
    const vetoed = once('select', (desk) => desk.steer({ steering: veto('u1'), remarkId: 'h1' }));
    const { steps, end } = await listening(vetoed, script, two);
    expect(steps.inputs<{ candidates: { id: string }[] }>('select')[0]?.candidates[0]?.id).toBe('c1');
    expect(end).toMatchObject({ status: 'answered', chosen: 'c2' });
  });

  test('by one more plan, where it came during his call with a veto that left him nothing to choose', async () => {
    const proved = planOf('p', [operator('op_answer', { bodyId: 'x', updateId: 'u1' })]);
    let plans = 0;
    const script: Script = {
      plan: () =>
        planned(plans++ === 0 ? proved : planOf(`p${plans}`, [operator('op_other', { bodyId: `y${plans}` })])),
      prepare: () => ({ knownUpdates: [updateFor('u1', proved, 'op_answer', 'x')] }),
    };
    const two = { cMin: 2, cMax: 2, maxPlans: 2, followOn: false, secondDerivation: 'always' as const };
    const both = once('select', (desk) => {
      desk.steer({ steering: hint, remarkId: 'h1' });
      desk.steer({ steering: veto('u1'), remarkId: 'h2' });
    });
    const { steps, end, shown } = await listening(both, script, two);
    expect(shown('plan')).toEqual([[], [], ['h1', 'h2']]);
    expect(steps.count('select')).toBe(2);
    expect(unheardHints(end.state)).toEqual([]);
    expect(end).toMatchObject({ status: 'answered' });
  });

  test('by the first call after a pause in which it was given', async () => {
    let resume: () => void = () => undefined;
    const paused = new Promise<void>((resolve) => (resume = resolve));
    let isPaused = true;
    const { shown } = await listening(
      once('prepare', (desk) => {
        setImmediate(() => {
          desk.steer({ steering: hint, remarkId: 'h1' });
          isPaused = false;
          resume();
        });
      }),
      {},
      {},
      { paused: () => (isPaused ? paused : null) },
    );
    expect(shown('plan')).toEqual([['h1']]);
  });
});

describe('a veto', () => {
  const after = told(state, veto('u1'));

  test('withdraws the update with all that rests on it', () => {
    expect(after.updates.map(({ status }) => status)).toEqual(['withdrawn', 'withdrawn']);
    expect(after.facts.map(({ status }) => status)).toEqual(['withdrawn']);
    expect(after.candidates.map(({ status }) => status)).toEqual(['withdrawn']);
    expect(['op_a', 'op_b', 'op_c'].map((name) => operatorOf(after, 't1', name).bodyId)).toEqual([null, null, 'c']);
  });

  test('is noted once, with its author, and each withdrawal once', () => {
    const subjects = after.events.map(({ kind, subject }) => `${kind} ${subject}`);
    expect(subjects).toEqual(['steered u1', 'update-withdrawn u1', 'update-withdrawn u2', 'update-withdrawn f1']);
    expect(enforce(after)).toEqual(after);
  });

  test('keeps its SQL from coming back as an assumed body', () => {
    const again = planOf('p2', [operator('op_a', { bodyId: 'a', risk: 0.1 }), operator('op_z', { bodyId: 'z' })]);
    const grown = { ...after, trajectories: [...after.trajectories, trajectoryOf('t2', { plan: again })] };
    const next = enforce({ ...grown, candidates: [...after.candidates, candidate('c2', again, 't2')] });
    expect(operatorOf(next, 't2', 'op_a').bodyId).toBeNull();
    expect(operatorOf(next, 't2', 'op_z').bodyId).toBe('z');
    expect(next.candidates.at(-1)?.status).toBe('withdrawn');
  });

  test('keeps its SQL from coming back with a new proof', () => {
    const proved = planOf('p2', [operator('op_a', { bodyId: 'a', updateId: 'u5' })]);
    const next = enforce({
      ...after,
      trajectories: [...after.trajectories, trajectoryOf('t2', { plan: proved, status: 'complete' })],
      updates: [...after.updates, updateFor('u5', proved, 'op_a', 'a')],
    });
    expect(next.updates.at(-1)?.status).toBe('withdrawn');
    expect(next.trajectories.at(-1)).toMatchObject({ status: 'open' });
    expect(operatorOf(next, 't2', 'op_a')).toMatchObject({ state: 'unresolved', bodyId: null, updateId: null });
  });

  test('leaves the same SQL alone where the operator is another one', () => {
    const elsewhere = planOf('p2', [operator('op_q', { bodyId: 'a', updateId: 'u5' })]);
    const next = enforce({
      ...after,
      trajectories: [...after.trajectories, trajectoryOf('t2', { plan: elsewhere })],
      updates: [...after.updates, updateFor('u5', elsewhere, 'op_q', 'a')],
    });
    expect(operatorOf(next, 't2', 'op_q')).toMatchObject({ state: 'grounded', bodyId: 'a' });
  });

  test('reaches what an expansion under way built on it, also where no plan shows it any more', () => {
    const late = updateFor('u6', plan, 'op_d', 'd', { dependsOn: ['u2'] });
    const next = enforce({ ...after, updates: [...after.updates, late] });
    expect(next.updates.at(-1)?.status).toBe('withdrawn');
  });

  test('reaches a candidate whose plan the archive has let go of', () => {
    const assumed = planOf('p2', [operator('op_a', { bodyId: 'a', risk: 0.2 })]);
    const next = enforce({ ...after, candidates: [...after.candidates, candidate('c2', assumed, 't9')] });
    expect(next.candidates.at(-1)?.status).toBe('withdrawn');
  });

  test('of an update that is merged in the same iteration is applied by the merge', () => {
    const child = planOf('p1', [operator('op_a', { bodyId: 'a', updateId: 'u1' }), operator('op_b', { bodyId: 'x' })]);
    const expansion = expansionOf('t1', [child], { reused: ['u1'] });
    const next = enforce(mergeExpansion(after, expansion, settings));
    for (const { plan: of } of next.trajectories)
      expect((of?.operators ?? []).filter(({ updateId }) => updateId === 'u1')).toEqual([]);
  });
});

describe('a pin', () => {
  test('leaves an operator assumed, without risk, and nothing more is attempted on it', () => {
    const targets = (of: SearchState) =>
      chooseBottlenecks(of.trajectories[1]!.plan!, { breadth: 9, preferred: null, proof: 'execution' });
    expect(targets(state)).toEqual(['op_d', 'op_c']);
    const after = told(state, pin('op_c'));
    expect(operatorOf(after, 't1', 'op_c')).toMatchObject({ state: 'assumed', bodyId: 'c', risk: 0 });
    expect(targets(after)).toEqual(['op_d']);
    expect(enforce(after)).toEqual(after);
  });

  const rival = updateFor('u3', plan, 'op_a', 'other');
  const withRival = {
    ...state,
    trajectories: [
      ...state.trajectories,
      trajectoryOf('t2', { plan: planOf('p2', [operator('op_a', { bodyId: 'other', updateId: 'u3' })]) }),
    ],
    updates: [...state.updates, rival],
  };

  test('of an update withdraws its rivals, and the memory then gives the pinned one', () => {
    const after = told(withRival, pin('u1'));
    expect(after.updates.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'u1 active',
      'u2 active',
      'u3 withdrawn',
    ]);
    expect(operatorOf(after, 't1', 'op_a')).toMatchObject({ state: 'grounded', updateId: 'u1' });
    const again = applyMemory(after.trajectories[2]!.plan!, after.updates).plans[0]!;
    expect(findOperator(again, 'op_a')).toMatchObject({ state: 'grounded', updateId: 'u1' });
  });

  test('withdraws no reading of another intent, although the operators look alike', () => {
    const looksLike = { ...rival, id: 'u4', intent: 'the same columns of last year' };
    const after = told({ ...state, updates: [...state.updates, looksLike] }, pin('u1'));
    expect(after.updates.at(-1)).toMatchObject({ id: 'u4', status: 'active' });
  });

  test('of an operator is written in again where a rival had taken its place', () => {
    const after = told(state, pin('op_c'));
    const proved = planOf('p1', [operator('op_c', { bodyId: 'rival', updateId: 'u7' })]);
    const next = enforce({
      ...after,
      trajectories: [...after.trajectories, trajectoryOf('t2', { plan: proved })],
      updates: [...after.updates, updateFor('u7', proved, 'op_c', 'rival')],
    });
    expect(next.updates.at(-1)?.status).toBe('withdrawn');
    expect(operatorOf(next, 't2', 'op_c')).toMatchObject({ state: 'assumed', bodyId: 'c', risk: 0, updateId: null });
  });

  test('withdraws candidates that rest on a rival assumption', () => {
    const assumed = planOf('p2', [operator('op_c', { bodyId: 'rival', risk: 0.1 })]);
    const next = told(
      {
        ...state,
        trajectories: [trajectoryOf('t2', { plan: assumed, status: 'complete' }), ...state.trajectories],
        candidates: [candidate('c2', assumed, 't2')],
      },
      pin('op_c'),
    );
    expect(next.candidates.map(({ status }) => status)).toEqual(['withdrawn']);
    expect(operatorOf(next, 't2', 'op_c').bodyId).toBe('c');
  });

  test('the last pin of an intent counts', () => {
    const after = told(withRival, pin('u1'));
    const changed = told({ ...after, updates: [...after.updates, { ...rival, id: 'u8' }] }, pin('u8'));
    expect(changed.steered?.pins.map(({ bodyId }) => bodyId)).toEqual(['other']);
  });

  test('of what was vetoed is refused, and a veto lifts a pin', () => {
    const assumed = {
      ...state,
      trajectories: [trajectoryOf('t1', { plan: planOf('p1', [operator('op_a', { bodyId: 'a' })]) })],
    };
    const both = told(assumed, pin('op_a'), veto('u1'));
    expect(both.steered?.pins).toEqual([]);
    expect(operatorOf(both, 't1', 'op_a').bodyId).toBeNull();
    const brought = { ...both, trajectories: assumed.trajectories };
    expect(refusal(brought, settings, pin('op_a'), 0)).toBe('it was vetoed');
  });
});

const randomSettings = fc
  .record({
    preset: fc.constantFrom('fast' as const, 'thorough' as const),
    iterations: fc.integer({ min: 1, max: 6 }),
    maxPlans: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ preset, ...overrides }) => testSettings(preset, { ...overrides, cMin: 3, cMax: 8 }));

interface Ride {
  readonly steps: FakeSteps;
  readonly seen: readonly SearchState[];
  readonly applied: readonly Steering['kind'][];
}

/** A search in a random world that is told something before some of its steps; what, the seed and the step decide. */
async function steeredSearch(world: number, given: Settings, cuts: readonly boolean[] = [false]): Promise<Ride> {
  const applied: Steering['kind'][] = [];
  let desk: SteeredSearch | null = null;
  let remarks = 0;
  let stopped = false;
  const gate: Gate = async (call) => {
    // Between two iterations a continued run has no step under way.
    if (desk === null || !STEERED_AT.includes(call.step)) return;
    const { position, tryNumber } = call.input as { position: string; tryNumber?: number };
    const draw = new Draw(`${world} ${position} ${tryNumber ?? 0}`);
    if (!draw.chance(0.3)) return;
    const steering = randomCommand(draw, desk.state());
    if (steering === null || steering.kind === 'pause' || steering.kind === 'resume') return;
    if (desk.refusal(steering) !== null) return;
    applied.push(steering.kind);
    if (steering.kind === 'stop') stopped = true;
    const isSaid = steering.kind === 'hint' || steering.kind === 'veto' || steering.kind === 'pin';
    desk.steer({ steering, remarkId: isSaid ? `h${++remarks}` : null });
    await Promise.resolve();
  };
  const steps = new FakeSteps(randomWorld(world), gate);
  const seen: SearchState[] = [];
  let cut = 0;
  const hooks: SearchHooks = testHooks({
    stopRequested: () => (stopped ? 'stop' : null),
    attach: (attached) => (desk = attached),
    afterIteration: (at) => {
      seen.push(at);
      return cuts[cut++ % cuts.length] ? 'continue-as-new' : 'go-on';
    },
  });
  let outcome = await toEnd(runSearch({ searchId: 's', settings: given, state: null }, steps, hooks));
  while (outcome.kind === 'continue') {
    const from = JSON.parse(JSON.stringify(outcome.state)) as SearchState;
    outcome = await toEnd(runSearch({ searchId: 's', settings: given, state: from }, steps, hooks));
  }
  return { steps, seen: [...seen, steps.finished!.state], applied };
}

const STEERED_AT: readonly string[] = [
  'evaluate',
  'plan',
  'propose',
  'probe',
  'ground',
  'settle',
  'check',
  'candidate',
  'select',
];

function randomCommand(draw: Draw, at: SearchState): Steering | null {
  const kind = (['hint', 'veto', 'veto', 'veto', 'pin', 'pin', 'budget', 'stop'] as const)[draw.below(8)]!;
  const names = at.trajectories.flatMap(({ plan: of }) => of?.operators.map(({ name }) => name) ?? []);
  const updates = at.updates.map(({ id }) => id);
  const pick = (from: readonly string[]) => from[draw.below(from.length)] ?? null;
  switch (kind) {
    case 'hint':
      return { kind, author, text: 'something' };
    case 'veto': {
      const update = pick(updates);
      return update === null ? null : veto(update);
    }
    case 'pin': {
      const target = pick([...names, ...updates]);
      return target === null ? null : pin(target);
    }
    case 'budget':
      return { kind, author, budgets: { llmCalls: 5 + draw.below(60) } };
    case 'stop':
      return draw.chance(0.1) ? { kind, author } : null;
    default:
      return kind satisfies never;
  }
}

/** What a state uses although it was withdrawn or ruled out. */
function forbidden(at: SearchState): string[] {
  const gone = new Set([...at.updates, ...at.facts].filter(({ status }) => status === 'withdrawn').map(({ id }) => id));
  const live = at.trajectories.filter(({ status }) => ['open', 'replan', 'complete'].includes(status));
  const operators = live.flatMap(({ plan: of }) => of?.operators ?? []);
  const vetoed = (shape: string, bodyId: string | null) =>
    at.steered?.vetoes.some((one) => one.shape === shape && one.bodyId === bodyId) ?? false;
  return [
    ...operators.flatMap(({ updateId }) => (updateId !== null && gone.has(updateId) ? [updateId] : [])),
    ...operators.flatMap(({ shape, bodyId }) => (vetoed(shape, bodyId) ? [`${shape} ${bodyId ?? ''}`] : [])),
    ...at.candidates
      .filter(({ status }) => status === 'active')
      .flatMap(({ bodies }) =>
        bodies.flatMap(({ updateId }) => (updateId !== null && gone.has(updateId) ? [updateId] : [])),
      ),
    ...[...at.updates, ...at.facts]
      .filter(({ status }) => status === 'active')
      .flatMap(({ dependsOn }) => dependsOn.filter((id) => gone.has(id))),
  ];
}

describe('a search that is steered at random moments', () => {
  const seed = fc.integer({ min: 0, max: 1_000_000 });

  test('ends, follows its schema, and uses nothing that was withdrawn at any checkpoint', async () => {
    const kinds = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(seed, randomSettings, async (world, given) => {
        const { steps, seen, applied } = await steeredSearch(world, given);
        expect(steps.finished).not.toBeNull();
        for (const at of seen) {
          expect(SearchState.parse(at)).toEqual(at);
          expect(forbidden(at)).toEqual([]);
        }
        // What was said is not lost, whatever the search was doing.
        const said = applied.filter((kind) => kind === 'hint' || kind === 'veto' || kind === 'pin');
        const end = steps.finished!;
        expect(end.state.steered?.remarks ?? []).toHaveLength(said.length);
        const isSpent = exhaustedBudget(end.state.usage, 0, budgetsOf(end.state, given)) !== null;
        if (!isCutShort(end.endedBy) && end.endedBy !== 'error' && !isSpent)
          expect(unheardHints(end.state)).toEqual([]);
        for (const kind of applied) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }),
      { numRuns: 100 },
    );
    expect([...kinds.keys()].sort()).toEqual(['budget', 'hint', 'pin', 'stop', 'veto']);
  });

  test('goes on from its checkpoints as if it had never been interrupted', async () => {
    await fc.assert(
      fc.asyncProperty(
        seed,
        randomSettings,
        fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
        async (world, given, cuts) => {
          const whole = await steeredSearch(world, given);
          const parts = await steeredSearch(world, given, cuts);
          expect(parts.steps.finished).toEqual(whole.steps.finished);
          expect(parts.steps.log).toEqual(whole.steps.log);
        },
      ),
      { numRuns: 30 },
    );
  });
});
