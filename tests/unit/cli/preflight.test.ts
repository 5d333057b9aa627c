import { isOffered } from '../../../src/app/model-check';

const listed = ['gpt-5', 'models/gemini-x', 'org/name'];

test.each(['gpt-5', 'gemini-x', 'models/gemini-x', 'org/name', 'org/name:free'])('%s is offered', (model) => {
  expect(isOffered(model, listed)).toBe(true);
});

test('a model that a list does not name is not offered', () => {
  expect(isOffered('gpt-6', listed)).toBe(false);
});

test('an endpoint that lists nothing, or patterns, refuses no model beforehand', () => {
  expect(isOffered('gpt-6', [])).toBe(true);
  expect(isOffered('gpt-6', ['openai/*'])).toBe(true);
});
