/** An answer with claims asked for again: the database counts them anew beside the rows, without a model call. */
import type { AnswerRecord } from '../../../src/domain';
import { PRESETS } from '../../../src/config/presets';
import type { LookReply } from '../../../src/domain/turns';
import { runLookThenProve } from '../../../src/methods/look-then-prove';
import { openStep } from '../../../src/roles/shared/context';
import { refresh } from '../../../src/roles/answer/refresh';
import { SEARCH, bench, sqliteEngine, text, hooks } from './fixtures';
import { standingTexts } from '../../../src/text/answer-text';

const row = (at: number, device: string, gap: number, behind: number): string =>
  `INSERT INTO lap VALUES (${at}, ${at % 5}, '${device}', ${gap}, ${behind});`;
/** 40 laps: seconds on device A, milliseconds on B. */
const SETUP = [
  'CREATE TABLE lap (event INTEGER, car INTEGER, device TEXT, gap REAL, behind_s REAL);',
  ...Array.from({ length: 40 }, (_, at) => {
    const seconds = (at + 1) / 4;
    return at % 2 === 0 ? row(at, 'A', seconds, seconds) : row(at, 'B', seconds * 1000, seconds);
  }),
].join('\n');
/** Neither seconds nor milliseconds. */
const odd = (count: number): string =>
  Array.from({ length: count }, (_, at) => row(100 + 5 * at, 'A', 7, 1)).join('\n');

const SECONDS = "CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END";
const CLAIM: LookReply['claims'][number] = {
  operator: 'op_gap',
  statement: 'Device B stores milliseconds, device A seconds.',
  rows: 'laps',
  check: `SELECT count(*), sum(abs(${SECONDS} - behind_s) < 0.001), sum(abs(gap - behind_s) < 0.001) FROM lap`,
  rivals: [{ reading: 'all seconds', instead: { of: SECONDS, put: 'gap' } }],
};
/** Its rival gives the same answer while device C has no lap. */
const INDIFFERENT: LookReply['claims'][number] = {
  operator: 'op_answer',
  statement: 'Laps of device C count.',
  rows: 'laps',
  check: "SELECT count(*), sum(device IN ('A', 'B', 'C')), sum(device IN ('A', 'B')) FROM lap",
  rivals: [{ reading: 'laps of device C do not count', instead: { of: "'C'", put: "'B'" } }],
};
const COMMIT: Partial<LookReply> = {
  action: 'commit',
  operators: [
    { name: 'op_gap', intent: 'gaps in seconds', sql: `SELECT car, device, behind_s, ${SECONDS} AS s FROM lap` },
    {
      name: 'op_answer',
      intent: 'gaps over two seconds',
      sql: "SELECT count(*) AS n FROM op_gap WHERE s > 2 AND device IN ('A', 'B', 'C')",
    },
  ],
  claims: [CLAIM],
};

async function asked(commit: Partial<LookReply>, { llmCalls = 20, setup = SETUP } = {}) {
  const engine = sqliteEngine(setup);
  const made = await bench({ look: [text(commit)] }, { engine, settings: PRESETS.fast });
  const { deps, steps, model, start } = made;
  const budgets = { ...start.settings.budgets, llmCalls };
  await runLookThenProve({ ...start, settings: { ...start.settings, budgets } }, steps, hooks);
  const first = await made.record();
  const calls = model.requests.length;
  return {
    ...{ first, engine },
    again: async (given = first) => {
      const refreshed = await refresh(await openStep(deps, { searchId: SEARCH, position: 'refresh' }), given);
      expect(model.requests).toHaveLength(calls);
      return refreshed;
    },
  };
}

const current = (refreshed: Awaited<ReturnType<typeof refresh>>): AnswerRecord => {
  if (refreshed.kind !== 'current') throw new Error(JSON.stringify(refreshed));
  return refreshed.record;
};
const stale = (reason: string) => ({ kind: 'stale', reason });

