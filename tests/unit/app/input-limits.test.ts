import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadQuestions } from '../../../src/questions';
import { testProcess } from '../cli/test-io';

const LONG = 'the question is too long: at most 8,000 characters are allowed';
const BINARY = 'the question is not plain text: it holds a byte 0, or bytes that are not UTF-8';
const EMPTY = 'the question is empty; write it in quotes, or give - to read it from standard input';

describe('a question that cannot be one is refused in a line, before anything is opened or asked', () => {
  test.each([
    ['an over-long one', 'x'.repeat(8_001), LONG],
    ['one with a byte 0', 'how\u0000many', BINARY],
    ['one that is no UTF-8', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]).toString('utf8'), BINARY],
    ['an empty one', ' \n ', EMPTY],
  ])('%s, as an argument and from standard input', async (_, text, line) => {
    const ended = { code: 2, out: '', err: `gate: ${line}\n` };
    // Neither the database nor a model exists.
    expect(await testProcess({}, text).gate('ask', '-', '--db', './none.sqlite')).toEqual(ended);
    expect(await testProcess().gate('ask', text, '--db', './none.sqlite')).toEqual(ended);
  });

  test('context and instructions are limited together', async () => {
    const half = 'x'.repeat(16_001);
    const process = testProcess();
    writeFileSync(join(process.home, 'a.sqlite'), '');
    const { code, err } = await process.gate(
      ...['ask', 'how many?', '--db', './a.sqlite', '--context', half, '--instructions', half],
    );
    expect({ code, err }).toEqual({ code: 2, err: 'gate: the context with its instructions is too long: at most 32,000 characters are allowed\n' }); // prettier-ignore
  });

  test('a question of exactly 8,000 characters passes', async () => {
    const { err } = await testProcess().gate('ask', 'x'.repeat(8_000), '--db', './none.sqlite');
    expect(err).not.toMatch(/too long/);
  });

  test('a hint that is no text is refused', async () => {
    const { code, err } = await testProcess().gate('hint', 'last', 'gaps\u0000');
    expect({ code, err }).toEqual({ code: 2, err: `gate: ${BINARY.replace('question', 'hint')}\n` });
  });
});

test.each([
  ['question', { question: 'x'.repeat(8_001) }, LONG],
  ['question', { question: 'how\u0000many' }, BINARY],
  ['context', { question: 'a', context: 'x'.repeat(32_001) }, 'the context with its instructions is too long'],
  ['hidden knowledge', { question: 'a', hidden_knowledge: 'x'.repeat(32_001) }, 'the context with its instructions'],
])('in a file of questions the line of a bad %s is named', async (_, second, line) => {
  const file = join(testProcess().home, 'questions.jsonl');
  writeFileSync(file, [{ question: 'fine' }, second].map((each) => JSON.stringify(each)).join('\n'));
  await expect(loadQuestions(file, { hiddenKnowledge: true })).rejects.toThrow(`${file}, line 2: ${line}`);
});
