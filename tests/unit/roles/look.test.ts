/** Look, then prove, in-process: the conversation over the steps, a real SQLite and a scripted model. */
import type { SteeredSearch } from '../../../src/search/run';
import { runLookThenProve } from '../../../src/methods/look-then-prove';
import type { LookReply } from '../../../src/domain/turns';
import { PRESETS } from '../../../src/config/presets';
import type { SearchState } from '../../../src/domain';
import { bench, sqliteEngine, text, hooks, promptOf } from './fixtures';
import type { LookSteps } from '../../../src/domain/ports/steps';
import { standingTexts } from '../../../src/text/answer-text';

/** Winners have a time; the others their gap to the winner, in milliseconds where the device is B. */
const SETUP = `
CREATE TABLE lap (event INTEGER, car INTEGER, device TEXT, gap REAL, behind_s REAL);
${Array.from({ length: 20 }, (_, at) => {
  const seconds = (at + 1) / 4;
  const device = at % 2 === 0 ? 'A' : 'B';
  return `INSERT INTO lap VALUES (${at}, ${at % 5}, '${device}', ${device === 'A' ? seconds : seconds * 1000}, ${seconds});`;
}).join('\n')}
`;

const SECONDS = "CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END";
const CLAIM: LookReply['claims'][number] = {
  operator: 'op_gap',
  statement: 'Device B stores milliseconds, device A seconds.',
  rows: 'laps with a stored gap',
  check: `SELECT count(*), sum(abs(${SECONDS} - behind_s) < 0.001), sum(abs(gap - behind_s) < 0.001), sum(abs(gap / 1000 - behind_s) < 0.001) FROM lap`,
  rivals: [
    { reading: 'all seconds', instead: { of: SECONDS, put: 'gap' } },
    { reading: 'all milliseconds', instead: null },
  ],
};
const COMMIT: Partial<LookReply> = {
  action: 'commit',
  operators: [
    { name: 'op_gap', intent: 'the gap of each lap in seconds', sql: `SELECT car, ${SECONDS} AS s FROM lap` },
    { name: 'op_answer', intent: 'the mean gap of car 3', sql: 'SELECT avg(s) AS gap FROM op_gap WHERE car = 3' },
  ],
  claims: [CLAIM],
  sentence: 'Car 3 is {gap} s behind on average.',
};

interface Options {
  readonly react?: readonly object[];
  readonly setup?: string;
}

const scripted = (replies: readonly object[], { react = [], setup = SETUP }: Options = {}) =>
  bench(
    { look: replies.map(text), react: react.map(text), plan: [] },
    { engine: sqliteEngine(setup), settings: PRESETS.fast, question: { text: 'What is the mean gap of car 3?' } },
  );

async function ask(replies: readonly object[], options: Options = {}) {
  const made = await scripted(replies, options);
  const outcome = await runLookThenProve(made.start, made.steps, hooks);
  return { ...made, outcome, record: await made.record() };
}

const END = {
  ...{ note: 'counted', action: 'end', tool: null, sql: null },
  ...{ answer: null, finalSql: 'SELECT count(*) AS n FROM lap', unanswerable: false },
};

const claimsOf = (state: string, record: { readonly claims?: readonly { readonly state: string }[] | undefined }) =>
  (record.claims ?? []).filter((claim) => claim.state === state);

test('a commit whose claims hold is the answer: one call, the operator proved with its rivals', async () => {
  const { record, model } = await ask([COMMIT]);
  expect(record).toMatchObject({ status: 'answered', endedBy: 'settled', rows: [[2.875]] });
  expect(model.requests).toHaveLength(1);
  expect(record.claims).toEqual([
    expect.objectContaining({
      state: 'proved',
      matching: 20,
      examined: 20,
      reason: null,
      rivals: [
        { reading: 'all seconds', matching: 10, examined: 20, verdict: 'refuted' },
        { reading: 'all milliseconds', matching: 10, examined: 20, verdict: 'refuted' },
      ],
    }),
  ]);
  expect(record.answer).toBe('Car 3 is 2.875 s behind on average.');
  expect(record.openAssumptions).toEqual([]);
  const [gap] = record.evidence;
  expect(gap).toMatchObject({ operator: 'op_gap', state: 'proved', summary: '20 of 20 laps with a stored gap' });
  expect(gap!.rejected.map(({ reading, verdict }) => [reading, verdict])).toEqual([
    ['all seconds', 'refuted'],
    ['all milliseconds', 'refuted'],
  ]);
});

