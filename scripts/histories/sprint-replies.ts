/**
 * A look and a commit on the question of the demo, written by hand (no model was asked), for the recorded histories.
 * One look at how final_time is written, then a commit with two claims. Both are counted over stored durations, which nobody
 * had to be told about; one lets the program repeat the check under each rival, the other counts its rival itself.
 */

const FIELD = (path: string) => `performance ->> '$.${path}'`;

/** A gap after its plus sign, in seconds. */
const WITH_MINUTES = `CASE WHEN instr(t, ':') > 0
            THEN CAST(substr(t, 2, instr(t, ':') - 2) AS REAL) * 60 + CAST(substr(t, instr(t, ':') + 1) AS REAL)
            ELSE CAST(substr(t, 2) AS REAL) END`;
const SECONDS_ONLY = 'CAST(substr(t, 2) AS REAL)';
const ABSOLUTE = (time: string) =>
  `CAST(substr(${time}, 1, instr(${time}, ':') - 1) AS REAL) * 60 + CAST(substr(${time}, instr(${time}, ':') + 1) AS REAL)`;

const FINISHERS = `(SELECT event_id, ${FIELD('final_position')} AS place, ${FIELD('timing.final_time')} AS t FROM sprint_results)`;

const BEHIND = `SELECT event_id, place, ${WITH_MINUTES} AS gap_s
FROM ${FINISHERS} AS finisher
WHERE place > 1`;

const BOTH_ABSOLUTE = `SELECT finisher.event_id, finisher.place, (${ABSOLUTE('finisher.t')}) - (${ABSOLUTE('winner.t')}) AS gap_s
FROM ${FINISHERS} AS finisher
JOIN ${FINISHERS} AS winner ON winner.event_id = finisher.event_id AND winner.place = 1
WHERE finisher.place > 1`;

/** The stored race times, in milliseconds. */
const DURATIONS = `(SELECT event_id, ${FIELD('final_position')} AS place, ${FIELD('timing.duration_ms')} AS ms FROM sprint_results)`;

const GAP_CHECK = `SELECT count(*) AS examined, sum(abs(behind.gap_s * 1000 - (finisher.ms - winner.ms)) < 0.5) AS matching
FROM op_behind AS behind
JOIN ${DURATIONS} AS finisher ON finisher.event_id = behind.event_id AND finisher.place = behind.place
JOIN ${DURATIONS} AS winner ON winner.event_id = behind.event_id AND winner.place = 1`;

const PLACE_CHECK = `SELECT count(*) AS examined, sum(place = by_duration) AS matching, sum(grid = by_duration) AS grid
FROM (SELECT ${FIELD('final_position')} AS place, ${FIELD('grid')} AS grid,
             rank() OVER (PARTITION BY event_id ORDER BY ${FIELD('timing.duration_ms')}) AS by_duration
      FROM sprint_results) AS ranked`;

export const look = {
  action: 'look',
  queries: [
    {
      why: 'how final_time is written, by place',
      sql: `SELECT place, count(*) AS n, sum(t LIKE '+%') AS plus, sum(instr(t, ':') > 0) AS colon, min(t) AS least, max(t) AS most
FROM ${FINISHERS} AS finisher GROUP BY place ORDER BY place`,
    },
    {
      why: 'runner-ups beside the stored durations',
      sql: `SELECT finisher.event_id, finisher.t, (runner.ms - winner.ms) / 1000.0 AS stored_gap_s
FROM ${FINISHERS} AS finisher
JOIN ${DURATIONS} AS runner ON runner.event_id = finisher.event_id AND runner.place = 2
JOIN ${DURATIONS} AS winner ON winner.event_id = finisher.event_id AND winner.place = 1
WHERE finisher.place = 2 ORDER BY stored_gap_s DESC`,
    },
    {
      why: 'events without a winner or a runner-up',
      sql: `SELECT count(*) AS events, sum(places = 2) AS complete
FROM (SELECT event_id, sum(place <= 2) AS places FROM ${FINISHERS} AS finisher GROUP BY event_id) AS podium`,
    },
  ],
};

export const commit = {
  action: 'commit',
  operators: [
    {
      name: 'op_behind',
      intent: 'finishers behind the winner of each sprint event, with their gap to the winner in seconds',
      sql: BEHIND,
    },
    {
      name: 'op_answer',
      intent: 'number of sprint events whose runner-up was more than five seconds behind',
      sql: 'SELECT count(*) AS dominant_victories FROM op_behind WHERE place = 2 AND gap_s > 5',
    },
  ],
  claims: [
    {
      operator: 'op_behind',
      statement:
        'Behind the winner, final_time is the gap to the winner: seconds after a +, or minutes and seconds where it has a colon.',
      rows: 'finishers behind a winner',
      check: GAP_CHECK,
      rivals: [
        {
          reading: 'Both times are absolute, and the gap is their difference.',
          instead: { of: '', put: BOTH_ABSOLUTE },
        },
        {
          reading: 'The number after the + is the gap in seconds, also where it has a colon.',
          instead: { of: WITH_MINUTES, put: SECONDS_ONLY },
        },
      ],
    },
    {
      operator: 'op_behind',
      statement: 'final_position is the order of the stored durations.',
      rows: 'finishers',
      check: PLACE_CHECK,
      rivals: [{ reading: 'grid is the place at the finish.', instead: { of: '$.final_position', put: '$.grid' } }],
    },
  ],
  control: 'SELECT count(*) AS events FROM op_behind WHERE place = 2 AND gap_s IS NOT NULL',
  sentence: '{dominant_victories} of {examined} sprint events were won by more than five seconds.',
};
