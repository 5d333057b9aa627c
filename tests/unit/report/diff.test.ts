import type { SearchState } from '../../../src/domain';
import { renderDiffText, searchDiff } from '../../../src/report';
import type { Side } from '../../../src/report/trace';
import { record, state, trace } from './fixture';

const at = (iteration: number, more: Partial<SearchState> = {}): SearchState => ({
  ...state,
  iteration: iteration + 1,
  ...more,
});
const side = (states: readonly SearchState[], more: Partial<Side['trace']> = {}): Side => ({
  trace: { ...trace, ...more },
  states: new Map(states.map((one) => [one.iteration - 1, one])),
});
const early = { trajectories: state.trajectories.slice(0, 2), updates: [], facts: [], candidates: [] };
const a = side([at(1, early), at(2)]);
const input = trace.input!;

test('a search does not differ from itself', () => {
  const diff = searchDiff(a, a);
  expect(diff).toMatchObject({ partsAt: null, differences: [], settings: [], compared: [1, 2] });
  expect(renderDiffText(diff)).toContain('No difference in any iteration (A ran 2 iterations, B 2)');
});

test('settings that differ stand side by side, also budgets and the question', () => {
  const settings = { ...input.settings, seed: 5, budgets: { ...input.settings.budgets, costUsd: null } };
  const question = { ...input.question, text: 'another question' };
  const diff = searchDiff(a, side([at(1, early), at(2)], { input: { ...input, question, settings } }));
  expect(diff.settings.map(({ name, b }) => [name, b])).toEqual([
    ['question', 'another question'],
    ['seed', 5],
    ['budgets.costUsd', null],
  ]);
  expect(renderDiffText(diff)).toMatch(/seed +0 +5/);
  expect(diff.partsAt).toBeNull();
});

test('the first iteration that differs is named, with what only one side holds', () => {
  const other = state.trajectories.map((t) => ({
    ...t,
    plan: t.plan && {
      ...t.plan,
      operators: t.plan.operators.map((o) =>
        o.name === 'op_times' ? { ...o, bodyId: 'b9', intent: 'times of another year' } : o,
      ),
    },
  }));
  const diff = searchDiff(a, side([at(1, early), at(2, { trajectories: other, candidates: [] })]));
  expect(diff.partsAt).toBe(2);
  expect(diff.differences.map(({ what, only }) => `${what} ${only}`)).toEqual(
    expect.arrayContaining(['operator a', 'operator b', 'candidate a']),
  );
  const text = renderDiffText(diff);
  expect(text).toContain('The first difference is in iteration 2');
  expect(text).toMatch(/B {2}operator +times of another year/);
});

test('names, ids and usage are no difference', () => {
  const renamed = state.trajectories.map((t) => ({
    ...t,
    id: `t${Number(t.id.slice(1)) + 40}`,
    plan: t.plan && {
      ...t.plan,
      planId: 'other',
      operators: t.plan.operators.map((o) => ({ ...o, name: `${o.name}_again` })),
    },
  }));
  const usage = { ...state.usage, llmCalls: 99 };
  expect(searchDiff(a, side([at(1, early), at(2, { trajectories: renamed, usage })])).partsAt).toBeNull();
});

test('one that went further parts where the other ended', () => {
  const diff = searchDiff(a, side([at(1, early), at(2), at(3)]));
  expect(diff).toMatchObject({ partsAt: 3, differences: [] });
  expect(renderDiffText(diff)).toContain('The first difference is in iteration 3: only one of them got that far');
});

test('a fork is called one, and its hint and both answers are shown', () => {
  const parent = { searchId: trace.searchId, iteration: 1, usage: {} };
  const note = {
    kind: 'hint' as const,
    author: 'ada',
    target: null,
    text: 'gaps are seconds',
    at: '2026-01-05T10:00:00.000Z',
  };
  const child = { ...record, id: 'q-1', rows: [[9]], answer: '9', steering: [note] };
  const fork = side([at(1, early)], { searchId: 'q-1', input: { ...input, searchId: 'q-1', parent }, record: child });
  const diff = searchDiff(a, fork);
  expect(diff.fork).toEqual({ child: 'b', after: 1 });
  expect(diff.answers.sameRows).toBe(false);
  const text = renderDiffText(diff);
  for (const part of ['B is a fork of A after iteration 1', 'hint by ada', 'B  answered: 9', 'the rows differ'])
    expect(text).toContain(part);
});

test('a search that is not finished has a difference too', () => {
  const diff = searchDiff(a, side([], { record: null, input: null }));
  expect(diff.answers).toMatchObject({ b: null, sameRows: null });
  expect(renderDiffText(diff)).toContain(
    'The first difference is in iteration 1: only one of them got that far (A ran 2 iterations, B 0)',
  );
});

describe('claims', () => {
  const claim = {
    ...{
      operator: 'op_times',
      statement: 'All but winners store their gap.',
      rows: 'riders',
      check: 'SELECT 162, 162, 18',
    },
    ...{ state: 'proved' as const, reason: null, matching: 162, examined: 162 },
    rivals: [{ reading: 'all are times', matching: 18, examined: 162, verdict: 'refuted' as const }],
  };
  const claiming = (...claims: NonNullable<typeof record.claims>) =>
    side([at(1, early), at(2)], { record: { ...record, claims } });

  test('of which the same was counted are no difference, whatever their words or operators', () => {
    const worded = { ...claim, statement: 'Gaps, except for winners.', operator: 'op_gaps' };
    expect(searchDiff(claiming(claim), claiming(worded)).claims).toEqual([]);
    expect(renderDiffText(searchDiff(claiming(claim), claiming(claim)))).not.toContain('Claims');
    expect(searchDiff(a, a).claims).toEqual([]);
  });

  test('with other counts or that only one makes stand side by side', () => {
    const now = { ...claim, state: 'exceptions' as const, matching: 160, reason: '2 of 162 are exceptions' };
    const own = { ...claim, statement: 'A day has one sprint.', check: 'SELECT 18, 18, 0', rows: 'days', rivals: [] };
    const diff = searchDiff(claiming(claim), claiming(own, now));
    expect(diff.claims).toEqual([
      {
        statement: 'All but winners store their gap.',
        a: 'proved: 162 of 162 riders; rival "all are times" refuted, 18 of 162',
        b: 'holds with exceptions: 160 of 162 riders, 2 exceptions; rival "all are times" refuted, 18 of 162',
      },
      { statement: 'A day has one sprint.', a: null, b: 'proved: 162 of 162 days' },
    ]);
    expect(renderDiffText(diff)).toContain(
      'Claims\n  All but winners store their gap.\n     A  proved: 162 of 162 riders; rival "all are times" refuted, 18 of 162\n',
    );
    expect(renderDiffText(diff)).toContain(
      '  A day has one sprint.\n     A  not claimed\n     B  proved: 162 of 162 days',
    );
  });
});
