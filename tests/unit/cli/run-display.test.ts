import type { Batch } from '../../../src/app/run/batch-plan';
import { runDisplay } from '../../../src/cli/run-display';
import { answerLine, USAGE } from '../../helpers/answers';

const usage = { ...USAGE, costUsd: 0.5 };
const batch = (batchId: string, questions: number): Batch => ({
  ...{ batchId, name: 's', settings: {} as never, searches: [] },
  questions: Array.from({ length: questions }, (_, n) => ({
    ...{ item: { id: String(n), question: `How many ${n}?`, database: 'd' }, input: { searchId: `q-${n}` } },
    database: { name: 'd' },
  })) as never,
});

function display(counts: readonly number[], more: { readonly live?: boolean } = {}) {
  const told = { text: '', now: 0 };
  const io = {
    err: (text: string) => void (told.text += text),
    live: true,
    columns: 100,
    now: () => told.now,
    ...more,
  };
  const shown = runDisplay(io);
  const arms = counts.map((count, at) => ({ label: `react, seed ${at}`, batch: batch(`b-${at + 1}`, count) }));
  shown.tell({ kind: 'planned', arms });
  return { ...shown, told };
}

test('one table has a line for each batch under way and one for all, and notes stay above it', () => {
  const { tell, told, stop } = display([3, 4, 5]);
  const ended = (arm: number, id: string, verdict: 'correct' | 'wrong' | 'infrastructure', now = true) =>
    tell({ kind: 'ended', arm, line: answerLine(id, { verdict, usage }), now });
  ended(0, '0', 'correct', false);
  told.now = 60_000;
  tell({ kind: 'started', arm: 0 });
  tell({ kind: 'started', arm: 1 });
  told.now = 120_000;
  ended(0, '1', 'correct');
  ended(0, '2', 'wrong');
  ended(1, '3', 'infrastructure');
  tell({ kind: 'in-flight', arm: 1, searches: ['q-4'], paused: true });
  told.text = '';
  tell({ kind: 'note', arm: 1, text: 'told' });
  const plain = told.text.replace(/ +/g, ' ');
  expect(plain).toContain('react, seed 1: told\n0 of 3 batches done\n');
  expect(plain).toMatch(/react, seed 0 3 of 3 0 0 2 of 3 6 \$1\.50\d* 2\.0/);
  expect(plain).toMatch(/react, seed 1 1 of 4 1 1 2 \$0\.50\d* 1\.0 3 min/);
  expect(plain).toMatch(/all 4 of 12 1 1 2 of 3 8 \$2\.00?\d* 1\.5 5 min/);
  expect(plain).toContain('react, seed 1: paused: gate resume b-2 goes on');
  expect(plain).not.toContain('react, seed 2');
  told.text = '';
  tell({ kind: 'over', arm: 0 });
  tell({ kind: 'note', arm: null, text: 'again' });
  expect(told.text).toContain('1 of 3 batches done');
  expect(told.text).not.toContain('react, seed 0');
  stop();
  expect(told.text.endsWith('\u001b[0J')).toBe(true);
});

test('a batch alone shows its figures', () => {
  const { tell, told, stop } = display([2]);
  tell({ kind: 'in-flight', arm: 0, searches: ['q-1'], paused: false });
  tell({ kind: 'ended', arm: 0, line: answerLine('0'), now: true });
  tell({ kind: 'note', arm: 0, text: 'a note' });
  tell({ kind: 'ended', arm: 0, line: answerLine('1'), now: true });
  tell({ kind: 'note', arm: 0, text: 'the last' });
  stop();
  expect(told.text).toMatch(/a note\n1 of 2 done, 1 running, correct 1 of 1 \(100\.0 %\), 2 model calls, \$0\.010/);
  expect(told.text).toMatch(/the last\n2 of 2 done, correct/);
});

test('off a terminal each end is a line', () => {
  const { tell, told, stop } = display([1, 1], { live: false });
  tell({ kind: 'started', arm: 0 });
  tell({ kind: 'ended', arm: 0, line: answerLine('0'), now: true });
  tell({ kind: 'in-flight', arm: 1, searches: [], paused: true });
  stop();
  expect(told.text.trimEnd().split('\n')).toEqual([
    'react, seed 0: b-1: 0 of 1 done, 0 model calls, $0',
    'react, seed 0: 1/1 0 correct (2 calls, $0.010, 10 ms)',
    'react, seed 1: paused: gate resume b-2 goes on',
  ]);
});