test('a check that gives two counts is repeated under each rival by the program', async () => {
  const check = 'SELECT count(*), sum(abs(g.s - l.behind_s) < 0.001) FROM op_gap g JOIN lap l ON l.rowid = g.n';
  const operators = [
    { ...COMMIT.operators![0]!, sql: `SELECT rowid AS n, car, ${SECONDS} AS s FROM lap` },
    COMMIT.operators![1]!,
  ];
  const rivals = [{ reading: 'all seconds', instead: { of: SECONDS, put: 'gap' } }];
  const { record } = await ask([{ ...COMMIT, operators, claims: [{ ...CLAIM, check, rivals }] }]);
  expect(record.claims).toEqual([
    expect.objectContaining({
      state: 'proved',
      rivals: [{ reading: 'all seconds', matching: 10, examined: 20, verdict: 'refuted' }],
    }),
  ]);
});

test('queries of a look run together; what does not parse is told with the rest', async () => {
  const look = {
    action: 'look',
    queries: [
      { why: 'gaps by device', sql: 'SELECT device, min(gap), max(gap) FROM lap GROUP BY device' },
      { why: 'no table', sql: 'SELECT 1 FROM nothing_here' },
    ],
  };
  const { model, engine, record } = await ask([look, COMMIT]);
  expect(record.status).toBe('answered');
  expect(engine.runs).toContainEqual([look.queries[0]!.sql]);
  const last = model.requests[1]!.messages.at(-1)!.content;
  expect(last).toContain('A,0.25,4.75');
  expect(last).toContain('nothing_here, which the schema does not have');
  // The conversation only grows.
  expect(model.requests[1]!.messages.slice(0, 2)).toEqual(model.requests[0]!.messages);
});

test('a claim that fails goes back with its figures; the mended commit is the answer', async () => {
  const wrong = {
    ...COMMIT,
    operators: [{ ...COMMIT.operators![0]!, sql: 'SELECT car, gap AS s FROM lap' }, COMMIT.operators![1]!],
    claims: [
      {
        ...CLAIM,
        statement: 'All devices store seconds.',
        check: `SELECT count(*), sum(abs(gap - behind_s) < 0.001), sum(abs(${SECONDS} - behind_s) < 0.001) FROM lap`,
        rivals: [{ reading: 'B is in ms', instead: { of: 'gap', put: SECONDS } }],
      },
    ],
  };
  const { model, record } = await ask([wrong, COMMIT]);
  expect(model.requests[1]!.messages.at(-1)!.content).toContain(
    'FAILED: All devices store seconds. (10 of 20 laps with a stored gap)',
  );
  expect(record).toMatchObject({ status: 'answered', rows: [[2.875]] });
  expect(claimsOf('proved', record)).toHaveLength(1);
  expect(record.candidates.map(({ outcome, chosen }) => [outcome, chosen])).toEqual([
    ['withdrawn', false],
    ['rows', true],
  ]);
});

test('a mended commit sends only what changes: claims that hold and operators stay', async () => {
  const open = {
    ...{ operator: 'op_answer', statement: 'Car 3 has no cut lap.', rows: 'laps' },
    check: 'SELECT count(*), sum(car < 3), sum(car > 3) FROM lap',
    rivals: [{ reading: 'cut', instead: null }],
  };
  const assumed = [{ operator: 'op_answer', statement: 'Car 3 has no cut lap.', risk: 0.1 }];
  const { model, record } = await ask([
    { ...COMMIT, claims: [CLAIM, open] },
    { action: 'commit', assumed },
  ]);
  expect(model.requests[1]!.messages.at(-1)!.content).toContain('claim 2 FAILED: Car 3 has no cut lap.');
  // The check of what holds is of no more use.
  const said = model.requests[1]!.messages.at(-2)!.content;
  expect(JSON.parse(said)).toMatchObject({ claims: [{ statement: CLAIM.statement }, open] });
  expect(said).not.toContain(CLAIM.check);
  expect(record).toMatchObject({ status: 'answered', rows: [[2.875]], answer: 'Car 3 is 2.875 s behind on average.' });
  expect(record.claims).toMatchObject([{ statement: CLAIM.statement, state: 'proved', matching: 20 }]);
  expect(record.openAssumptions).toMatchObject([{ statement: 'Car 3 has no cut lap.' }]);
});

