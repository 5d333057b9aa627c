import {
  compareMethods,
  figuresOf,
  reliabilityOf,
  type Comparison,
  type Entrant,
  type ResultLine,
  type Verdict,
} from '../../../src/questions';
import { answerLine, USAGE } from '../../helpers/answers';
import type { Run } from '../../../src/report/run';
import { runMarkdown, runPage } from '../../../src/report/run-page';

const answer = (id: string, seed: number, verdict: Verdict, more: Partial<ResultLine> = {}): ResultLine =>
  answerLine(id, { seed, verdict, database: 'd', usage: { ...USAGE, costUsd: 0.5 }, ...more });
const calls = (llmCalls: number) => ({ usage: { ...USAGE, llmCalls, costUsd: 0.5 } });
const seeds = [0, 1].map((seed) => ({ seed, batchId: `b-${seed}`, metrics: { ex: seed === 0 ? 50 : 100 } }));

function runOf(answers: ResultLine[], more: Partial<Comparison>, text = 'text'): Run {
  const methods = [...new Set(answers.map(({ method }) => method))];
  const entrants = methods.map((method): Entrant => ({ method, models: {} }));
  const [first] = seeds;
  const figures = methods.map((method) =>
    figuresOf(
      method,
      answers.filter((one) => one.method === method),
      first === undefined ? [] : [first],
    ),
  );
  return {
    ...{ schemaVersion: 1, name: text, startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:00Z' },
    ...{ complete: true, command: 'gate', config: { text, sha256: '0' }, endpoint: 'here', models: [text] },
    versions: { gate: '1', node: '22', temporalServer: null, temporalSdk: '1' },
    prompts: {},
    sets: [
      {
        ...{
          name: text,
          note: text,
          remarks: [],
          benchmark: null,
          questionsSha256: '0',
          databases: [],
          settings: {},
          figures,
        },
        comparison: {
          ...{ file: text, questions: 2, seeds: 1, replayed: false, resamples: 100 },
          ...{ methods: compareMethods(entrants, answers, () => 2), ...more },
        },
      },
    ],
  };
}

test('mean and sample deviation are over seeds, and an infrastructure failure is in none of them', () => {
  const figures = figuresOf(
    'm',
    [
      ...[answer('1', 0, 'correct'), answer('2', 0, 'wrong'), answer('3', 0, 'infrastructure', calls(90))],
      ...[answer('1', 1, 'correct'), answer('2', 1, 'correct-abstained', calls(6))],
    ],
    seeds,
  );
  expect(figures.accuracy?.mean).toBe(0.75);
  expect(figures.accuracy?.sd).toBeCloseTo(Math.SQRT1_2 / 2, 10);
  expect(figures.calls).toMatchObject({ mean: 3, seeds: 2 });
  expect(figures.metrics['ex']).toMatchObject({ mean: 75, seeds: 2 });
  expect(figures.bySeed.map(({ accuracy, failed }) => [accuracy, failed])).toEqual([
    [0.5, 1],
    [1, 0],
  ]);
  expect(figures.verdicts).toEqual({ correct: 2, wrong: 1, infrastructure: 1, 'correct-abstained': 1 });
});

test('a right answer costs what all answers cost by the number of right ones; without one it has no cost', () => {
  const some = [answer('1', 0, 'correct'), answer('2', 0, 'wrong'), answer('3', 0, 'wrong-abstained')];
  expect(figuresOf('m', some, seeds.slice(0, 1)).perCorrect).toEqual({ calls: 6, costUsd: 1.5 });
  expect(figuresOf('m', some.slice(1), seeds.slice(0, 1)).perCorrect).toEqual({ calls: null, costUsd: null });
  expect(figuresOf('m', some, seeds.slice(0, 1)).accuracy).toEqual({ mean: 1 / 3, sd: null, seeds: 1 });
});

test('where a judge was asked, right answers, what one costs, and all groups are by its verdicts', () => {
  const by = (verdict: Verdict | null, more: Partial<ResultLine> = {}) => ({
    judged: { verdict, reason: '' },
    ...more,
  });
  const figures = figuresOf(
    'm',
    [
      answer('1', 0, 'no-gold', by('correct', { difficulty: 'easy' })),
      answer('2', 0, 'wrong', by('correct', { difficulty: 'hard' })),
      answer('3', 0, 'correct', by('wrong-abstained', { difficulty: 'hard', database: 'e' })),
      // The limit of cost was reached; and a search that failed.
      ...[answer('4', 0, 'wrong', by(null)), answer('5', 0, 'infrastructure', by(null))],
    ],
    seeds.slice(0, 1),
  );
  expect([figures.judged?.mean, figures.accuracy?.mean]).toEqual([2 / 3, 1 / 3]);
  expect(figures.perCorrect).toEqual({ calls: 5, costUsd: 1.25 });
  expect(figures.verdicts).toEqual({ correct: 2, 'wrong-abstained': 1, undecided: 1, infrastructure: 1 });
  expect(figures.bySeed).toMatchObject([{ right: 2, wrong: 0, declined: 1, failed: 1, notScored: 1, accuracy: 2 / 3 }]);
  expect(figures.byDatabase.map(({ name, right }) => [name, right])).toEqual([
    ['d', 2],
    ['e', 0],
  ]);
  expect(figures.byDifficulty.map(({ name, accuracy }) => [name, accuracy])).toEqual([
    ['easy', 1],
    ['hard', 0.5],
    ['', null],
  ]);
});

test('groups are by database and by difficulty, easiest first; updates are summed', () => {
  const reuse = { updates: 4, reused: 3, reuses: 9 };
  const {
    byDatabase,
    byDifficulty,
    reuse: all,
  } = figuresOf(
    'm',
    [
      answer('1', 0, 'correct', { difficulty: 'challenging', reuse }),
      answer('2', 0, 'wrong', { difficulty: 'simple', database: 'e', reuse }),
      answer('3', 0, 'correct', { difficulty: 'moderate' }),
    ],
    seeds.slice(0, 1),
  );
  expect(byDatabase.map(({ name, questions, accuracy }) => [name, questions, accuracy])).toEqual([
    ['d', 2, 1],
    ['e', 1, 0],
  ]);
  expect(byDifficulty.map(({ name }) => name)).toEqual(['simple', 'moderate', 'challenging']);
  expect(all).toEqual({ searches: 2, updates: 8, reused: 6, reuses: 18 });
});

test('a report says whose figures it has: those of the judge, with their difference, and beside them execution', () => {
  const by = (verdict: Verdict): Partial<ResultLine> => ({ judged: { verdict, reason: '' } });
  const answers = [
    ...[answer('1', 0, 'correct', by('wrong')), answer('2', 0, 'correct', by('wrong'))],
    ...['1', '2'].map((id) => answer(id, 0, 'wrong', { method: 'n', ...by('correct') })),
  ];
  const run = runOf(answers, { judge: { mode: 'single', model: 'judge-1', version: 1 } });
  const markdown = runMarkdown(run);
  expect(markdown).toContain('By the judge. Differences are to m');
  expect(markdown).toMatch(/^\| m \| 0\.0 \| 0\.0 % .* \|  \| 100\.0 \|$/m);
  expect(markdown).toMatch(/^\| n \| 100\.0 \| 100\.0 % .* \| \+100\.0 .* \| 0\.0 \|$/m);
  expect(markdown).toContain('Figures are those of the single judge, judge-1');
  const page = runPage(run);
  expect(page).toMatch(/Accuracy less that of m<\/b>, by the judge,/);
  expect(page).toContain('n +100.0 [+100.0, +100.0]');
});

test('Markdown puts numbers alone to the right', () => {
  const answers = [answer('1', 0, 'correct', { difficulty: 'easy' }), answer('2', 0, 'wrong', { difficulty: 'hard' })];
  const run = runOf(answers, {});
  const alignments = runMarkdown(run).match(/(?<=\| method \| difficulty .*\n).*/)?.[0];
  expect(alignments).toMatch(/^\| --- \| --- \| ---: \|/);
});

test('what names and reasons hold stays text, on the page and in Markdown', () => {
  const hostile = '<script>alert(1)</script> | [x](http://e) `y`';
  const answers = [answer('1', 0, 'correct', { difficulty: hostile }), answer('2', 0, 'wrong', { difficulty: 'easy' })];
  const run = runOf(answers, {}, hostile);
  const page = runPage(run);
  expect(page).not.toContain('<script>');
  const markdown = runMarkdown(run)
    .split('\n')
    .filter((line) => !line.startsWith('    '));
  expect(markdown.join('\n')).not.toMatch(/<script>|[^\\]\]\(http/);
});

test('reliability is given where unanswerable questions were judged', () => {
  const [right, abstained, wrong] = (['correct', 'correct-abstained', 'wrong-answered'] as const).map((verdict, at) =>
    answer(String(at), 0, verdict),
  ) as [ResultLine, ResultLine, ResultLine];
  expect(reliabilityOf([right, abstained, wrong])?.['RS(10)']).toBeCloseTo((100 * (2 - 10)) / 3);
  expect(reliabilityOf([right])).toBeNull();
});

test('where no question has gold, no accuracy is spoken of, and failures are listed with their reason', () => {
  const down = { verdictReason: 'bad key', status: 'infrastructure-failure' } as const;
  const answers = [answer('1', 0, 'no-gold'), answer('2', 0, 'infrastructure', down)];
  const markdown = runMarkdown(runOf(answers, {}));
  expect(markdown).toMatch(/### How answers ended\n[^|]*\| method \| answered \| infrastructure-failure \| open \|/);
  expect(markdown).toContain('| m | 1 | bad key |');
  expect(markdown).not.toContain('### Accuracy');
});
