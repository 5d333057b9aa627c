/**
 * What a careful planner and judge would reply to the sprint question in the search, written by hand. The first plan leaves the runner-up's gap open and brings three rival readings with a probe that checks each against the
 * stored durations; the second plan is a different derivation, from the durations alone.
 */

/** Both plans read the same JSON column. */
const FINISHER = (position: string, field: string) => `${position}.performance ->> '$.${field}'`;

const ABSOLUTE = (time: string) =>
  `CAST(substr(${time}, 1, instr(${time}, ':') - 1) AS INTEGER) * 60 + CAST(substr(${time}, instr(${time}, ':') + 1) AS REAL)`;

const PROBE = `SELECT w.event_id,
       ${FINISHER('w', 'timing.final_time')} AS winner_time,
       ${FINISHER('r', 'timing.final_time')} AS runner_up_time,
       ((${FINISHER('r', 'timing.duration_ms')}) - (${FINISHER('w', 'timing.duration_ms')})) / 1000.0 AS stored_gap_s
FROM sprint_results AS w
JOIN sprint_results AS r ON r.event_id = w.event_id AND ${FINISHER('r', 'final_position')} = 2
WHERE ${FINISHER('w', 'final_position')} = 1
ORDER BY stored_gap_s DESC`;

const EXAMINED = '(SELECT count(*) FROM observation)';
const agreeing = (gap: string, filter: string) =>
  `(SELECT count(*) FROM observation WHERE ${filter} AND abs((${gap}) - stored_gap_s) < 0.0005)`;

const GAP_SECONDS_ONLY = 'CAST(substr(runner_up_time, 2) AS REAL)';
const GAP_WITH_MINUTES = `CASE WHEN instr(runner_up_time, ':') > 0 THEN ${ABSOLUTE('substr(runner_up_time, 2)')} ELSE ${GAP_SECONDS_ONLY} END`;
const ABSOLUTE_DIFFERENCE = `(${ABSOLUTE('runner_up_time')}) - (${ABSOLUTE('winner_time')})`;

const reading = (id: string, mapping: string, expectation: string, gap: string, filter: string, sql: string) => ({
  id,
  mapping,
  expectation,
  predicates: [`(SELECT count(*) > 0 AND ${agreeing(gap, filter)} = count(*) FROM observation)`],
  agreement: { matching: agreeing(gap, filter), examined: EXAMINED },
  sql,
});

const ABSOLUTE_BODY = `SELECT r.event_id, (${ABSOLUTE('r.final_time')}) - (${ABSOLUTE('w.final_time')}) AS gap_seconds
FROM op_finishers AS r
JOIN op_finishers AS w ON w.event_id = r.event_id AND w.finish_position = 1
WHERE r.finish_position = 2`;

const SECONDS_BODY = `SELECT event_id, CAST(substr(final_time, 2) AS REAL) AS gap_seconds
FROM op_finishers
WHERE finish_position = 2 AND final_time LIKE '+%'`;

const MINUTES_BODY = `SELECT event_id,
       CASE WHEN instr(final_time, ':') > 0
            THEN CAST(substr(final_time, 2, instr(final_time, ':') - 2) AS INTEGER) * 60
                 + CAST(substr(final_time, instr(final_time, ':') + 1) AS REAL)
            ELSE CAST(substr(final_time, 2) AS REAL) END AS gap_seconds
FROM op_finishers
WHERE finish_position = 2 AND final_time LIKE '+%'`;

const SENTENCE = '{dominant_victories} of {examined} sprint events were won by more than five seconds.';

