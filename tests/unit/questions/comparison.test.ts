import fc from '../../helpers/property';
import { compareMethods, type Entrant, type ResultLine, type Verdict } from '../../../src/questions';
import { answerLine, USAGE } from '../../helpers/answers';
import { agreementOf, estimate } from '../../../src/questions/statistics';

describe('the bootstrap interval', () => {
  test('the same values give the same interval, around their mean', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 20 }), (values) => {
        const one = estimate(values)!;
        expect(estimate(values)).toEqual(one);
        expect(one.low).toBeLessThanOrEqual(one.value + 1e-9);
        expect(one.high).toBeGreaterThanOrEqual(one.value - 1e-9);
      }),
      { numRuns: 30 },
    );
  });

  test('it is as wide as the normal one where that holds: 100 questions, half of them right', () => {
    const { value, low, high } = estimate(Array.from({ length: 100 }, (_, at) => at % 2))!;
    expect(value).toBe(0.5);
    expect(low).toBeCloseTo(0.5 - 1.96 * 0.05, 1);
    expect(high).toBeCloseTo(0.5 + 1.96 * 0.05, 1);
  });

  test('without variation it has no width, without values there is none', () => {
    expect(estimate([0.25, 0.25])).toEqual({ value: 0.25, low: 0.25, high: 0.25, questions: 2 });
    expect(estimate([])).toBeNull();
  });
});

const entrant = (method: string): Entrant => ({ method, models: { default: 'm' } });
const answer = (method: string, id: string, verdict: Verdict, more: Partial<ResultLine> = {}): ResultLine =>
  answerLine(id, { method, verdict, verdictReason: verdict, ...more });
const calls = (llmCalls: number) => ({ usage: { ...USAGE, llmCalls } });

