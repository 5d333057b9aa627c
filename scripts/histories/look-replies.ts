/** Replies of the role `look` behind the recorded histories: those of the demo, bent so that a conversation takes another way. */
import { commit, look } from './sprint-replies';

export { commit, look };

const [gap, place] = commit.claims;

/** Reads a column that is not there: it goes back as an error of execution. */
export const failingCommit = {
  ...commit,
  operators: commit.operators.map((operator) => ({
    ...operator,
    sql: operator.sql.replace('place = 2', 'places = 2'),
  })),
};

/** The gap without minutes. Its claim holds for 96 of 126. */
export const wrongCommit = (() => {
  const [absolute, seconds] = gap?.rivals ?? [];
  const minutes = seconds?.instead.of ?? '';
  const [behind, ...others] = commit.operators;
  const operators = [{ ...behind, sql: behind?.sql.replace(minutes, seconds?.instead.put ?? '') }, ...others];
  const rivals = [
    absolute,
    { reading: 'With minutes before the colon.', instead: { of: seconds?.instead.put, put: minutes } },
  ];
  return { ...commit, operators, claims: [{ ...gap, rivals }, place] };
})();

/** Its check examines too few rows to show anything. */
export const openCommit = {
  ...commit,
  claims: [{ ...gap, check: `${gap?.check ?? ''}\nWHERE behind.event_id = 1 AND behind.place < 5` }],
};

export const decline = {
  action: 'unanswerable',
  reason: 'No column records how a sprint was decided.',
  absent: [
    {
      statement: 'No result has a reason for its place.',
      rows: 'results',
      check:
        "SELECT count(*) AS asked, count(performance ->> '$.reason') AS recorded, count(performance ->> '$.points') AS points FROM sprint_results",
    },
  ],
};

const [behind] = commit.operators;
const seconds = gap?.rivals[1];
const STORED_GAP = `SELECT finisher.performance ->> '$.timing.final_time' AS t,
       ((finisher.performance ->> '$.timing.duration_ms') - (winner.performance ->> '$.timing.duration_ms')) / 1000.0 AS gap
FROM sprint_results AS finisher
JOIN sprint_results AS winner ON winner.event_id = finisher.event_id AND winner.performance ->> '$.final_position' = 1
WHERE finisher.performance ->> '$.final_position' > 1`;

const reading = (id: string, mapping: string, column: string, sql: string | undefined) => ({
  ...{ id, mapping, expectation: 'It equals the difference of the stored durations.', sql },
  predicates: [`(SELECT n > 0 AND ${column} = n FROM observation)`],
  agreement: { matching: `(SELECT ${column} FROM observation)`, examined: '(SELECT n FROM observation)' },
});

/** The search tests over all finishers what the conversation left open. */
export const behindTest = {
  operator: 'op_behind',
  probe: `SELECT count(*) AS n, sum(abs((${seconds?.instead.of ?? ''}) - gap) < 0.0005) AS with_minutes,
       sum(abs(${seconds?.instead.put ?? ''} - gap) < 0.0005) AS seconds_only
FROM (${STORED_GAP}) AS stored`,
  hypotheses: [
    reading('h1', gap?.statement ?? '', 'with_minutes', behind?.sql),
    reading(
      'h2',
      seconds?.reading ?? '',
      'seconds_only',
      behind?.sql.replace(seconds?.instead.of ?? '', seconds?.instead.put ?? ''),
    ),
  ],
};

export const behindJudgement = (observation: string) => ({
  judgements: [
    {
      ...{ operator: 'op_behind', observation, winner: 'h1', sql: behind?.sql ?? null },
      verdicts: [
        { hypothesis: 'h1', reason: 'It equals the stored durations in all 126.', verdict: 'supported' },
        { hypothesis: 'h2', reason: 'It misses the minutes of 30.', verdict: 'refuted' },
      ],
      summary: 'Behind the winner final_time is the gap, with minutes before a colon.',
    },
  ],
  ...{ facts: [], tryNext: [], avoid: [], delta: null, impossible: null, written: [], tests: [] },
});
