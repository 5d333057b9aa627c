/** The headline of `gate ask` and `gate result` in text. */
import { answerText } from '../../../src/cli/show-answer';
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