test('a mended operator takes the place of its namesake, and a new one comes before those that read it', async () => {
  const wrong = {
    ...COMMIT,
    operators: [{ ...COMMIT.operators![0]!, sql: 'SELECT car, gap AS s FROM lap' }, COMMIT.operators![1]!],
  };
  const raw = { name: 'op_raw', intent: 'laps', sql: 'SELECT * FROM lap' };
  const mended = { ...COMMIT.operators![0]!, sql: `SELECT car, ${SECONDS} AS s FROM op_raw` };
  const { record } = await ask([
    {
      ...wrong,
      claims: [
        {
          ...CLAIM,
          check: `SELECT count(*), sum(abs(gap - behind_s) < 0.001), sum(gap > 90000), sum(gap < 0) FROM lap`,
        },
      ],
    },
    { action: 'commit', operators: [raw, mended], claims: [CLAIM] },
  ]);
  expect(record).toMatchObject({ status: 'answered', rows: [[2.875]] });
  expect(record.evidence.map(({ operator }) => operator)).toEqual(['op_raw', 'op_gap', 'op_answer']);
});

test('a fitted date whose neighbours fit as well is told with what they would give', async () => {
  const days = Array.from({ length: 24 }, (_, at) => {
    const day = `2024-03-${String(at + 1).padStart(2, '0')}`;
    // Nothing is stored beside the gaps of the days around the change.
    const behind = at > 7 && at < 12 ? 'NULL' : 2 + at / 4;
    return `INSERT INTO lap VALUES (3, '${day}', ${at < 10 ? 2 + at / 4 : (2 + at / 4) * 1000}, ${behind});`;
  });
  const setup = `CREATE TABLE lap (car INTEGER, day TEXT, gap REAL, behind_s REAL); ${days.join('\n')}`;
  const seconds = "CASE WHEN day >= '2024-03-11' THEN gap / 1000 ELSE gap END";
  const claim = {
    ...{ operator: 'op_answer', statement: 'From 11 March on gaps are milliseconds.', rows: 'laps' },
    check: `SELECT count(behind_s), sum(abs(${seconds} - behind_s) < 0.01), sum(abs(gap - behind_s) < 0.01) FROM lap`,
    rivals: [{ reading: 'seconds', instead: { of: seconds, put: 'gap' } }],
  };
  const sql = `SELECT round(avg(${seconds}), 1) AS gap FROM lap`;
  const { record } = await ask([{ ...COMMIT, operators: [{ ...COMMIT.operators![1]!, sql }], claims: [claim] }], {
    setup,
  });
  expect(record.claims).toMatchObject([{ state: 'proved', matching: 20, within: '0.005' }]);
  expect(record.claims![0]!.fitsAsWell).toEqual([
    { literal: "'2024-03-11'", put: "'2024-03-10'", gives: '4.7' },
    { literal: "'2024-03-11'", put: "'2024-03-12'", gives: '192.2' },
  ]);
  expect(standingTexts(record).slice(0, 3)).toEqual([
    '1 of 3 proved; 2 values fit as well.',
    'Proved: "From 11 March on gaps are milliseconds." (20 of 20 laps, within 0.005)',
    "Fits the rows as well: '2024-03-10' in place of '2024-03-11'; it would be: 4.7.",
  ]);
});

test.each([
  [0.004, '0.005'],
  [0.008, '0.01'],
])('figures that differ by %d at most are told as equal within %s', async (off, within) => {
  const rows = Array.from(
    { length: 8 },
    (_, at) => `(${2 + at}, ${(2 + at) * 1000}, ${2 + at + (at === 3 ? off : 0)})`,
  );
  const claim = {
    ...{ operator: 'op_answer', statement: 'Gaps are milliseconds.', rows: 'laps' },
    check: 'SELECT count(*), sum(abs(gap / 1000 - behind_s) < 0.01), sum(abs(gap - behind_s) < 0.01) FROM lap',
    rivals: [{ reading: 'seconds', instead: { of: 'gap / 1000', put: 'gap' } }],
  };
  const sql = 'SELECT avg(gap / 1000) AS gap FROM lap';
  const { record } = await ask([{ ...COMMIT, operators: [{ ...COMMIT.operators![1]!, sql }], claims: [claim] }], {
    setup: `CREATE TABLE lap (car INTEGER, gap REAL, behind_s REAL); INSERT INTO lap VALUES ${rows.join(', ')};`,
  });
  expect(record.claims).toMatchObject([{ state: 'proved', within }]);
});

