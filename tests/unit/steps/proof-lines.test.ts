import { proofLines } from '../../../src/steps/proof-lines';
import { record } from '../report/fixture';

const [evidence] = record.evidence;

describe('the proof in a few lines', () => {
  test('what is proved comes first, with the readings that it beat; then what is open', () => {
    const proved = { ...evidence!, operator: 'op_gap', state: 'proved' as const, reading: 'A gap.', rejected: [] };
    const rejected = [{ reading: 'A time.', verdict: 'refuted', reason: 'no' }];
    const lines = proofLines({
      evidence: [
        proved,
        { ...proved, operator: 'op_day', rejected },
        { ...proved, operator: 'op_x', state: 'assumed' },
      ],
      openAssumptions: [
        { operator: 'op_x', kind: 'assumption', statement: 'one row a day', risk: 0.1, alternative: null },
        { operator: null, kind: 'open-by-wording', statement: 'best by what', risk: null, alternative: null },
      ],
    });
    expect(lines).toEqual([
      'op_gap proved: A gap.',
      'op_day proved, 1 rejected: A gap.',
      'op_x assumed: one row a day',
      'open by wording: best by what',
    ]);
  });

  test('it stays small, and says what it leaves out', () => {
    const reading = 'long '.repeat(100);
    const many = Array.from({ length: 9 }, () => ({ ...evidence!, state: 'proved' as const, reading }));
    const lines = proofLines({ evidence: many, openAssumptions: [] });
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)).toBe('and 5 more');
    expect(JSON.stringify(lines).length).toBeLessThan(500);
  });
});
