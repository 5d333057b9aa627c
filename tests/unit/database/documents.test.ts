import { shownDocuments } from '../../../src/database/shown-documents';
import { computingMs } from '../../helpers/computing';

const filler = (topic: string, times: number): string =>
  Array.from(
    { length: times },
    (_, at) => `The ${topic} of chapter ${at} follows the usual manner of all chapters.\n\n`,
  ).join('');
const manual = [
  '# Handbook\n\n',
  filler('greeting', 60),
  '## Settlement delay\n\nCounted in working days from the notice.\n\nHolidays of the region do not count.\n\n',
  '## Cafeteria\n\n',
  filler('menu', 60),
].join('');
const QUESTION = 'What is the mean settlement delay?';

test('documents that fit are shown as they are', () => {
  const documents = [{ name: 'a.md', text: manual }];
  expect(shownDocuments(documents, QUESTION)).toBe(documents);
});

test('of longer ones the parts stay that share words with the question, and what stands under their title', () => {
  const [shown] = shownDocuments([{ name: 'a.md', text: manual }], QUESTION, 2_000);
  expect(shown?.name).toBe('a.md');
  expect(shown?.text.length).toBeLessThan(2_200);
  expect(shown?.text).toMatch(/^\(\d+ of \d+ characters, chosen by the question's words\)\n\[…\]\n/);
  expect(shown?.text).toContain('Counted in working days');
  expect(shown?.text).toContain('Holidays of the region');
});

test('all documents share one budget, and one of which nothing fits is still named', () => {
  const documents = [
    { name: 'food.md', text: filler('menu', 100) },
    { name: 'rules.md', text: manual },
    { name: 'one-line.txt', text: 'x'.repeat(100_000) },
  ];
  const shown = shownDocuments(documents, QUESTION, 1_000);
  expect(shown.map(({ name }) => name)).toEqual(['food.md', 'rules.md', 'one-line.txt']);
  expect(shown.map(({ text }) => text).join('').length).toBeLessThan(1_500);
  expect(shown[2]?.text).toBe("(0 of 100000 characters, chosen by the question's words)");
  expect(shown[1]?.text).toContain('Counted in working days');
});

test('the same documents and question give the same parts', () => {
  const documents = [{ name: 'a.md', text: manual }];
  expect(shownDocuments(documents, QUESTION, 900)).toEqual(shownDocuments(documents, QUESTION, 900));
});

test.each(['\n', ' \n', '\n\t'])('empty lines without end cost no time: %j', (line) => {
  const documents = [{ name: 'a.md', text: line.repeat(100_000) + manual }];
  expect(computingMs(() => shownDocuments(documents, QUESTION))).toBeLessThan(2_000);
});