test('of a long result the first rows, the rarest groups and the last are shown', async () => {
  const groups = Array.from({ length: 60 }, (_, at) => `SELECT ${at} AS code, ${at === 50 ? 1 : 100 + at} AS n`);
  const { model } = await ask([
    { action: 'look', queries: [{ why: 'codes', sql: groups.join(' UNION ALL ') }] },
    COMMIT,
  ]);
  const shown = model.requests[1]!.messages.at(-1)!.content;
  expect(shown).toContain('(the first 28, the 8 rarest between, the last 4 of 60 rows)');
  expect(shown).toContain('\n27,127\n28,128\n29,129\n30,130\n31,131\n32,132\n33,133\n34,134\n50,1\n56,156\n');
});

test('once a later look was taken, a long result of the one before is shorter', async () => {
  const groups = Array.from({ length: 60 }, (_, at) => `SELECT ${at} AS code, ${100 + at} AS n`);
  const look = { action: 'look', queries: [{ why: 'codes', sql: groups.join(' UNION ALL ') }] };
  const { model } = await ask([look, look, COMMIT]);
  const results = model.requests[2]!.messages.filter(({ role }) => role === 'user').slice(1);
  expect(results.map(({ content }) => /\(the first \d+/.exec(content)?.[0])).toEqual(['(the first 8', '(the first 28']);
});

test('a decline shows by counts what is not stored', async () => {
  const decline = {
    action: 'unanswerable',
    reason: 'no lap has a driver',
    absent: [
      {
        statement: 'No lap of an unknown device is recorded.',
        rows: 'laps',
        check: "SELECT count(*), sum(device = 'C'), sum(device = 'A') FROM lap",
      },
    ],
  };
  const { record } = await ask([decline]);
  expect(record).toMatchObject({ status: 'unanswerable', reason: 'no lap has a driver' });
  expect(claimsOf('proved', record)).toEqual([expect.objectContaining({ matching: 20, examined: 20, control: 10 })]);
});

test('a claim that holds with exceptions is no open assumption of the answer, one without a check is', async () => {
  const setup = `${SETUP} INSERT INTO lap VALUES (90, 3, 'A', 9, 1);`;
  const many = Array.from({ length: 30 }, (_, at) => `INSERT INTO lap VALUES (${100 + at}, 9, 'A', 1, 1);`).join('\n');
  const assumed = [{ operator: 'op_gap', statement: 'No lap is cut.', risk: 0.1 }];
  const { record } = await ask([{ ...COMMIT, assumed }], { setup: setup + many });
  expect(claimsOf('exceptions', record)).toHaveLength(1);
  expect(record.openAssumptions.map(({ statement }) => statement)).toEqual(['No lap is cut.']);
  expect(standingTexts(record)).toEqual([
    '0 of 2 proved; 1 with exceptions, 1 assumed.',
    'Not without exception (50 of 51 laps with a stored gap, 1 exception): "Device B stores milliseconds, device A seconds."',
    'Assumed: "No lap is cut."',
  ]);
});

test('too little covered: the commit said to decline, and no further call is made', async () => {
  const partial = { ...COMMIT, coverage: "SELECT 20, sum(device = 'B') FROM lap", ifPartial: 'decline' };
  const { record, model } = await ask([partial]);
  expect(model.requests).toHaveLength(1);
  expect(record).toMatchObject({
    status: 'unanswerable',
    reason: 'Only 10 of the 20 asked about could be used (50 %).',
  });
  const said = await ask([{ ...partial, ifPartial: 'answer' }]);
  expect(said.record).toMatchObject({ status: 'answered', coverage: { asked: 20, used: 10 } });
  expect(standingTexts(said.record)).toContain('Only 10 of the 20 asked about could be used (50 %).');
});

test('an empty answer needs its control count', async () => {
  const empty = {
    ...COMMIT,
    claims: [],
    operators: [{ name: 'op_answer', intent: 'laps of car 9', sql: 'SELECT count(*) AS n FROM lap WHERE car = 9' }],
    sentence: null,
  };
  const { record, model } = await ask([empty, { ...empty, control: 'SELECT count(*) FROM lap' }]);
  expect(model.requests[1]!.messages.at(-1)!.content).toContain('give control');
  expect(record).toMatchObject({ status: 'answered', rows: [[0]] });
});

test('the other reading of the words is run by the program', async () => {
  const wording = [
    {
      operator: 'op_answer',
      taken: 'the mean of all laps',
      other: 'the longest gap',
      instead: { of: 'avg(s)', put: 'max(s)' },
    },
  ];
  const { record } = await ask([{ ...COMMIT, wording }]);
  expect(standingTexts(record).at(-1)).toMatch(/^Read as: .* Read as "the longest gap" it would be: 4\.75\.$/);
});

test('a rival that gives the same answer drops out and does not block the proof', async () => {
  const rivals = [...CLAIM.rivals, { reading: 'rounded gaps', instead: { of: 'gap / 1000', put: 'gap / 1000.0' } }];
  const check = CLAIM.check.replace(' FROM lap', `, sum(abs(${SECONDS} - behind_s) < 0.01) FROM lap`);
  const { record } = await ask([{ ...COMMIT, claims: [{ ...CLAIM, check, rivals }] }]);
  expect(claimsOf('proved', record)).toHaveLength(1);
  expect(record.claims![0]!.rivals.at(-1)).toMatchObject({ verdict: 'same-answer' });
});

test('a model that keeps no format goes on with single queries', async () => {
  const { record, model } = await ask([{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }], { react: [END] });
  expect(model.requests.map(({ role }) => role)).toEqual(['look', 'look', 'look', 'look', 'react']);
  expect(record).toMatchObject({ status: 'answered', rows: [[20]] });
});

describe('a model that loses the format after a commit that went back', () => {
  const few = CLAIM.check.replace('FROM lap', 'FROM lap WHERE event < 3');
  const doubtful = { ...COMMIT, claims: [{ ...CLAIM, check: few }] };
  const unusable = [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }];
  const outcomes = (record: { readonly candidates: readonly { readonly outcome: string }[] }) =>
    record.candidates.map(({ outcome }) => outcome);

  test('the SQL with which its single queries end is the answer, beside the commit', async () => {
    const { record } = await ask([doubtful, ...unusable], { react: [END] });
    expect(record).toMatchObject({ status: 'answered', rows: [[20]], sql: END.finalSql });
    expect(outcomes(record)).toEqual(['withdrawn', 'rows']);
    expect(record).not.toHaveProperty('claims');
  });

  test('if they end as unanswerable, the commit does not come back', async () => {
    const none = { ...END, answer: 'it is not stored', finalSql: null, unanswerable: true };
    const { record } = await ask([doubtful, ...unusable], { react: [none] });
    expect(record).toMatchObject({ status: 'unanswerable', reason: 'it is not stored' });
  });

  test('if they have no usable reply either, the commit is the answer, with its open claim (D6)', async () => {
    const { record } = await ask([doubtful, ...unusable], { react: unusable });
    expect(record).toMatchObject({ status: 'answered', rows: [[2.875]] });
    expect(claimsOf('open', record)).toHaveLength(1);
  });
});

