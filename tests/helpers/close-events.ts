/** Six runners-up; the mark of each is its gap, which another column repeats. And a commit that counts those below two seconds. */
export const GAPS = `
CREATE TABLE entry (event INTEGER, place INTEGER, mark TEXT, behind_s REAL);
${[0.5, 1.5, 2.5, 9, 12, 30].map((gap, at) => `INSERT INTO entry VALUES (${at}, 2, '+${gap}', ${gap});`).join('\n')}
`;
export const COMMIT = {
  action: 'commit',
  operators: [
    {
      name: 'op_gap',
      intent: 'gaps of runners-up',
      sql: 'SELECT CAST(substr(mark, 2) AS REAL) AS gap FROM entry WHERE place = 2',
    },
    { name: 'op_answer', intent: 'close events', sql: 'SELECT count(*) AS n FROM op_gap WHERE gap < 2' },
  ],
  claims: [
    {
      ...{ operator: 'op_gap', statement: 'A mark is the gap to the winner in seconds.', rows: 'runners-up' },
      check: `SELECT count(*), sum(abs(CAST(substr(mark, 2) AS REAL) - behind_s) < 0.01), sum(abs(CAST(mark AS REAL) * 60 - behind_s) < 0.01)
        FROM entry WHERE place = 2`,
      rivals: [
        { reading: 'in minutes', instead: { of: 'CAST(substr(mark, 2) AS REAL)', put: 'CAST(mark AS REAL) * 60' } },
      ],
    },
  ],
  assumed: [{ operator: 'op_answer', statement: 'A runner-up has place 2, and a gap below 2 is close.', risk: 0.1 }],
};
