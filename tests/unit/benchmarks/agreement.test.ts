import { agreementOf } from '../../../src/benchmarks';

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