test('what goes back twice without holding is handed to the search, with what was seen', async () => {
  const open = {
    ...COMMIT,
    claims: [{ ...CLAIM, check: CLAIM.check.replace('FROM lap', 'FROM lap WHERE event < 3') }],
  };
  const { model, steps, start } = await scripted([open, open, open]);
  const states: SearchState[] = [];
  const checkpoint = (state: SearchState) => void states.push(state);
  const search = runLookThenProve(start, { ...steps, checkpoint }, hooks);
  // The scripted model has no reply for the search.
  await expect(search).rejects.toThrow();
  const handed = states.find(({ looking }) => looking?.phase === 'search')!;
  expect(handed.looking).toMatchObject({ turns: ['i1.look', 'i2.look', 'i3.look'], returned: 3 });
  expect(handed.trajectories.at(-1)).toMatchObject({ status: 'open' });
  expect(handed.candidates.every(({ status }) => status === 'withdrawn')).toBe(true);
  expect(model.requests.map(({ role }) => role === 'look').slice(0, 4)).toEqual([true, true, true, false]);
});

test('a search that begins with nothing but looks is shown what they saw', async () => {
  const look = {
    action: 'look',
    queries: [{ why: 'drivers', sql: "SELECT 'no driver at all' AS found FROM lap LIMIT 1" }],
  };
  const check = "SELECT count(*), sum(device = 'A'), sum(device = 'A') FROM lap";
  const decline = {
    action: 'unanswerable',
    reason: 'none',
    absent: [{ statement: 'No device.', rows: 'laps', check }],
  };
  const { steps, start, model } = await scripted([look, decline, decline, decline]);
  await expect(runLookThenProve(start, steps, hooks)).rejects.toThrow();
  expect(promptOf(model.requests.find(({ role }) => role === 'plan')!)).toContain('no driver at all');
});

