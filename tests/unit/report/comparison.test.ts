import { compareAnswers, compareMethods, type ComparedAnswer, type Comparison } from '../../../src/benchmarks';
import { questionPage, tablePage } from '../../../src/report/comparison';

const HOSTILE = '</style><script>alert(1)</script>"\u202e';
const entrants = ['gate', HOSTILE].map((method) => ({
  method,
  name: 'gate' as const,
  preset: 'fast' as const,
  models: { default: 'm' },
}));
const answers = entrants.flatMap(({ method }, of) =>
  ['1', '2', '3', '4'].map((id, at): ComparedAnswer => ({
    ...{
      method,
      id: id + HOSTILE,
      seed: 0,
      database: null,
      searchId: 'q',
      status: 'answered',
      reason: HOSTILE,
      sql: HOSTILE,
    },
    verdict: at < 2 + of ? 'correct' : at === 3 ? 'infrastructure' : 'wrong',
    ...{
      calls: 3 + of,
      promptTokens: 10,
      cachedTokens: 5,
      completionTokens: 1,
      costUsd: 0.1,
      wallMs: 5,
      proved: 0.5,
      standing: 'partly proved' as const,
    },
  })),
);
const comparison: Comparison = {
  ...{ schemaVersion: 1, file: `x/${HOSTILE}`, questions: 4, seeds: 1, replayed: true, resamples: 10_000 },
  ...{ methods: compareMethods(entrants, answers, () => 4), answers },
};

/** Everything between tags: what a value could have become. */
const elements = (html: string): string[] => [...html.matchAll(/<([a-z]+)/gi)].map(([, name = '']) => name);

test('the page of a comparison loads and runs nothing, whatever its values hold', () => {
  const html = tablePage(comparison);
  expect(elements(html)).not.toContain('script');
  expect(html).not.toMatch(/\u202e|(src|href)=/);
  expect(html).toContain('content="default-src &#39;none&#39;; style-src &#39;sha256-');
  expect(elements(html).filter((name) => name === 'style')).toHaveLength(1);
});

test('its plots hold each method with its interval, and the difference to the first', () => {
  const html = tablePage(comparison);
  expect(html).toContain('66.7 % [0.0, 100.0], 3.0 calls');
  expect(html).toContain('Accuracy less that of gate');
  expect(html.match(/<svg/g)).toHaveLength(4);
  const places = [...html.matchAll(/ (?:x1|x2|y1|y2|cx|cy|x|y)="([^"]*)"/g)].map(([, value]) => Number(value));
  expect(places.every(Number.isFinite)).toBe(true);
});

test('methods at one point of the plot share a label', () => {
  const same = answers.map(
    (answer, at) => ({ ...answer, verdict: at % 4 < 2 ? 'correct' : 'wrong', calls: 3 }) as const,
  );
  const html = tablePage({ ...comparison, methods: compareMethods(entrants, same, () => 4), answers: same });
  expect(html.match(/>A, B<\/text>/g)).toHaveLength(2);
  expect(html).not.toMatch(/>[AB]<\/text>/);
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
