/** The sentence on its way from a reply through plan and candidate to the record. */
import type { Question } from '../../../src/domain';
import { runSearch } from '../../../src/search/search';
import { headlineText, statedText } from '../../../src/text/answer-text';
import { GAP_SQL, bench, groundReply, planReply, text, hooks } from './fixtures';

const SENTENCE = 'In {n} of {examined} events the runner-up was within two seconds.';
const once = { cMin: 1, cMax: 1, materiality: false };

async function answer(replies: Parameters<typeof bench>[0], outputMode: Question['outputMode'] = 'answer') {
  const made = await bench(replies, { settings: once, question: { outputMode } });
  await runSearch(made.start, made.steps, hooks);
  return { record: await made.record(), model: made.model };
}

const plan = (sentence: unknown, more: Parameters<typeof planReply>[1] = []) => [text(planReply({ sentence }, more))];

test('the sentence of the plan is filled by the rows that its SQL gave in the end, and kept to be filled again', async () => {
  const { record } = await answer({ plan: plan(SENTENCE), ground: [text(groundReply())] });
  expect(record.answer).toBe('In 2 of 2 events the runner-up was within two seconds.');
  expect(record.sentence).toBe(SENTENCE);
  expect(record.examined).toEqual({ sql: expect.stringContaining('count(*)') as string, count: 2 });
  const later = { ...record, rows: [[1]], examined: { ...record.examined!, count: 3 } };
  expect(headlineText(later)).toMatch(/^In 1 of 3 events /);
});

test('a last operator that only the grounding wrote fills the sentence of the plan', async () => {
  const SQL = 'SELECT count(*) AS n FROM op_gap WHERE place = 2 AND gap < 2';
  const open = { name: 'op_answer', sql: null, mapping: 'below or up to two seconds?', assumptions: [] };
  const ground = groundReply({ written: [{ operator: 'op_answer', sql: SQL, assumptions: [] }] });
  const { record } = await answer({ plan: plan(SENTENCE, [open]), ground: [text(ground)] });
  expect(record.answer).toMatch(/^In 2 of 2 events /);
});

test.each<[string, unknown]>([
  ['missing', undefined],
  ['null', null],
  ['a number', 2],
  ['an object', { text: SENTENCE }],
  ['about a column that the answer does not have', 'In {events} events.'],
  ['with a value of its own', 'In {n} of 17 events.'],
])('a sentence that is %s costs no call: the program has words of its own', async (_claim, sentence) => {
  const { record, model } = await answer({ plan: plan(sentence), ground: [text(groundReply())] });
  expect(record.answer).toBe('2');
  expect([record.sentence, record.examined]).toEqual([undefined, undefined]);
  expect(model.requests).toHaveLength(2);
});

test('a sentence that counts nothing but its rows keeps no control', async () => {
  const written = { name: 'op_gap', mapping: null, sql: GAP_SQL };
  const { record } = await answer({ plan: [text(planReply({ sentence: '{n} events.', tests: [] }, [written]))] });
  expect(record.answer).toBe('2 events.');
  expect(record.examined).toBeUndefined();
});

test('output mode sql is asked for no sentence, takes none, and has no words: the rows are the answer', async () => {
  const { record, model } = await answer({ plan: plan(SENTENCE), ground: [text(groundReply())] }, 'sql');
  expect(record.answer).toBeNull();
  expect(statedText(record)).toBe('2');
  expect(record.sentence).toBeUndefined();
  expect(JSON.stringify(model.requests)).not.toMatch(/sentence of at most|"sentence"/);
});

test.each<[string, string | undefined, string]>([
  ['in a sentence', 'Was a runner-up within two seconds? {n}.', 'Was a runner-up within two seconds? yes'],
  ['alone', undefined, 'Yes'],
])('a declared boolean that the engine gives as 1 reads yes, %s', async (_claim, sentence, told) => {
  const written = { name: 'op_gap', mapping: null, sql: GAP_SQL };
  const yes = {
    name: 'op_answer',
    columns: [{ name: 'n', type: 'boolean', meaning: '' }],
    sql: 'SELECT count(*) > 0 AS n FROM op_gap WHERE place = 2 AND gap < 2',
  };
  const { record } = await answer({ plan: [text(planReply({ sentence, tests: [] }, [written, yes]))] });
  expect(record.rows).toEqual([[1]]);
  expect(record.answer).toBe(`${told}.`);
});
