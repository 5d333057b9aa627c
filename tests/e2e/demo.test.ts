import type { AnswerRecord } from '../../src/domain';
import { gateHome } from '../helpers/gate-process';
import { violations } from '../helpers/json-schema';

const ANSWER = 'In 4 of 18 sprint events the winner beat the runner-up by more than five seconds.';
/** Nothing listens there: the demo asks no model. */
const NO_MODEL = 'http://127.0.0.1:9/v1';

describe('gate demo', () => {
  test('prints the proof and the answer; run again it has the same database, and the record as JSON', async () => {
    const home = gateHome({ baseUrl: NO_MODEL });
    const shown = await home.here(['demo']);
    expect(shown.code).toBe(0);
    for (const part of [
      'claimed   duration_ms less the winner',
      'counted   126 of 126 results behind the winner',
      '(refuted, 0 of 126)',
      `Answer  ${ANSWER}\nProved.\nProved: "duration_ms less the winner's`,
      'Report',
    ])
      expect(shown.out).toContain(part);

    const { code, out, err } = await home.run(['demo', '--json']);
    expect(err).toContain('REPLAYED');
    // Nobody is told that the file is another one.
    expect(err).not.toMatch(/another (file|database)/);
    expect(code).toBe(0);
    const record = JSON.parse(out) as AnswerRecord & { report: string; ui: string | null };
    expect(record).toMatchObject({ status: 'answered', endedBy: 'settled', answer: ANSWER, rows: [[4]] });
    expect(record.usage).toMatchObject({ llmCalls: 2, costUsd: 0 });
    const [step] = record.evidence;
    expect(step).toMatchObject({ operator: 'op_answer', state: 'proved', observed: { rowCount: 1 } });
    expect(step?.rejected.map(({ verdict }) => verdict)).toEqual(['refuted', 'refuted']);
    const counted = (record.claims ?? []).map(({ state, matching, examined, rivals }) => [
      state,
      `${String(matching)} of ${String(examined)}`,
      ...rivals.map((rival) => `${String(rival.matching)} of ${String(rival.examined)}, ${rival.verdict}`),
    ]);
    expect(counted).toEqual([['proved', '126 of 126', '96 of 126, refuted', '0 of 126, refuted']]);
    expect(record.report).toMatch(/\.html$/);
    expect(violations('answer', record)).toEqual([]);
  });
});
