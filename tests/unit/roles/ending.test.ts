/** Candidates and the final record. */
import type { SearchState } from '../../../src/domain';
import { runSearch } from '../../../src/search/search';
import { initialState } from '../../../src/search/run';
import { planRef } from '../../../src/search/plan-view';
import { newestSearches } from '../../../src/record/search-index';
import { GAP_SQL, SEARCH, bench, containing, planReply, text, PLAN, prepared, hooks } from './fixtures';
import type { CandidateRun } from '../../../src/domain/ports/steps';

const written = { name: 'op_gap', mapping: null, sql: GAP_SQL };

async function candidates(replies: unknown[], settings = {}) {
  const made = await prepared({ plan: replies.map(text) }, { settings });
  const runs: CandidateRun[] = [];
  for (const [index] of replies.entries()) {
    const plan = await made.steps.plan({ ...PLAN, position: `p${index}` });
    if (plan.kind !== 'ok' || plan.value.kind !== 'plan') throw new Error(text(plan));
    const against = runs.map((_, earlier) => `c${earlier + 1}`);
    runs.push(
      await made.steps.candidate({
        ...{ purpose: 'candidate', searchId: SEARCH, position: `i1.c${index + 1}`, candidateId: `c${index + 1}` },
        ...{ trajectory: 't1', plan: planRef(plan.value.plan), against },
      }),
    );
  }
  return { ...made, runs };
}

async function searched(plan: unknown) {
  const made = await bench({ plan: [text(plan)] }, { settings: { cMin: 1, cMax: 1 } });
  await runSearch(made.start, made.steps, hooks);
  return made.record();
}

describe('S5: candidate', () => {
  test('a plan runs whole with its control count, and equal results are recognised', async () => {
    const { runs } = await candidates([
      planReply({ tests: [] }, [written]),
      planReply({ tests: [] }, [{ ...written, sql: `${GAP_SQL} WHERE place > 1` }]),
    ]);
    expect(runs[0]).toMatchObject({ outcome: 'rows', rowCount: 1, trivial: false, control: 2, equalTo: null });
    expect(runs[1]?.equalTo).toBe('c1');
  });

  test('results beyond the cap are compared by a digest of the whole', async () => {
    const list = (order: string) =>
      planReply({ tests: [], control: null }, [
        written,
        {
          name: 'op_answer',
          columns: [{ name: 'car', type: 'integer', meaning: '' }],
          relations: ['entry'],
          sql: `SELECT car FROM entry ORDER BY ${order}`,
          grain: [],
        },
      ]);
    const { runs } = await candidates([list('car'), list('car DESC'), list('car LIMIT 5')], { maxRows: 3 });
    expect(runs[0]).toMatchObject({ rowCount: 8, equalTo: null });
    expect(runs[1]?.equalTo).toBe('c1');
    expect(runs[2]).toMatchObject({ rowCount: 5, equalTo: null });
  });

  test('an SQL error is a candidate that failed', async () => {
    const { runs } = await candidates([
      planReply({ tests: [] }, [{ ...written, sql: 'SELECT event, place, marc AS gap FROM op_runners' }]),
    ]);
    expect(runs[0]).toMatchObject({ outcome: 'sql-error', rowCount: 0, equalTo: null });
  });
});

