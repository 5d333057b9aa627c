/** What an answer, an unanswerable question and an abstention are in both output modes, by each way of asking. */
import type { Question, Settings } from '../../../src/domain';
import { parseMethodSpec } from '../../../src/config/method-specs';
import { settingsFor } from '../../../src/config/presets';
import { runInProcess } from '../../helpers/in-process';
import { GAP_SQL, bench, planReply, text, hooks } from './fixtures';

const SQL = 'SELECT count(*) AS n FROM entry WHERE place = 2';
const REASON = 'no wages are stored';
const SENTENCE = 'The runner-up finished {n} times.';

interface Replies {
  readonly role: 'look' | 'plan' | 'react';
  readonly answers: object;
  readonly declines: object;
  /** Not the last word: the only call is spent on it. */
  readonly begins: object;
}

const operators = [{ name: 'op_answer', intent: 'how many came second', sql: SQL }];
const look: Replies = {
  role: 'look',
  answers: { action: 'commit', operators, claims: [], sentence: SENTENCE },
  declines: {
    ...{ action: 'unanswerable', reason: REASON },
    absent: [
      { statement: REASON, rows: 'entries', check: 'SELECT count(*), sum(place > 99), sum(place = 2) FROM entry' },
    ],
  },
  begins: { action: 'look', queries: [{ why: 'marks', sql: 'SELECT mark FROM entry' }] },
};
const search: Replies = {
  role: 'plan',
  answers: planReply({ tests: [], sentence: SENTENCE }, [{ name: 'op_gap', mapping: null, sql: GAP_SQL }]),
  declines: planReply({ kind: 'unanswerable', reason: REASON, operators: [], tests: [] }),
  begins: planReply(),
};
const turn = { note: 'n', action: 'tool_call', tool: 'execute_sql', sql: null, answer: null, finalSql: null };
const react: Replies = {
  role: 'react',
  answers: { ...turn, action: 'end', tool: null, finalSql: SQL, answer: SENTENCE, unanswerable: false },
  declines: { ...turn, action: 'end', tool: null, answer: REASON, unanswerable: true },
  begins: { ...turn, sql: 'SELECT mark FROM entry', unanswerable: false },
};

const WAYS: readonly (readonly [string, Replies])[] = [
  ['fast', look],
  ['thorough', search],
  ['paper', search],
  ['paper:without-plan-evaluation', search],
  ['react:schema-only', react],
  ['react', react],
];
const CASES = WAYS.flatMap(([spec, replies]) =>
  (['sql', 'answer'] as const).map((outputMode) => ({ spec, replies, outputMode })),
);

async function ask(
  spec: string,
  role: Replies['role'],
  reply: object,
  mode: Question['outputMode'],
  calls: number | null,
) {
  const { method, overrides } = parseMethodSpec(spec);
  const whole = settingsFor({ method, models: { default: 'test-model' }, overrides });
  const budgets = { ...whole.budgets, llmCalls: calls };
  // One plan is enough for an answer; that nothing is stored takes two that say so.
  const once = reply === search.answers ? { cMin: 1, cMax: 1 } : {};
  const settings: Settings = { ...whole, ...once, budgets };
  // Method `paper` asks its selector even of one candidate.
  const select = [text({ reason: 'the only one', choice: 1 })];
  const replies = { [role]: [text(reply), text(reply), text(reply)], select };
  const made = await bench(replies, { settings, question: { outputMode: mode } });
  await runInProcess(made.start, made.steps, hooks);
  return { record: await made.record(), asked: JSON.stringify(made.model.requests) };
}

describe.each(CASES)('$spec, output mode $outputMode', ({ spec, replies, outputMode }) => {
  test('an answer has SQL and rows, and words where they are wanted', async () => {
    const { record, asked } = await ask(spec, replies.role, replies.answers, outputMode, null);
    expect(record).toMatchObject({ status: 'answered', rows: [[2]], reason: null });
    expect(record.sql).toContain('count(*)');
    if (outputMode === 'sql') expect(record.answer).toBeNull();
    else expect(record.answer).toBe('The runner-up finished 2 times.');
    expect(/sentence of at most/.test(asked)).toBe(outputMode === 'answer');
  });

  test('a question without an answer in the data has a reason, no SQL and no words', async () => {
    const { record } = await ask(spec, replies.role, replies.declines, outputMode, null);
    expect(record).toMatchObject({ status: 'unanswerable', sql: null, rows: [], answer: null });
    expect(record.reason).toContain(REASON);
  });

  test('a limit before the first answer makes an abstention, with its reason', async () => {
    const { record } = await ask(spec, replies.role, replies.begins, outputMode, 1);
    expect(record).toMatchObject({
      status: 'abstained',
      endedBy: 'budget:llmCalls',
      sql: null,
      rows: [],
      answer: null,
    });
    expect(record.reason).not.toBeNull();
  });
});
