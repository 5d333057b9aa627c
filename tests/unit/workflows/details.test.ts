import type { AnswerSummary } from '../../../src/domain/ports/step-parts';
import { endingMarkdown, failureMarkdown, progressMarkdown } from '../../../src/workflows/details';
import { record } from '../report/fixture';

const { id, usage } = record;
const answered: AnswerSummary = {
  ...{ id, usage, status: 'answered', endedBy: 'agreement', answer: '4', reason: null },
  sql: 'SELECT 4',
  proof: ['op_gap proved: A gap.', 'op_x assumed: one row a day'],
};

describe('the details of a search that is over', () => {
  test('an answer stands with its proof, its SQL and where all evidence is', () => {
    const text = endingMarkdown(answered);
    expect(text).toMatch(/^\*\*answered\*\* \(ended by agreement\)\n\n\*\*Answer\*\* 4\n\n\*\*Proof\*\*/);
    expect(text).toContain('- op_gap proved: A gap.\n- op_x assumed: one row a day');
    expect(text).toContain('```sql\nSELECT 4\n```');
    expect(text).toContain(`gate show ${id}`);
    expect(text).toMatch(/\*\*Usage\*\* \d+ model calls/);
    expect(text).not.toContain('cached');
  });

  test('what is kept for later questions is counted', () => {
    expect(endingMarkdown({ ...answered, kept: 2 })).toContain('**Kept for later questions** 2 (`gate layer list`)');
    expect(endingMarkdown(answered)).not.toContain('Kept');
  });

  test('tokens from a cache are told where there were any', () => {
    const cached = { ...usage, promptTokens: 900, cachedTokens: 640, completionTokens: 100 };
    expect(endingMarkdown({ ...answered, usage: cached })).toContain('1,000 tokens (640 cached), ');
  });

  test('an answer without any proof does not seem to have one', () => {
    const { proof: _, ...bare } = answered;
    expect(endingMarkdown(bare)).toContain('**Proof** no reading was tested');
  });

  test.each(['unanswerable', 'abstained', 'cancelled', 'failed'] as const)('%s says why', (status) => {
    const text = endingMarkdown({ ...answered, status, answer: null, sql: null, proof: [], reason: 'no\nsuch table' });
    expect(text).toMatch(new RegExp(`^\\*\\*${status}\\*\\*`));
    expect(text).toContain('**Reason** no such table');
    expect(text).not.toContain('**Answer**');
    expect(text).not.toContain('**Proof**');
  });

  test('a search whose record could not be written says why, too', () => {
    expect(failureMarkdown('the store is full')).toContain('**Reason** the store is full');
  });
});

test('the details of a search under way begin with what it waits for, and since when', () => {
  const sinceMs = Date.UTC(2026, 0, 5, 10, 0, 7);
  const waiting = [
    { what: 'gpt-5.4', sinceMs },
    { what: 'gpt-5.4', sinceMs: sinceMs + 1_000 },
  ];
  const counts = { iteration: 1, iterations: 6, trajectories: 1, open: 1, candidates: 0, proved: 3 };
  const progress = { ...counts, bottleneck: null, learned: null, usage, plan: [], frontier: [], waiting };
  expect(progressMarkdown(progress)).toMatch(
    /^\*\*Waiting for gpt-5\.4 \(2 calls\) since 10:00:07 UTC\*\* · 11 queries done; 3 claims proved\n/,
  );
  expect(progressMarkdown({ ...progress, waiting: [] })).toMatch(/^\*\*Working\*\* · /);
});
