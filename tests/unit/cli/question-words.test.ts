import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinedWords } from '../../../src/cli/ask';
import { testProcess } from './test-io';

const { home } = testProcess();
writeFileSync(join(home, 'shop.sqlite'), '');
writeFileSync(join(home, 'orders'), '');

test.each([
  [['how', 'many', 'orders'], 'how many orders'],
  [['how many orders'], 'how many orders'],
  [['How', 'many', 'orders', 'in', '2024?'], 'How many orders in 2024?'],
  [['-'], '-'],
  [['shop.sqlite'], 'shop.sqlite'],
])('%j is the question %j', (words, question) => {
  expect(joinedWords(words, home)).toBe(question);
});

test.each([
  [['how many orders', 'last week'], /several texts: write the question in one pair of quotes/],
  [['how', 'many', '-'], /several texts/],
  [['how', 'many', './shop.sqlite'], /shop\.sqlite is a file; a database is given with --db/],
  [['how', 'many', 'postgresql://u:hunter2@h/d'], /an address is among the words; a database is given with --db/],
])('%j may mean something else, and is refused in one line', (words, says) => {
  expect(() => joinedWords(words, home)).toThrow(says);
  expect(() => joinedWords(words, home)).not.toThrow(/hunter2/);
});