test('a check without a count opens its own claim only', async () => {
  const other = {
    ...{ operator: 'op_gap', statement: 'No gap is below 0.', rows: 'laps' },
    rivals: [{ reading: 'some are', instead: null }],
    check: 'SELECT count(*), max(device), sum(gap < 0) FROM lap',
  };
  const { model } = await ask([{ ...COMMIT, claims: [other, CLAIM] }, COMMIT]);
  const told = model.requests[1]!.messages.at(-1)!.content;
  expect(told).toContain('NOT ESTABLISHED: No gap is below 0.');
  expect(told).toContain('column 2 is "B", not a count');
  expect(told).toContain('PROVED: Device B stores milliseconds');
});

test('what a rival would put in and cannot be put in is told', async () => {
  const rivals = [{ reading: 'all seconds', instead: { of: 'no such piece', put: 'gap' } }];
  const check = `SELECT count(*), sum(abs(${SECONDS} - behind_s) < 0.001), sum(gap > 0) FROM lap`;
  const { model } = await ask([{ ...COMMIT, claims: [{ ...CLAIM, check, rivals }] }, COMMIT]);
  expect(model.requests[1]!.messages.at(-1)!.content).toMatch(/"all seconds" matches as many .*no such piece/);
});

test('a check that could not fail is sent back before anything runs', async () => {
  const check = "SELECT count(*), sum(device = 'B'), sum(device = 'A'), sum(gap > 0) FROM lap WHERE device = 'B'";
  const { model, engine } = await ask([{ ...COMMIT, claims: [{ ...CLAIM, check }] }, COMMIT]);
  expect(model.requests[1]!.messages.at(-1)!.content).toContain('filtered by just that');
  expect(engine.runs.flat().join('\n')).not.toContain("sum(device = 'B')");
});

test('a claim whose rivals all give the same answer makes no difference, however clearly they lose', async () => {
  const operators = [
    COMMIT.operators![0]!,
    { name: 'op_answer', intent: 'how many laps car 3 has', sql: 'SELECT count(s) AS n FROM op_gap WHERE car = 3' },
  ];
  const rivals = CLAIM.rivals.slice(0, 1);
  const check = CLAIM.check.replace(/, sum\(abs\(gap \/ 1000 - behind_s\) < 0.001\)/, '');
  const { record } = await ask([{ ...COMMIT, operators, claims: [{ ...CLAIM, check, rivals }], sentence: null }]);
  expect(record.claims).toEqual([
    expect.objectContaining({ state: 'immaterial', reason: 'every rival gives the same answer' }),
  ]);
  expect(record.rows).toEqual([[4]]);
});

