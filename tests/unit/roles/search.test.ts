/** The whole search in-process: the control loop over the steps, a real SQLite and a scripted model. */
import { runSearch } from '../../../src/search/search';
import { SETUP, TEST, bench, groundReply, planReply, sqliteEngine, text, hooks, promptOf } from './fixtures';
import { standingTexts } from '../../../src/text/answer-text';

test('a question is answered with its proof, and every operator has its evidence', async () => {
  const second = planReply({ tests: [] }, [
    {
      name: 'op_gap',
      mapping: null,
      sql: "SELECT event, place, CAST(replace(mark, '+', '') AS REAL) AS gap FROM op_runners WHERE place > 1",
      assumptions: [{ kind: 'unit', statement: 'gaps are seconds', risk: 0.2 }],
    },
  ]);
  const {
    steps,
    start,
    record: stored,
    model,
  } = await bench(
    { plan: [text(planReply()), text(second), text(second)], ground: [text(groundReply())] },
    { settings: { materiality: false } },
  );
  const outcome = await runSearch(start, steps, hooks);
  expect(outcome).toMatchObject({
    kind: 'finished',
    summary: {
      status: 'answered',
      answer: '2',
    },
  });
  const record = await stored();
  expect(record.evidence.map(({ operator, state }) => [operator, state])).toEqual([
    ['op_runners', 'assumed'],
    ['op_gap', 'proved'],
    ['op_answer', 'assumed'],
  ]);
  const gap = record.evidence[1]!;
  expect(gap).toMatchObject({ reading: 'marks of runners-up are gaps to the winner in seconds', reusedFrom: null });
  expect(gap.observed).toEqual({ columns: ['n', 'plus'], rows: [[6, 6]], rowCount: 1 });
  expect(gap.rejected).toEqual([
    { reading: 'marks of runners-up are absolute times', verdict: 'refuted', reason: 'none looks like a time' },
  ]);
  expect(record.openAssumptions).toContainEqual(
    expect.objectContaining({ statement: 'close means below two seconds', risk: 0.1 }) as unknown,
  );
  expect(record.usage.llmCalls).toBe(model.requests.length);
  expect(record.candidates.filter(({ chosen }) => chosen)).toHaveLength(1);
});

test('a search that is run again from the start pays for no journalled call and runs no statement again', async () => {
  const replies = { plan: [text(planReply()), text(planReply()), text(planReply())], ground: [text(groundReply())] };
  const first = await bench(replies, { settings: { materiality: false, cMin: 1, cMax: 1 } });
  const outcome = await runSearch(first.start, first.steps, hooks);
  const calls = first.model.requests.length;
  const statements = first.engine.runs.length;
  expect(await runSearch(first.start, first.steps, hooks)).toEqual(outcome);
  expect(first.model.requests).toHaveLength(calls);
  expect(first.engine.runs).toHaveLength(statements);
});

test.each<[string, object, string]>([
  ['some rows', { predicates: [] }, '40 of 42 rows match, 2 do not'],
  [
    'a FALSE check',
    { predicates: ['(SELECT plus = n FROM observation)'], agreement: null },
    'its check is FALSE: (SELECT plus = n FROM observation)',
  ],
])('what speaks against the reading that is kept is told: %s', async (_, checks, told) => {
  const many = Array.from({ length: 36 }, (__, at) => `(${at + 10}, 1, 3, '${at < 2 ? '' : '+'}3.0')`);
  const engine = sqliteEngine(`${SETUP} INSERT INTO entry VALUES ${many.join(', ')};`);
  const [h1, h2] = TEST.hypotheses;
  const written = { name: 'op_gap', mapping: null, sql: h1!.sql, assumptions: [] };
  const assumed = { kind: 'meaning', statement: 'marks are gaps', risk: 0.6 };
  const plan = planReply({ tests: [{ ...TEST, hypotheses: [{ ...h1, sql: null, ...checks }, h2] }] }, [
    { ...written, assumptions: [assumed] },
  ]);
  const {
    steps,
    start,
    record: stored,
  } = await bench(
    { plan: [text(plan)], ground: [text(groundReply())], select: [text({ reason: 'the only one', choice: 1 })] },
    { engine, settings: { materiality: false, cMin: 1, cMax: 1, attempts: 1, iterations: 1 } },
  );
  await runSearch(start, steps, hooks);
  const record = await stored();
  expect(record.evidence[1]).toMatchObject({ state: 'assumed', against: [told] });
  expect(standingTexts(record)).toContain(`Assumed all the same: ${h1!.mapping} (${told}).`);
});

test('columns that the rows contradict are replaced at once, by a plan that is told why', async () => {
  const open = { verdicts: TEST.hypotheses.map(({ id }) => ({ hypothesis: id, reason: 'r', verdict: 'open' })) };
  const amending = groundReply(
    { interface: [{ operator: 'op_gap', why: 'a place of an event holds two cars' }] },
    { ...open, winner: null },
  );
  const column = (name: string, type: string) => ({ name, type, meaning: '' });
  const sqlOf = (sql: string) => sql.replace('place,', 'place, car,');
  const cars = [column('event', 'integer'), column('place', 'integer'), column('car', 'integer')];
  const rows = { name: 'op_runners', sql: 'SELECT event, place, car, mark FROM entry' };
  const test = { ...TEST, hypotheses: TEST.hypotheses.map((each) => ({ ...each, sql: sqlOf(each.sql) })) };
  const second = planReply({ tests: [test] }, [
    { ...rows, columns: [...cars, column('mark', 'text')] },
    { name: 'op_gap', columns: [...cars, column('gap', 'number')], grain: ['event', 'place', 'car'] },
  ]);
  const {
    steps,
    start,
    record: stored,
    model,
  } = await bench(
    { plan: [text(planReply()), text(second)], ground: [text(amending), text(groundReply())] },
    { settings: { materiality: false, cMin: 1, cMax: 1 } },
  );
  const outcome = await runSearch(start, steps, hooks);
  expect(outcome).toMatchObject({ summary: { status: 'answered', usage: { llmCalls: 4 } } });
  const told = promptOf(model.requests.findLast(({ role }) => role === 'plan')!);
  expect(told).toContain('<data name="does not fit: op_gap">\na place of an event holds two cars\n</data>');
  expect(told).toContain('the rows contradict the columns or grain of op_gap');
  const record = await stored();
  expect(record.evidence[1]).toMatchObject({ operator: 'op_gap', state: 'proved' });
  expect(record.sql).toContain('place, car,');
});
