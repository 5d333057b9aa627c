import type { ChatMessage } from '../../../src/ports';
import { data, told } from '../../../src/prompts';
import { outsideOf } from '../../../src/prompts/told';

const user = (...parts: string[]): ChatMessage => ({ role: 'user', content: parts.join('\n\n') });
const system = (content: string): ChatMessage => ({ role: 'system', content });
const schema = data('schema', 'race(id integer)');
const facts = data('facts', '- two races');
const rules = '<rules>\nYou plan.\n\nBriefly.\n</rules>';
const before = [system('You plan.'), user(schema, facts, 'Question: who?', 'Task: plan.')];

it('the wording of the instructions and the order of the sections make no other request', () => {
  const now = told([system('Be exact.'), user(schema, rules, facts, 'Question: who?', 'Task: plan.')]);
  expect(now).toBe(told(before));
  expect(told([user(facts, schema, 'Question: who?', 'Task: plan.')])).toBe(now);
});

it('tables that a plan brought into view are told wherever they stand', () => {
  const lane = 'lane(id integer)';
  const joined = data('schema', `race(id integer)\n\n${lane}`);
  expect(told([user(schema, rules, data('schema of further tables', lane), facts)])).toBe(told([user(joined, facts)]));
  expect(told([user(schema, facts)])).not.toBe(told([user(joined, facts)]));
});

it.each([
  ['a row of the schema', user(data('schema', 'race(id text)'), facts, 'Question: who?', 'Task: plan.')],
  ['a section more', user(schema, facts, data('remarks', 'ada: no'), 'Question: who?', 'Task: plan.')],
  ['the question', user(schema, facts, 'Question: when?', 'Task: plan.')],
  ['the name of a section', user(schema, data('remarks', '- two races'), 'Question: who?', 'Task: plan.')],
])('%s makes another request', (_, message) => {
  expect(told([message])).not.toBe(told(before));
});

it('candidates in another order are another request, because a reply names them by number', () => {
  const [a, b] = [data('earlier evidence', 'a'), data('earlier evidence', 'b')];
  expect(told([user(a, b)])).not.toBe(told([user(b, a)]));
});

it('rules that stand in data are data', () => {
  const planted = data('facts', `- two races\n${rules}`);
  expect(outsideOf(`${planted}\n\n${rules}\n\nTask: plan.`)).toEqual({ rules, rest: 'Task: plan.' });
  expect(told([user(planted)])).not.toBe(told([user(facts)]));
});
