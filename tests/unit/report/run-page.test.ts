import { compareMethods, figuresOf, type Comparison, type ResultLine } from '../../../src/questions';
import { answerLine, USAGE } from '../../helpers/answers';
import type { Run } from '../../../src/report/run';
import { runPage } from '../../../src/report/run-page';

const HOSTILE = '</style><script>alert(1)</script>"\u202e';
const entrants = ['gate', HOSTILE].map((method) => ({ method, models: { default: 'm' } }));
const answers = entrants.flatMap(({ method }, of) =>
  ['1', '2', '3', '4'].map((id, at): ResultLine =>
    answerLine(id + HOSTILE, {
      ...{ method, verdictReason: HOSTILE, sql: HOSTILE, proved: 0.5, standing: 'partly proved' },
      verdict: at < 2 + of ? 'correct' : at === 3 ? 'infrastructure' : 'wrong',
      usage: { ...USAGE, llmCalls: 3 + of },
    }),
  ),
);
const comparison: Comparison = {
  ...{ file: `x/${HOSTILE}`, questions: 4, seeds: 1, replayed: true, resamples: 10_000 },
  methods: compareMethods(entrants, answers, () => 4),
};

const pageOf = (comparison: Comparison): string => {
  const set: Run['sets'][number] = {
    ...{
      name: HOSTILE,
      note: HOSTILE,
      remarks: [HOSTILE],
      benchmark: null,
      questionsSha256: '',
      databases: [],
      settings: {},
    },
    figures: entrants.map(({ method }) =>
      figuresOf(
        method,
        answers.filter((one) => one.method === method),
        [{ seed: 0, batchId: 'b-1', metrics: null }],
      ),
    ),
    comparison,
  };
  return runPage({
    ...{ schemaVersion: 1, name: HOSTILE, startedAt: '', endedAt: '', complete: true, command: HOSTILE, endpoint: '' },
    config: { text: HOSTILE, sha256: '' },
    versions: { gate: '', node: '', temporalServer: null, temporalSdk: '' },
    ...{ models: [HOSTILE], prompts: {}, sets: [set] },
  });
};

/** Everything between tags: what a value could have become. */
const elements = (html: string): string[] => [...html.matchAll(/<([a-z]+)/gi)].map(([, name = '']) => name);

test('the page of a run loads and runs nothing, whatever its values hold', () => {
  const html = pageOf(comparison);
  expect(elements(html)).not.toContain('script');
  expect(html).not.toMatch(/\u202e|(src|href)=/);
  expect(html).toContain('content="default-src &#39;none&#39;; style-src &#39;sha256-');
  expect(elements(html).filter((name) => name === 'style')).toHaveLength(1);
});

test('its plots hold each method with its interval, and the difference to the first', () => {
  const html = pageOf(comparison);
  expect(html).toContain('66.7 % [0.0, 100.0], 3.0 calls');
  expect(html).toContain('Accuracy less that of gate');
  expect(html.match(/<svg/g)).toHaveLength(2);
  const places = [...html.matchAll(/ (?:x1|x2|y1|y2|cx|cy|x|y)="([^"]*)"/g)].map(([, value]) => Number(value));
  expect(places.every(Number.isFinite)).toBe(true);
});

test('methods at one point of the plot share a label', () => {
  const same = answers.map(
    (answer, at) =>
      ({ ...answer, verdict: at % 4 < 2 ? 'correct' : 'wrong', usage: { ...USAGE, llmCalls: 3 } }) as const,
  );
  const html = pageOf({ ...comparison, methods: compareMethods(entrants, same, () => 4) });
  expect(html.match(/>A, B<\/text>/g)).toHaveLength(1);
  expect(html).not.toMatch(/>[AB]<\/text>/);
});