test('counts shown beside rows are of the snapshot of the rows', async () => {
  const { first, again, engine } = await asked(COMMIT);
  expect(first).toMatchObject({
    rows: [[32]],
    answer: '32',
  });
  expect(current(await again())).toEqual({ ...first, asOf: expect.any(String) as string });
  engine.write(row(50, 'B', 4000, 4));
  const now = current(await again());
  expect(now).toMatchObject({
    ...{
      rows: [[33]],
      answer: '33',
    },
    claims: [{ state: 'proved', matching: 41, examined: 41, rivals: [{ matching: 20, examined: 41 }] }],
  });
  expect(now.evidence[0]).toMatchObject({
    summary: '41 of 41 laps',
    observed: { columns: ['examined_1', 'matching_1', 'rival_1_1'], rows: [[41, 41, 20]] },
    rejected: [{ reading: 'all seconds', verdict: 'refuted', reason: '20 of 41 match' }],
  });
});

test('each claim is counted by one statement, and once', async () => {
  const { again, engine } = await asked(COMMIT);
  const before = engine.runs.length;
  await again();
  const statements = engine.runs.slice(before).flat();
  expect(statements.filter((sql) => sql.includes('matching_1'))).toHaveLength(1);
});

test('a proved claim with an exception is no proof any more', async () => {
  const { again, engine } = await asked(COMMIT);
  engine.write(odd(1));
  expect(await again()).toMatchObject(
    stale(
      'what op_gap takes for granted no longer holds as it did: "Device B stores milliseconds, device A seconds." (1 of 41 are exceptions)',
    ),
  );
});

test('a rival that is not refuted any more is no proof either', async () => {
  const { again, engine } = await asked(COMMIT);
  engine.write("UPDATE lap SET gap = behind_s, device = 'A'");
  expect(await again()).toMatchObject(
    stale(expect.stringContaining('the rival "all seconds" matches as many') as string),
  );
});

test('a check that cannot run any more is no proof', async () => {
  const overflow = 'abs(CASE WHEN event = 95 THEN -9223372036854775807 - 1 ELSE 0 END)';
  const fragile = { ...CLAIM, check: CLAIM.check.replace('gap - behind_s', `gap - behind_s + ${overflow}`) };
  const { again, engine } = await asked({ ...COMMIT, claims: [fragile] });
  expect(current(await again())).toMatchObject({ claims: [{ state: 'proved' }] });
  engine.write(row(95, 'B', 1000, 1));
  expect(await again()).toMatchObject(stale(expect.stringContaining('(integer overflow)') as string));
});

test('what held with exceptions holds while enough rows agree', async () => {
  const { first, again, engine } = await asked(COMMIT, { setup: `${SETUP}\n${odd(1)}` });
  expect(first.evidence[0]).toMatchObject({ state: 'assumed', summary: '40 of 41 laps' });
  engine.write(odd(1));
  const now = current(await again());
  expect(now.claims).toMatchObject([{ state: 'exceptions', matching: 40, examined: 42 }]);
  expect(standingTexts(now)).toContain(
    'Not without exception (40 of 42 laps, 2 exceptions): "Device B stores milliseconds, device A seconds."',
  );
  expect(now.evidence[0]).toMatchObject({ summary: '40 of 42 laps', observed: { rows: [[42, 40, 20]] } });
  engine.write(odd(1));
  expect(await again()).toMatchObject(stale(expect.stringContaining('it holds for 40 of 43 (93 %) only') as string));
});

test('a rival that gives the same answer is run again, beside a refuted one too', async () => {
  const { first, again, engine } = await asked({ ...COMMIT, claims: [CLAIM, INDIFFERENT] });
  expect(first.claims).toMatchObject([
    { state: 'proved' },
    { state: 'immaterial', rivals: [{ verdict: 'same-answer' }] },
  ]);
  engine.write(row(50, 'B', 4000, 4));
  expect(current(await again())).toMatchObject({
    claims: [{ matching: 41 }, { state: 'immaterial', matching: 41, rivals: [{ matching: 41 }] }],
  });
  // Now one lap tells them apart; the claim is even proved by its counts.
  engine.write(row(51, 'C', 4, 4));
  expect(current(await again())).toMatchObject({ claims: [{ matching: 42 }, { state: 'proved' }] });
  engine.write("UPDATE lap SET device = 'D' WHERE device = 'A' AND event < 20");
  expect(await again()).toMatchObject(stale(expect.stringContaining('op_answer takes for granted') as string));
});