describe('a rival under which a repeated check examines fewer rows', () => {
  const check = 'SELECT count(*), sum(abs(g.s - l.behind_s) < 0.001) FROM op_gap g JOIN lap l ON l.rowid = g.n';
  const kept = "lap WHERE device <> 'none'";
  const operators = [
    { ...COMMIT.operators![0]!, sql: `SELECT rowid AS n, car, ${SECONDS} AS s FROM ${kept}` },
    COMMIT.operators![1]!,
  ];
  const under = (reading: string, of: string, put: string) => ({
    ...COMMIT,
    operators,
    claims: [{ ...CLAIM, check, rivals: [{ reading, instead: { of, put } }] }],
  });

  test('does not match the rows that it loses, where those that it keeps do not all match either', async () => {
    const put = 'gap AS s FROM lap WHERE event < 10';
    const { record } = await ask([under('seconds, early laps', `${SECONDS} AS s FROM ${kept}`, put)]);
    expect(record.claims).toEqual([
      expect.objectContaining({
        state: 'proved',
        rivals: [{ reading: 'seconds, early laps', matching: 5, examined: 20, verdict: 'refuted' }],
      }),
    ]);
  });

  test.each([
    ['device A only', "lap WHERE device = 'A'", 'all that it keeps match (10 of 10)'],
    ['device C only', "lap WHERE device = 'C'", 'all that it keeps match (0 of 0)'],
  ])('is not refuted where all that it keeps match: %s', async (reading, put, said) => {
    const { model, record } = await ask([under(reading, kept, put), COMMIT]);
    expect(model.requests[1]!.messages.at(-1)!.content).toContain(said);
    expect(record.status).toBe('answered');
  });
});

test('a rival that leaves the SQL as it is does not make the claim immaterial', async () => {
  const rivals = [{ reading: 'all seconds', instead: { of: 'AS s', put: 'AS  s /* the same */' } }];
  const check = `SELECT count(*), sum(abs(${SECONDS} - behind_s) < 0.001), sum(behind_s > 0) FROM lap`;
  const { model } = await ask([{ ...COMMIT, claims: [{ ...CLAIM, check, rivals }] }, COMMIT]);
  const found = model.requests[1]!.messages.at(-1)!.content;
  expect(found).toContain('NOT ESTABLISHED');
  expect(found).not.toContain('MAKES NO DIFFERENCE');
});

test('claims are told by their number in the reply, whatever operator they are of', async () => {
  const other = { ...CLAIM, operator: 'op_answer', statement: 'Second.' };
  const few = { ...CLAIM, statement: 'Third.', check: CLAIM.check.replace('FROM lap', 'FROM lap WHERE event < 3') };
  const { model } = await ask([{ ...COMMIT, claims: [CLAIM, other, few] }, COMMIT]);
  const found = model.requests[1]!.messages.at(-1)!.content;
  expect(found).toMatch(/claim 2 PROVED: Second[^]*claim 3 NOT ESTABLISHED: Third/);
});

test('a checkpoint that cannot be stored before the search takes over is a failure that is recorded', async () => {
  const failing = {
    ...COMMIT,
    operators: [{ name: 'op_a', intent: 'no such column', sql: 'SELECT missing FROM lap' }],
  };
  const broken = { ...failing, claims: [], sentence: null };
  const { steps, start, record } = await scripted([broken, broken, broken, broken]);
  const checkpoint = () => {
    throw new Error('the disk is full');
  };
  await expect(runLookThenProve(start, { ...steps, checkpoint }, hooks)).rejects.toThrow('the disk is full');
  expect(await record()).toMatchObject({ status: 'failed', endedBy: 'error' });
});

test('a commit to what a person has ruled out goes back, however well its claims hold', async () => {
  const empty = { ...COMMIT, operators: [COMMIT.operators![0]!, { ...COMMIT.operators![1]!, sql: 'SELECT 0 AS gap' }] };
  const plain = {
    ...COMMIT,
    operators: [{ ...COMMIT.operators![1]!, sql: 'SELECT avg(behind_s) AS gap FROM lap' }],
    claims: [],
  };
  const { steps, start, record: stored } = await scripted([empty, COMMIT, plain]);
  let search: SteeredSearch | undefined;
  const look: LookSteps['look'] = (step, options) => {
    const update = search?.state().updates.find(({ status }) => status === 'active')?.id;
    const steering = { kind: 'veto' as const, author: 'ada', update: update ?? '', reason: 'device B is wrong' };
    if (step.turns.length === 1) search?.steer({ steering, remarkId: null });
    return steps.look(step, options);
  };
  await runLookThenProve(start, { ...steps, look }, { ...hooks, attach: (attached) => (search = attached) });
  const record = await stored();
  expect(record).toMatchObject({ status: 'answered', rows: [[2.625]] });
  expect(record.candidates.map(({ outcome, chosen }) => [outcome, chosen])).toEqual([
    ['withdrawn', false],
    ['withdrawn', false],
    ['rows', true],
  ]);
});
