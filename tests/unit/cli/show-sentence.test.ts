/** The headline of `gate ask` and `gate result` in text. */
import { printRows } from '../../../src/cli/print-rows';
import { answerText } from '../../../src/cli/show-answer';
import { answerText as answerWords } from '../../../src/search/answer-text';
import { record } from '../report/fixture';

const places = { report: null, ui: null };
const firstLines = (text: string): string => text.slice(0, text.indexOf('\n\n'));

test('the sentence comes first, and below it what else has to be known', () => {
  const answer = '4 of 18 events were close; 1 of 2 steps proved, 1 assumed.\nRead as: below a second.';
  expect(firstLines(answerText({ ...record, answer }, places, 100))).toBe(`Answer  ${answer}`);
});

test('where no words were wanted it is the value alone', () => {
  const bare = { ...record, answer: null, columns: [{ name: 'n', kind: 'number' as const }], rows: [[4]] };
  expect(firstLines(answerText(bare, places, 100))).toBe('Answer  4');
});

test('a value with a terminal escape cannot leave its quotes', () => {
  const columns = [{ name: 'name', kind: 'text' as const }];
  const bare = { ...record, answer: null, columns, rows: [['\u001b[2J"; 2 of 2 steps proved.\n\nUsage']] };
  expect(firstLines(answerText(bare, places, 100))).toBe(`Answer  "\\u001b[2J'; 2 of 2 steps proved. Usage"`);
});

test('how much of what was asked could be used is said once, also where no words were wanted', () => {
  const coverage = { asked: 1000, used: 312, sql: 'SELECT 1000, 312' };
  const partial = 'Only 312 of the 1,000 asked about could be used (31 %).';
  const bare = { ...record, coverage, answer: null, columns: [{ name: 'n', kind: 'number' as const }], rows: [[4]] };
  expect(firstLines(answerText(bare, places, 100))).toBe(`Answer  4\n${partial}`);
  const answer = answerWords(bare);
  expect(firstLines(answerText({ ...bare, answer }, places, 100))).toBe(`Answer  ${answer}`);
  expect(answer).toContain(partial);
});

test('the usage says how many tokens came from a cache, where an endpoint told', () => {
  const usage = { ...record.usage, promptTokens: 9000, cachedTokens: 6400, completionTokens: 1000 };
  expect(answerText({ ...record, usage }, places, 100)).toMatch(/^Usage .*, 10,000 tokens \(6,400 cached\), /m);
  expect(answerText(record, places, 100)).not.toContain('cached');
});

test('with the rows alone it goes to standard error', () => {
  const printed = { out: '', err: '' };
  printRows(
    { ...record, coverage: { asked: 1000, used: 312, sql: 'SELECT 1000, 312' } },
    { out: (text) => void (printed.out += text), err: (text) => void (printed.err += text) },
  );
  expect(printed.err).toContain('Only 312 of the 1,000 asked about could be used (31 %).\n');
  expect(printed.out).not.toContain('312');
});
