import { proofLines } from '../../../src/text/standing';
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

  test('of claims what is not shown comes first; what holds is told by its counts', () => {
    const claim = {
      ...{
        operator: 'op_gap',
        statement: 'B is in ms.',
        rows: 'laps',
        check: '',
        reason: null,
        matching: 20,
        examined: 20,
      },
      rivals: [
        { reading: 'all s', matching: 10, examined: 20, verdict: 'refuted' as const },
        { reading: 'rounded', matching: 20, examined: 20, verdict: 'same-answer' as const },
      ],
    };
    const lines = proofLines({
      evidence: [{ ...evidence!, state: 'proved' as const }],
      claims: [
        { ...claim, state: 'proved' },
        { ...claim, state: 'failed', statement: 'All is in s.', reason: 'it holds for 10 of 20 (50 %) only' },
        { ...claim, state: 'exceptions', matching: 19, rivals: [] },
      ],
      openAssumptions: [
        { operator: 'op_gap', kind: 'assumption', statement: 'All is in s.', risk: 0.6, alternative: null },
        { operator: 'op_x', kind: 'assumption', statement: 'one row a day', risk: 0.1, alternative: null },
      ],
    });
    expect(lines).toEqual([
      'NOT shown: "All is in s."; it holds for 10 of 20 (50 %) only',
      'proved: 20 of 20 laps, 1 rival refuted: B is in ms.',
      'holds for 19 of 20 laps, 1 exception: B is in ms.',
      'op_x assumed: one row a day',
    ]);
  });

  test('a claim from an earlier question says so; what holds no longer comes before what is proved', () => {
    const entry = { entryId: 'e0123456789abcdef', provedAt: '2026-11-20T09:00:00.000Z', searchId: 'q-1' };
    const withheld = [{ entryId: 'e1', statement: 'C is in ms.', why: 'it holds for 12 of 24 (50 %) only' }];
    const layer = { shown: 1, withheld, kept: [{ entryId: 'e2', statement: 'D is in m.' }] };
    const gone = 'No longer holds: "C is in ms."; it holds for 12 of 24 (50 %) only';
    const claim = {
      ...{ operator: 'op_gap', statement: 'B is in ms.', rows: 'laps', check: '', reason: null, rivals: [], entry },
      ...{ state: 'proved' as const, matching: 20, examined: 20 },
    };
    const one = {
      evidence: [{ ...evidence!, state: 'proved' as const, reading: 'A gap.' }],
      openAssumptions: [],
      layer,
    };
    expect(proofLines({ ...one, claims: [claim] })).toEqual([
      gone,
      'proved before and again: 20 of 20 laps: B is in ms.',
    ]);
    expect(proofLines({ ...one, claims: [] })).toEqual(['unchecked: nothing was claimed, so nothing was proved', gone]);
    expect(proofLines(one)).toEqual([gone, expect.stringContaining(' proved')]);
  });

  test('an answer that claims nothing is unchecked, a decline without counts says nothing', () => {
    const open = { claims: [], openAssumptions: [] };
    expect(proofLines({ ...open, evidence: [{ ...evidence!, state: 'assumed' }] })).toEqual([
      'unchecked: nothing was claimed, so nothing was proved',
    ]);
    expect(proofLines({ ...open, evidence: [] })).toEqual([]);
  });

  test('a decline has its counts', () => {
    const absent = { statement: 'No lap has a driver.', rows: 'laps', check: '', rivals: [], reason: null };
    const claims = [{ ...absent, operator: null, state: 'proved' as const, matching: 20, examined: 20, control: 18 }];
    expect(proofLines({ evidence: [], claims, openAssumptions: [] })).toEqual([
      '0 of 20 laps have it recorded, beside 18 with a comparable fact: "No lap has a driver."',
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