describe('finish', () => {
  const state = (): SearchState => initialState(SEARCH, 1_000);

  test.each(['abstained', 'failed', 'cancelled', 'unanswerable'] as const)(
    'a search that is %s has a record and an index entry without any candidate',
    async (status) => {
      const { steps, deps } = await bench({});
      const ending = { searchId: SEARCH, state: state(), endedBy: 'error', chosen: null, reason: 'why' } as const;
      const summary = await steps.finish({ ...ending, status });
      expect(summary).toMatchObject({ id: SEARCH, status, answer: null, sql: null, reason: 'why' });
      const [entry] = await newestSearches(deps.store, 1);
      expect(entry).toMatchObject({ id: SEARCH, status, database: 'races', question: containing('runner-up') });
    },
  );

  test('a repeated ending returns the record that is stored', async () => {
    const { steps, deps } = await bench({});
    const ending = { status: 'abstained', endedBy: 'exhausted', chosen: null, reason: null } as const;
    const input = { searchId: SEARCH, state: state(), ...ending };
    await steps.finish(input);
    const before = await deps.store.get(`runs/${SEARCH}/result/${SEARCH}.json`);
    await steps.finish(input);
    expect(await deps.store.get(`runs/${SEARCH}/result/${SEARCH}.json`)).toBe(before);
  });

  test('an answer whose words allow two readings says which was taken and what the other gives', async () => {
    const wording = [
      {
        operator: 'op_answer',
        taken: 'below two seconds',
        other: 'below one second',
        otherSql: 'SELECT count(*) AS n FROM op_gap WHERE place = 2 AND gap < 1',
      },
    ];
    const record = await searched(planReply({ tests: [], wording }, [written]));
    expect(record.answer).toBe('2');
    expect(record.openAssumptions).toContainEqual({
      operator: 'op_answer',
      kind: 'open-by-wording',
      statement: 'below two seconds',
      risk: null,
      alternative: { reading: 'below one second', gives: '1' },
    });
  });
});

test.each([
  ['a plan in order', 'ORDER BY event', true],
  ['a plan without an order', '', false],
  ['a plan whose order ends inside', 'AND event IN (SELECT event FROM op_runners ORDER BY event)', false],
])('the record of %s says whether its rows have one, by the SQL and not by the plan', async (_, order, ordered) => {
  const ending = { name: 'op_answer', sql: `SELECT event AS n FROM op_gap WHERE place = 2 ${order}` };
  const record = await searched(planReply({ tests: [], ordered: !ordered }, [written, ending]));
  expect(record).toMatchObject({ rows: expect.arrayContaining([expect.anything()]) as unknown, ordered });
});

test('S5: where one plan says that the question orders, another order of the same rows is no equal result', async () => {
  const ending = (order: string) => ({
    name: 'op_answer',
    sql: `SELECT event AS n FROM op_gap WHERE place = 2 ${order}`,
  });
  const plan = (ordered: boolean, order: string) => planReply({ tests: [], ordered }, [written, ending(order)]);
  const equal = async (...plans: unknown[]) => (await candidates(plans)).runs[1]?.equalTo;
  expect(await equal(plan(true, 'ORDER BY event DESC'), plan(false, 'ORDER BY event'))).toBeNull();
  expect(await equal(plan(false, 'ORDER BY event DESC'), plan(true, 'ORDER BY event'))).toBeNull();
  expect(await equal(plan(true, 'ORDER BY event'), plan(false, 'ORDER BY event'))).toBe('c1');
  expect(await equal(plan(false, 'ORDER BY event DESC'), plan(false, 'ORDER BY event'))).toBe('c1');
});

test('what a person said stands in the final record with author and time, and whether a prompt showed it', async () => {
  const { steps, record } = await bench({});
  const said = { kind: 'hint', author: 'ada', target: null, text: 'gaps are seconds' } as const;
  await steps.keepRemark(SEARCH, { remarkId: 'h1', ...said });
  const steered = { remarks: ['h1'], vetoes: [], pins: [], budgets: null };
  const ending = { searchId: SEARCH, status: 'abstained', endedBy: 'stop', chosen: null, reason: null } as const;
  await steps.finish({ ...ending, state: { ...initialState(SEARCH, 0), steered } });
  const note = { ...said, at: '1970-01-01T00:00:01.000Z' };
  expect((await record()).steering).toEqual([{ ...note, shown: true }]);
  const unheard = { ...steered, unheard: ['h1'] };
  await steps.finish({ ...ending, reason: 'again', state: { ...initialState(SEARCH, 0), steered: unheard } });
  expect((await record()).steering).toEqual([{ ...note, shown: false }]);
});
