import { createRunStore } from '../../../src/record/run-store';
import { SEARCH, TEST, containing, planReply, text, PLAN, prepared, sqliteEngine } from './fixtures';

const step = (tryNumber = 0, executionError?: string) => ({ ...PLAN, tryNumber, executionError });

test('a plan is stored with its bodies, and control sees states, shapes and the first proposals only', async () => {
  const { steps } = await prepared({ plan: [text(planReply())] });
  const planned = await steps.plan(step());
  expect(planned).toMatchObject({
    kind: 'ok',
    value: {
      kind: 'plan',
      bottleneck: 'op_gap',
      proposed: ['op_gap'],
      plan: {
        operators: [
          { name: 'op_runners', state: 'assumed', readsBase: true },
          { name: 'op_gap', state: 'unresolved', bodyId: null },
          { name: 'op_answer', risk: 0.1, assumptions: 1 },
        ],
      },
    },
    usage: { llmCalls: 1 },
  });
  expect(text(planned)).not.toContain('SELECT');
});

test.each<[string, Record<string, unknown>, string]>([
  [
    'an unknown relation',
    { name: 'op_runners', sql: 'SELECT event, place, mark FROM results' },
    'reads results, not among its relations',
  ],
  ['a relation that does not exist', { name: 'op_runners', relations: ['races'] }, 'declares the relation races'],
  [
    'an unknown operator',
    { name: 'op_answer', sql: 'SELECT count(*) AS n FROM op_gap JOIN op_cars' },
    'reads op_cars, not among its inputs',
  ],
  ['no SELECT', { name: 'op_answer', sql: 'DELETE FROM op_gap' }, 'write one SELECT'],
])('S8: a body with %s is invalid and its writer is told why', async (_, operator, message) => {
  const { steps } = await prepared({ plan: [text(planReply({}, [operator]))] });
  expect(await steps.plan(step())).toMatchObject({
    kind: 'invalid',
    error: containing(message),
    usage: { llmCalls: 1 },
  });
});

test('S8: what the SQL reads of the schema is thereby declared, under the name that the schema gives it', async () => {
  const sloppy = {
    name: 'op_runners',
    relations: ['"ENTRY"'],
    sql: 'SELECT e.event, place, mark FROM Entry e, main.event',
  };
  const { steps, deps } = await prepared({ plan: [text(planReply({}, [sloppy]))] });
  expect(await steps.plan(step())).toMatchObject({ kind: 'ok' });
  const { operators } = await createRunStore(deps.store, SEARCH).get('plan', 'i1.t0.plan');
  expect(operators[0]?.relations).toEqual(['entry', 'event']);
});

test('a later try repeats the conversation with the reply and the exact error, of parsing or of execution', async () => {
  const { steps, model } = await prepared({ plan: ['nonsense', text(planReply()), text(planReply())] });
  expect((await steps.plan(step())).kind).toBe('invalid');
  expect((await steps.plan(step(1))).kind).toBe('ok');
  expect((await steps.plan(step(2, 'op_answer: no such column: gapp'))).kind).toBe('ok');
  const [first, second, third] = model.requests.map(({ messages }) => messages);
  expect(second!.slice(0, 2)).toEqual(first);
  expect(second![2]).toEqual({ role: 'assistant', content: 'nonsense' });
  expect(third).toHaveLength(6);
  expect(third![5]!.content).toContain('no such column: gapp');
});

test('the plans of two tries are two contents', async () => {
  const { steps, deps } = await prepared({ plan: [text(planReply()), text(planReply({ outline: 'other' }))] });
  await steps.plan(step());
  await steps.plan(step(1, 'it failed'));
  expect((await createRunStore(deps.store, SEARCH).all('plan')).size).toBe(2);
});

test('a first test that cannot run is dropped, not paid for again', async () => {
  const reply = planReply({ tests: [{ ...TEST, probe: 'SELECT count(*) AS n FROM nothing' }] });
  const { steps } = await prepared({ plan: [text(reply)] });
  expect(await steps.plan(step())).toMatchObject({ kind: 'ok', value: { proposalId: null, proposed: [] } });
});

test('an unanswerable question is a reply like any other', async () => {
  const { steps } = await prepared({
    plan: [text(planReply({ kind: 'unanswerable', reason: 'no prices are stored', operators: [], tests: [] }))],
  });
  expect(await steps.plan(step())).toMatchObject({
    kind: 'ok',
    value: { kind: 'unanswerable', reason: 'no prices are stored' },
  });
});

test('a database without tables is one clear line', async () => {
  await expect(prepared({}, { engine: sqliteEngine('') })).rejects.toThrow('the database races has no tables');
});
