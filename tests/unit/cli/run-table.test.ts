import type { Batch } from '../../../src/cli/batch-plan';
import type { ResultLine } from '../../../src/cli/batch-results';
import { runDisplay } from '../../../src/cli/run-table';

const batch = (batchId: string, questions: number): Batch => ({
  ...{ batchId, scope: 's', name: 's', settings: {} as never, searches: [] },
  questions: Array<never>(questions),
});
const line = (searchId: string, verdict: ResultLine['verdict']): ResultLine => ({
  ...{
    id: searchId,
    searchId,
    database: 'd',
    status: 'answered',
    question: 'How many?',
    endedBy: null,
    sql: null,
    answer: null,
    standing: null,
  },
  ...{ verdict, verdictReason: '', execution: null, official: null, wallMs: 1, error: null },
  usage: { llmCalls: 2, costUsd: 0.5 } as NonNullable<ResultLine['usage']>,
});

test('one table has a line for each batch under way and one for all, and notes stay above it', () => {
  let [text, now] = ['', 0];
  const io = { err: (more: string) => void (text += more), live: true, columns: 100, now: () => now };
  const batches = [batch('b-1', 3), batch('b-2', 4), batch('b-3', 5)];
  const display = runDisplay(
    batches.map((one, at) => ({ label: `react, seed ${at}`, batch: one })),
    io,
  );
  const [first, second] = [display.of(0), display.of(1)];
  first.ended(line('q-0', 'correct'), false);
  now = 60_000;
  first.started();
  second.started();
  now = 120_000;
  first.ended(line('q-1', 'correct'), true);
  first.ended(line('q-2', 'wrong'), true);
  second.ended(line('q-3', 'infrastructure'), true);
  second.inFlight([{ searchId: 'q-4', progress: null }], true);
  text = '';
  second.note('told');
  const plain = text.replace(/ +/g, ' ');
  expect(plain).toContain('react, seed 1: told\n0 of 3 batches done\n');
  expect(plain).toMatch(/react, seed 0 3 of 3 0 0 2 of 3 6 \$1\.50\d* 2\.0/);
  expect(plain).toMatch(/react, seed 1 1 of 4 1 1 2 \$0\.50\d* 1\.0 3 min/);
  expect(plain).toMatch(/all 4 of 12 1 1 2 of 3 8 \$2\.00?\d* 1\.5 5 min/);
  expect(plain).toContain('react, seed 1: paused: gate batch resume b-2 goes on');
  expect(plain).not.toContain('react, seed 2');
  text = '';
  first.stop();
  display.note('again');
  expect(text).toContain('1 of 3 batches done');
  expect(text).not.toContain('react, seed 0');
  display.stop();
  expect(text.endsWith('\u001b[0J')).toBe(true);
});
