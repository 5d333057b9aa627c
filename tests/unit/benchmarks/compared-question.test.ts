import { compareAnswers, questionPage } from '../../../benchmarks/compared-question';

const HOSTILE = '</style><script>alert(1)</script>"\u202e';
const entrants = ['gate', HOSTILE].map((method) => ({
  method,
  name: 'fast' as const,
  preset: 'fast' as const,
  models: { default: 'm' },
}));
/** Everything between tags: what a value could have become. */
const elements = (html: string): string[] => [...html.matchAll(/<([a-z]+)/gi)].map(([, name = '']) => name);

const entrant = (method: string) => ({ ...entrants[0]!, method });

describe('answers to one question', () => {
  const given = (method: string, rows: (string | number)[][], more = {}) => ({
    ...{ ...entrant(method), searchId: method, status: 'answered' as const, answer: null, reason: null, sql: 'SELECT' },
    ...{ columns: rows[0]!.map((_, at) => ({ name: `c${at}`, kind: 'other' as const })), rows, truncated: false },
    ...{ proved: 1, standing: 'proved' as const, provedText: null, usage: null, wallMs: 1, ...more },
  });

  test('the same rows in another order of rows and columns are the same result; others say in what they differ', () => {
    const { answers, differences } = compareAnswers([
      given('a', [
        ['x', 1],
        ['y', 2],
        ['y', 2],
      ]),
      given('b', [
        [2, 'y'],
        [1, 'x'],
        [2, 'y'],
      ]),
      given('c', [
        ['x', 1],
        ['y', 2],
        ['z', 3],
      ]),
      given('d', [[3]]),
    ]);
    expect(answers.map(({ result }) => result)).toEqual(['A', 'A', 'B', 'C']);
    expect(differences).toEqual([
      { result: 'A', other: 'B', why: 'other values', only: [['y', 2]], onlyOther: [['z', 3]] },
      { result: 'A', other: 'C', why: '1 x 1 instead of 3 x 2 (rows x columns)', only: [], onlyOther: [] },
    ]);
  });

  test('results beyond the row cap are not called equal, and an answer without rows has no letter', () => {
    const { answers, differences } = compareAnswers([
      given('a', [[1]], { truncated: true }),
      given('b', [[1]], { truncated: true }),
      { ...given('c', [[1]]), columns: [], rows: [] },
    ]);
    expect(answers.map(({ result }) => result)).toEqual(['A', 'B', null]);
    expect(differences[0]?.why).toBe('more rows than were fetched: not decided');
  });
});

test('the page of one question shows the rows that only one result has', () => {
  const columns = [{ name: 'n', kind: 'number' as const }];
  const given = entrants.map((entrant, at) => ({
    ...{ ...entrant, searchId: 'q', status: 'answered' as const, answer: HOSTILE, reason: null, sql: HOSTILE, columns },
    ...{
      rows: [[at]],
      truncated: false,
      proved: 1,
      standing: 'proved' as const,
      provedText: null,
      usage: null,
      wallMs: 1,
    },
  }));
  const html = questionPage({ schemaVersion: 1, question: HOSTILE, database: 'd', ...compareAnswers(given) });
  expect(html).toContain('Rows B are not rows A');
  expect(html).toContain('Only in B: 1 row');
  expect(elements(html)).not.toContain('script');
});
