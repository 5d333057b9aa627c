/** A plan whose probe decides which of the gaps of a table `lap` are in milliseconds: those of device B. */
import { planReply } from '../unit/roles/fixtures';

const SECONDS = "CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END";
export const GAP_PROBE =
  "SELECT count(*) AS n, sum(abs(CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END - behind_s) < 0.001) AS by_device, sum(abs(gap - behind_s) < 0.001) AS plain FROM lap";
const reading = (id: string, mapping: string, column: string, sql: string): object => ({
  ...{ id, mapping, expectation: 'the gap equals the seconds beside it', predicates: [] },
  ...{ agreement: { matching: `(SELECT ${column} FROM observation)`, examined: '(SELECT n FROM observation)' }, sql },
});
const GAPS = `SELECT car, ${SECONDS} AS s FROM lap`;
/** The plan of a search whose probe decides what a gap is. */
export const GAP_PLAN = planReply({
  outline: 'gaps, mean',
  operators: [
    {
      ...{ name: 'op_gap', purpose: 'gaps', intent: 'the gap of each lap in seconds', relations: ['lap'], inputs: [] },
      columns: [
        { name: 'car', type: 'integer', meaning: '' },
        { name: 's', type: 'number', meaning: '' },
      ],
      ...{ grain: [], mapping: 'seconds or milliseconds?', sql: null, assumptions: [] },
    },
    {
      ...{ name: 'op_answer', purpose: 'the mean', intent: 'the mean gap', relations: [], inputs: ['op_gap'] },
      ...{ columns: [{ name: 'gap', type: 'number', meaning: '' }], grain: [], mapping: null, assumptions: [] },
      sql: 'SELECT avg(s) AS gap FROM op_gap WHERE car = 3',
    },
  ],
  control: 'SELECT count(*) FROM op_gap',
  tests: [
    {
      ...{ operator: 'op_gap', probe: GAP_PROBE },
      hypotheses: [
        reading('h1', 'lap.gap of device B is in milliseconds, else in seconds', 'by_device', GAPS),
        reading('h2', 'lap.gap is in seconds', 'plain', 'SELECT car, gap AS s FROM lap'),
      ],
    },
  ],
});