describe('methods compared', () => {
  test('the judge is scored by question and held against execution; what it was not asked of is apart', () => {
    const by = (verdict: Verdict | null) => ({ judged: { verdict, reason: '' } });
    const [one] = compareMethods(
      [entrant('a')],
      [
        answer('a', '1', 'correct', by('correct')),
        answer('a', '1', 'wrong', { ...by('correct'), seed: 1 }),
        answer('a', '2', 'wrong', by('wrong-abstained')),
        answer('a', '3', 'correct-abstained', by('correct-abstained')),
        answer('a', '4', 'no-gold', by('no-gold')),
        answer('a', '5', 'correct', by(null)),
        answer('a', '6', 'gold-failed', by('correct')),
      ],
      () => 7,
    );
    expect(one?.judged).toMatchObject({
      ...{ right: 4, wrong: 0, declined: 1, apart: 2, accuracy: { value: 0.75, questions: 4 } },
      agreement: { compared: 4, bothRight: 2, bothWrong: 1, judgeRight: 1, executionRight: 0, share: 0.75 },
    });
    expect(compareMethods([entrant('a')], [answer('a', '1', 'correct')], () => 1)[0]).not.toHaveProperty('judged');
  });

  test('by the judge methods differ where they are equal by execution; a failed search is apart for both', () => {
    const judged = (verdict: Verdict | null) => ({ judged: { verdict, reason: '' } });
    const [first, second] = compareMethods(
      [entrant('a'), entrant('b')],
      [
        ...['1', '2', '3'].map((id) => answer('a', id, 'no-gold', judged(id === '1' ? 'correct' : 'wrong'))),
        ...['1', '2'].map((id) => answer('b', id, 'no-gold', judged('correct'))),
        answer('b', '3', 'infrastructure', judged(null)),
      ],
      () => 3,
    );
    expect(first?.judged).toMatchObject({ accuracy: { value: 1 / 3 }, difference: null });
    // The third question was judged for one of them alone.
    expect(second?.judged).toMatchObject({ right: 2, apart: 1, difference: { value: 0.5, questions: 2 } });
    expect(second?.difference?.accuracy).toBeNull();
  });

  test('an infrastructure failure is counted apart: in no accuracy, in no mean, in no difference', () => {
    const [first, second] = compareMethods(
      [entrant('a'), entrant('b')],
      [
        answer('a', '1', 'correct'),
        answer('a', '2', 'wrong'),
        answer('b', '1', 'correct'),
        answer('b', '2', 'infrastructure', { ...calls(99), verdictReason: 'the endpoint is down', proved: null }),
      ],
      () => 2,
    );
    expect(first).toMatchObject({ right: 1, wrong: 1, failed: 0, difference: null });
    expect(first?.perQuestion.accuracy).toMatchObject({ value: 0.5, questions: 2 });
    expect(second).toMatchObject({ right: 1, wrong: 0, failed: 1, failures: { 'the endpoint is down': 1 } });
    expect(second?.perQuestion).toMatchObject({ accuracy: { value: 1, questions: 1 }, calls: { value: 2 } });
    expect(second?.difference?.accuracy).toMatchObject({ value: 0, questions: 1 });
  });

  test('every verdict has one place, and what has no gold or no end is in no accuracy', () => {
    const verdicts: Verdict[] = [
      'correct-abstained',
      'wrong-answered',
      'wrong-abstained',
      'no-gold',
      'cancelled',
      'undecided',
    ];
    const answers = verdicts.map((verdict, at) => answer('a', String(at), verdict));
    const [only] = compareMethods([entrant('a')], answers, () => 8);
    expect(only).toMatchObject({ right: 1, wrong: 1, declined: 1, failed: 0, notScored: 3, missing: 2 });
    expect(only?.perQuestion.accuracy).toMatchObject({ value: 1 / 3, questions: 3 });
  });

  test('seeds are averaged inside a question, so that a question counts once', () => {
    const answers = [
      answer('a', '1', 'correct', { seed: 0, ...calls(1) }),
      answer('a', '1', 'wrong', { seed: 1, ...calls(3) }),
      answer('a', '2', 'correct', calls(8)),
    ];
    const [only] = compareMethods([entrant('a')], answers, () => 4);
    expect(only?.perQuestion.accuracy).toMatchObject({ value: 0.75, questions: 2 });
    expect(only?.perQuestion.calls).toMatchObject({ value: 5, questions: 2 });
  });

  test('differences are paired: where one is always right when the other is, there is no doubt of the sign', () => {
    const ids = Array.from({ length: 40 }, (_, at) => String(at));
    const answers = ids.flatMap((id, at) => [
      answer('a', id, at < 20 ? 'correct' : 'wrong'),
      answer('b', id, at < 26 ? 'correct' : 'wrong'),
    ]);
    const [first, second] = compareMethods([entrant('a'), entrant('b')], answers, () => 40);
    expect(second?.difference?.accuracy?.value).toBeCloseTo(0.15);
    expect(second?.difference?.accuracy?.low).toBeGreaterThan(0);
    // Unpaired the two intervals overlap.
    expect(second!.perQuestion.accuracy!.low).toBeLessThan(first!.perQuestion.accuracy!.high);
  });

  test('how much is proved is told of answers alone', () => {
    const answers = [
      answer('a', '1', 'correct', { proved: 0.5, standing: 'partly proved' }),
      answer('a', '2', 'wrong', { proved: 1 }),
    ];
    const [only] = compareMethods(
      [entrant('a')],
      [...answers, answer('a', '3', 'wrong-abstained', { proved: null })],
      () => 3,
    );
    expect(only?.proved).toBe(0.75);
  });
});

const pairs = (bothRight: number, judge: number, execution: number, bothWrong: number) => [
  ...Array.from({ length: bothRight }, () => ({ judge: true, execution: true })),
  ...Array.from({ length: judge }, () => ({ judge: true, execution: false })),
  ...Array.from({ length: execution }, () => ({ judge: false, execution: true })),
  ...Array.from({ length: bothWrong }, () => ({ judge: false, execution: false })),
];

// The figures of the usual textbook example: 20, 5, 10, 15 of 50.
test('agreement is corrected for chance', () => {
  const { share, kappa, ...counts } = agreementOf(pairs(20, 5, 10, 15));
  expect(counts).toEqual({ compared: 50, bothRight: 20, judgeRight: 5, executionRight: 10, bothWrong: 15 });
  expect(share).toBeCloseTo(0.7, 10);
  expect(kappa).toBeCloseTo(0.4, 10);
});

test.each([
  ['nothing was compared', pairs(0, 0, 0, 0), null, null],
  ['both call all right', pairs(4, 0, 0, 0), 1, null],
  ['always', pairs(2, 0, 0, 2), 1, 1],
  ['never', pairs(0, 2, 2, 0), 0, -1],
])('%s', (_, given, share, kappa) => {
  expect(agreementOf(given)).toMatchObject({ share, kappa });
});