export const firstPlan = {
  outline:
    'Take every finisher with position and final_time, derive the gap between winner and runner-up per event, and count gaps above 5 s. How final_time encodes the gap is not documented, so that step stays open.',
  kind: 'plan',
  reason: null,
  operators: [
    {
      name: 'op_finishers',
      purpose: 'One row per finisher of a sprint event, with position and final_time as stored.',
      intent: 'finishers of sprint events with their position and final time',
      relations: ['sprint_results'],
      inputs: [],
      columns: [
        { name: 'event_id', type: 'integer', meaning: 'the sprint event' },
        { name: 'finish_position', type: 'integer', meaning: '1 for the winner, 2 for the runner-up' },
        { name: 'final_time', type: 'text', meaning: 'final_time as stored' },
      ],
      grain: ['event_id', 'finish_position'],
      mapping: null,
      sql: `SELECT event_id, ${FINISHER('sprint_results', 'final_position')} AS finish_position, ${FINISHER('sprint_results', 'timing.final_time')} AS final_time
FROM sprint_results`,
      assumptions: [
        {
          kind: 'meaning',
          statement: 'final_position is the classification, one finisher per position and event',
          risk: 0.05,
        },
      ],
    },
    {
      name: 'op_gap',
      purpose: 'The gap between winner and runner-up of each event, in seconds.',
      intent: 'gap in seconds between winner and runner-up per sprint event',
      relations: [],
      inputs: ['op_finishers'],
      columns: [
        { name: 'event_id', type: 'integer', meaning: 'the sprint event' },
        { name: 'gap_seconds', type: 'number', meaning: 'runner-up behind the winner, in seconds' },
      ],
      grain: ['event_id'],
      mapping:
        "The runner-up's final_time is either an absolute time, to be compared with the winner's, or already the gap; the profile shows values with and without a leading +, and with and without minutes. The stored durations tell.",
      sql: null,
      assumptions: [],
    },
    {
      name: 'op_answer',
      purpose: 'Count the dominant victories.',
      intent: 'number of sprint events won by more than five seconds',
      relations: [],
      inputs: ['op_gap'],
      columns: [{ name: 'dominant_victories', type: 'integer', meaning: 'events with a gap above 5 s' }],
      grain: [],
      mapping: null,
      sql: 'SELECT count(*) AS dominant_victories FROM op_gap WHERE gap_seconds > 5',
      assumptions: [],
    },
  ],
  ordered: false,
  control: 'SELECT count(*) AS events_examined FROM op_gap WHERE gap_seconds IS NOT NULL',
  sentence: SENTENCE,
  wording: [],
  bottleneck: 'op_gap',
  potential: 3,
  tests: [
    {
      operator: 'op_gap',
      probe: PROBE,
      hypotheses: [
        reading(
          'h1',
          "Both times are absolute: the gap is the runner-up's final_time minus the winner's.",
          'The difference of the two times equals the difference of the stored durations.',
          ABSOLUTE_DIFFERENCE,
          "instr(runner_up_time, ':') > 0 AND instr(winner_time, ':') > 0",
          ABSOLUTE_BODY,
        ),
        reading(
          'h2',
          "The runner-up's final_time is the gap in seconds, after a leading +.",
          'The number after + equals the difference of the stored durations in every event.',
          GAP_SECONDS_ONLY,
          "runner_up_time LIKE '+%'",
          SECONDS_BODY,
        ),
        reading(
          'h3',
          "The runner-up's final_time is the gap after a leading +, as M:SS.mmm when it reaches a minute and as seconds otherwise.",
          'Read with minutes where there is a colon, it equals the difference of the stored durations in every event.',
          GAP_WITH_MINUTES,
          "runner_up_time LIKE '+%'",
          MINUTES_BODY,
        ),
      ],
    },
  ],
};

export const judgement = (observationId: string) => ({
  judgements: [
    {
      operator: 'op_gap',
      observation: observationId,
      verdicts: [
        {
          hypothesis: 'h1',
          reason: 'No runner-up has an absolute time: every value starts with + and none matches as a difference.',
          verdict: 'refuted',
        },
        {
          hypothesis: 'h2',
          reason: 'It matches 17 of 18 events; +1:04.210 is 64.210 s by the durations, not 1.',
          verdict: 'refuted',
        },
        {
          hypothesis: 'h3',
          reason: 'It equals the stored durations in all 18 events, the one with minutes included.',
          verdict: 'supported',
        },
      ],
      winner: 'h3',
      sql: MINUTES_BODY,
      summary:
        "The runner-up's final_time is the gap to the winner, written +S.mmm, or +M:SS.mmm from a minute on; it equals the stored durations in 18 of 18 events. The winner's is an absolute time.",
    },
  ],
  facts: ['final_time is an absolute time for the winner and a gap with a leading + for everybody else'],
  tryNext: [],
  avoid: ['subtracting the two final_time values'],
  delta: null,
  impossible: null,
  written: [],
  tests: [],
});

export const secondPlan = {
  outline:
    'Leave final_time aside: subtract the stored durations of winner and runner-up per event and count differences above 5,000 ms.',
  kind: 'plan',
  reason: null,
  operators: [
    {
      name: 'op_duration_gap',
      purpose: 'Difference of the stored durations of runner-up and winner per event, in milliseconds.',
      intent: 'difference of stored durations between winner and runner-up per sprint event, in milliseconds',
      relations: ['sprint_results'],
      inputs: [],
      columns: [
        { name: 'event_id', type: 'integer', meaning: 'the sprint event' },
        { name: 'gap_ms', type: 'integer', meaning: 'runner-up behind the winner, in milliseconds' },
      ],
      grain: ['event_id'],
      mapping: null,
      sql: `SELECT event_id,
       max(CASE WHEN ${FINISHER('sprint_results', 'final_position')} = 2 THEN ${FINISHER('sprint_results', 'timing.duration_ms')} END)
       - max(CASE WHEN ${FINISHER('sprint_results', 'final_position')} = 1 THEN ${FINISHER('sprint_results', 'timing.duration_ms')} END) AS gap_ms
FROM sprint_results
GROUP BY event_id`,
      assumptions: [{ kind: 'unit', statement: 'duration_ms is the whole race time in milliseconds', risk: 0.1 }],
    },
    {
      name: 'op_answer',
      purpose: 'Count the dominant victories.',
      intent: 'number of sprint events won by more than five seconds, by stored durations',
      relations: [],
      inputs: ['op_duration_gap'],
      columns: [{ name: 'dominant_victories', type: 'integer', meaning: 'events with a gap above 5 s' }],
      grain: [],
      mapping: null,
      sql: 'SELECT count(*) AS dominant_victories FROM op_duration_gap WHERE gap_ms > 5000',
      assumptions: [],
    },
  ],
  ordered: false,
  control: 'SELECT count(*) AS events_examined FROM op_duration_gap WHERE gap_ms IS NOT NULL',
  sentence: SENTENCE,
  wording: [],
  bottleneck: null,
  potential: 1,
  tests: [],
};