test('a claim that makes no difference although its rival is refuted stays so, until there is one', async () => {
  const commit = {
    ...COMMIT,
    operators: [
      COMMIT.operators![0]!,
      { ...COMMIT.operators![1]!, sql: 'SELECT count(*) AS n FROM op_gap WHERE s > 0.1' },
    ],
    assumed: [{ operator: 'op_answer', statement: 'A gap is s over 0.1.', risk: 0.1 }],
  };
  const { first, again, engine } = await asked(commit);
  expect(first.claims).toMatchObject([{ state: 'immaterial', rivals: [{ verdict: 'refuted' }] }]);
  engine.write(row(50, 'B', 1000, 1));
  expect(current(await again())).toMatchObject({ rows: [[41]], claims: [{ state: 'immaterial', matching: 41 }] });
  engine.write(row(51, 'B', 50, 0.05));
  expect(current(await again())).toMatchObject({ rows: [[41]], claims: [{ state: 'proved', matching: 42 }] });
});

test('several claims on one operator, and a check that is repeated for its rival', async () => {
  const repeated = {
    ...CLAIM,
    check: 'SELECT count(*), sum(abs(s - behind_s) < 0.001) FROM op_gap',
    statement: 'Gaps are seconds then.',
  };
  const { first, again, engine } = await asked({ ...COMMIT, claims: [CLAIM, repeated] });
  expect(first).toMatchObject({
    answer: '32',
  });
  engine.write(row(50, 'B', 1000, 1));
  const now = current(await again());
  const counts = { matching: 41, examined: 41, rivals: [{ matching: 20, examined: 41, verdict: 'refuted' }] };
  expect(now.claims).toMatchObject([counts, counts]);
  expect(now.evidence[0]!.observed).toEqual({
    columns: ['examined_1', 'matching_1', 'rival_1_1', 'examined_2', 'matching_2', 'examined_2_1', 'rival_2_1'],
    ...{ rows: [[41, 41, 20, 41, 41, 41, 20]], rowCount: 1 },
  });
  engine.write(odd(1));
  expect(await again()).toMatchObject({ kind: 'stale' });
});

test('the proof of an operator stands by its own too, as the search reads it', async () => {
  const repeated = { ...CLAIM, check: 'SELECT count(*), sum(abs(s - behind_s) < 0.001) FROM op_gap' };
  const { first, again, engine } = await asked({ ...COMMIT, claims: [CLAIM, repeated] });
  const { claims: _, ...searched } = first;
  engine.write(row(50, 'B', 4000, 4));
  expect(current(await again(searched))).toMatchObject({ rows: [[33]], evidence: [{ state: 'proved' }, {}] });
  engine.write(odd(1));
  expect(await again(searched)).toMatchObject(
    stale(expect.stringContaining('what proved op_gap is now false') as string),
  );
});

test('coverage is counted in the same snapshot', async () => {
  const coverage = "SELECT count(*), sum(device = 'B') FROM lap";
  const { first, again, engine } = await asked({ ...COMMIT, coverage, ifPartial: 'answer' });
  expect(first).toMatchObject({ coverage: { asked: 40, used: 20 } });
  engine.write(row(50, 'B', 4000, 4));
  const now = current(await again());
  expect(now).toMatchObject({ coverage: { asked: 41, used: 21 }, claims: [{ examined: 41 }] });
  expect(standingTexts(now)).toContain('Only 21 of the 41 asked about could be used (51 %).');
});

test('a claim that was not shown is shown as such, and cannot get stale', async () => {
  const wrong = {
    ...CLAIM,
    rows: 'laps',
    check: `SELECT count(*), sum(abs(gap - behind_s) < 0.001), sum(device = 'A') FROM lap`,
  };
  const { first, again, engine } = await asked({ ...COMMIT, claims: [wrong] }, { llmCalls: 1 });
  expect(first).toMatchObject({ status: 'answered', endedBy: 'budget:llmCalls', claims: [{ state: 'failed' }] });
  expect(standingTexts(first)).toEqual([
    'Unchecked: 0 of 1 proved; 1 failed.',
    'NOT shown: "Device B stores milliseconds, device A seconds."; it holds for 20 of 40 (50 %) only',
  ]);
  expect(first.openAssumptions).toHaveLength(1);
  engine.write(row(50, 'B', 1000, 1));
  expect(standingTexts(current(await again()))[1]).toContain('it holds for 20 of 41 (48.7 %) only');
});
