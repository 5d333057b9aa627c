import { createMemoryStore, scriptedModel, type ScriptedReply } from '../../helpers/scripted';
import { ModelError } from '../../../src/domain/ports';
import type { UsageDelta } from '../../../src/domain/ports/step-parts';
import { judgeAnswer, judgeContradiction, type Judge, type ToJudge } from '../../../benchmarks/judge-step';
import { hash } from '../roles/fixtures';

const store = createMemoryStore;

function bench(replies: readonly (object | string | ModelError)[], more: Partial<Judge> = {}) {
  const texts = replies.map((reply): ScriptedReply =>
    typeof reply === 'string' || reply instanceof ModelError ? reply : { text: JSON.stringify(reply), costUsd: 0.5 },
  );
  const model = scriptedModel({ replies: { judge: texts } });
  const paid: UsageDelta[] = [];
  const judge: Judge = {
    ...{ store: store(), hash, clock: { now: () => 1 }, model, name: 'judge-1', maxOutputTokens: 1_000 },
    ...{ signal: new AbortController().signal, onPaid: (usage: UsageDelta) => void paid.push(usage) },
    ...{ againAfterMs: [1, 1], ...more },
  };
  return { judge, model, paid };
}

const asked: ToJudge = {
  ...{ question: 'How many karts retired?', context: null, response: 'Four karts retired.' },
  ...{ abstained: false, correctAnswer: 'n\n4' },
};
const answers = { reason: 'it says four', abstains: 'no' };
const declines = { reason: 'it says so', abstains: 'yes' };
const right = { extracted: 'four', reason: 'equal', correct: 'yes' };
const wrong = { extracted: 'four', reason: 'not 5', correct: 'no' };

test.each([
  ['two-pass', asked, [answers, right], 'correct'],
  ['two-pass', asked, [answers, wrong], 'wrong'],
  ['two-pass', asked, [declines], 'wrong-abstained'],
  ['two-pass', { ...asked, correctAnswer: null }, [declines], 'correct-abstained'],
  ['two-pass', { ...asked, correctAnswer: null }, [answers], 'wrong-answered'],
  ['two-pass', { ...asked, abstained: true }, [], 'wrong-abstained'],
  ['single', { ...asked, abstained: true, correctAnswer: null }, [], 'correct-abstained'],
  ['single', asked, [right], 'correct'],
  ['single', asked, [wrong], 'wrong'],
  ['single', { ...asked, correctAnswer: null }, [wrong], 'wrong-answered'],
] as const)('%s: %j with %j is %s', async (mode, what, replies, verdict) => {
  const { judge, model } = bench(replies);
  expect(await judgeAnswer(judge, what, mode)).toMatchObject({ verdict });
  expect(model.requests).toHaveLength(replies.length);
});

test('the judge is asked at temperature 0 and top-p 1, as role judge, of the model that is named', async () => {
  const { judge, model } = bench([right]);
  await judgeAnswer(judge, asked, 'single');
  expect(model.requests[0]).toMatchObject({ role: 'judge', model: 'judge-1', temperature: 0, topP: 1 });
});

test('the same judgement is paid once; another answer, model or mode is another one', async () => {
  const { judge, model, paid } = bench([answers, right, answers, wrong, right]);
  const first = await judgeAnswer(judge, asked, 'two-pass');
  expect(await judgeAnswer(judge, asked, 'two-pass')).toEqual(first);
  expect(model.replied).toBe(2);
  expect(paid).toEqual([expect.objectContaining({ costUsd: 0.5 }), expect.objectContaining({ costUsd: 0.5 })]);
  expect(await judgeAnswer(judge, { ...asked, response: 'Five.' }, 'two-pass')).toMatchObject({ verdict: 'wrong' });
  expect(await judgeAnswer({ ...judge, name: 'judge-2' }, asked, 'single')).toMatchObject({ verdict: 'correct' });
  expect(model.remaining()).toEqual({});
});

test('a reply that cannot be read is asked for again with its error, and at last nothing is decided', async () => {
  const { judge, model, paid } = bench(['well…', { reason: 'hm' }, right]);
  expect(await judgeAnswer(judge, asked, 'single')).toMatchObject({ verdict: 'correct' });
  expect(model.requests[2]?.messages.map(({ role }) => role).join()).toBe('system,user,assistant,user,assistant,user');
  expect(paid).toHaveLength(3);
  const hopeless = bench(['a', 'b', 'c']);
  const judgement = await judgeAnswer(hopeless.judge, asked, 'single');
  expect(judgement.verdict).toBe('undecided');
  expect(judgement.reason).toContain('could not be read');
});

test('an outage is waited for; an error that no waiting mends is told at once', async () => {
  const busy = new ModelError('rate-limited', 'slow down', { retryAfterMs: 1 });
  const { judge, model } = bench([busy, busy, right]);
  expect(await judgeAnswer(judge, asked, 'single')).toMatchObject({ verdict: 'correct' });
  expect(model.replied).toBe(1);
  const refused = bench([new ModelError('authentication', 'no key')]);
  await expect(judgeAnswer(refused.judge, asked, 'single')).rejects.toThrow('no key');
});

test('two updates are judged as a pair', async () => {
  const update = { intent: 'retired karts', reading: 'R', summary: 's', probe: 'SELECT 1', observed: '1' };
  const input = { ...asked, updates: [update, { ...update, reading: 'X' }] as const };
  const { judge } = bench([{ reason: 'two codes for one state', contradictory: 'yes' }]);
  expect(await judgeContradiction(judge, input)).toEqual({ contradictory: true, reason: 'two codes for one state' });
});
