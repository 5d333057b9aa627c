/** What is told of a batch that ended while the model endpoint was down. */
import { endOfBatch } from '../../../../src/app/run/follow-batch';
import type { BatchProgress } from '../../../../src/workflows/batch-progress';

// Of three questions one was asked in this run: the others are none of its own, or had no turn.
const progress: BatchProgress = {
  ...{ batchId: 'b-1', total: 3, done: 1, inFlight: [], stopping: false, held: 'no key' },
  counts: { ...{ answered: 0, unanswerable: 0, abstained: 0, cancelled: 0, failed: 0 }, 'infrastructure-failure': 1 },
};

test.each<[string, Partial<BatchProgress>, number, readonly string[]]>([
  [
    'questions that it did not start are named',
    {},
    2,
    ['2 questions not started, because the model does not answer: no key'],
  ],
  ['a retry of one question leaves none unasked', {}, 0, []],
  ['a cancellation is not the fault of the model', { stopping: true }, 2, []],
])('%s', (_claim, more, left, told) => {
  const notes: string[] = [];
  endOfBatch({ ...progress, ...more }, left, (line) => void notes.push(line));
  expect(notes).toEqual(told);
});
