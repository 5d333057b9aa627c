import { tokensOf, tokensTable } from '../../../src/report/tokens';

const data = (name: string, chars: number): string => `<data name="${name}">\n${'x'.repeat(chars)}\n</data>`;
const first = [
  data('schema', 400),
  `<rules>\n${'r'.repeat(200)}\n</rules>`,
  data('document a.md', 100),
  data('earlier questions', 50),
  data('known', 60),
  'Question: how many?',
].join('\n\n');
const messages = [
  { role: 'system' as const, content: 's'.repeat(100) },
  { role: 'user' as const, content: first },
];
const reply = (promptTokens: number, completionTokens: number) => ({
  reply: { text: '', model: 'm', promptTokens, completionTokens, costUsd: 0, finishReason: 'stop' },
});
const looked = [
  ...messages,
  { role: 'assistant' as const, content: 'a'.repeat(80) },
  { role: 'user' as const, content: data('result', 300) },
];
const tokens = tokensOf(
  new Map([
    ['i10.look.try0', { role: 'look', messages: looked }],
    ['i2.look.try0', { role: 'look', messages }],
  ]),
  new Map([
    ['i10.look.try0', reply(1001, 7)],
    ['i2.look.try0', reply(333, 5)],
  ]),
);

test('the parts of each call add up to what the provider counted, and the sum to all calls', () => {
  expect(tokens.calls.map(({ call }) => call)).toEqual(['i2.look.try0', 'i10.look.try0']);
  for (const { in: of, parts } of [...tokens.calls, tokens.sum])
    expect(Object.values(parts).reduce((sum, each) => sum + each, 0)).toBe(of);
  expect(tokens.sum).toMatchObject({ in: 1334, out: 12 });
});

test('a part gets tokens as it has characters', () => {
  const [one, two] = tokens.calls.map(({ parts }) => parts);
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
  expect(Math.abs((one?.schema ?? 0) - (333 * data('schema', 400).length) / chars)).toBeLessThanOrEqual(1);
  expect(one).toMatchObject({ 'looks so far': 0 });
  for (const part of ['rules', 'documents', 'earlier questions', 'claims', 'question and task'] as const)
    expect(one?.[part]).toBeGreaterThan(0);
  expect(two?.['looks so far']).toBeGreaterThan(two?.documents ?? 0);
});

test('the table leaves out what no call has', () => {
  const { heads, rows } = tokensTable(tokens);
  expect(heads).not.toContain('what is known');
  expect(rows.at(-1)?.slice(-2)).toEqual([1334, 12]);
});
