/** A model that gives no usable reply, over real HTTP: what a search makes of it, with both methods and by the command. */
import { join } from 'node:path';
import { buildSprintDatabase } from '../../src/app/demo';
import { loadTrace, renderReport, renderTraceText } from '../../src/report';
import { SIMULATED_MODEL } from '../../simulated-model';
import { gateHome } from '../helpers/gate-process';
import { startModelEndpoint, type ChatBody, type EndpointReply, type Fault } from '../helpers/model-endpoint';
import { testFolder } from '../helpers/temporal';
import { askInProcess, openDatabase, type AskInProcess, type Opened } from './in-process';

type Reply = (body: ChatBody, index: number) => string | EndpointReply | Fault;
const question = { question: 'How many sprint events are there?', database: 'sprint' };
const CUT = {
  text: '{"outline": "the plan beg',
  finishReason: 'length',
  usage: { prompt_tokens: 9, completion_tokens: 16_384 },
};
const COUNT = 'SELECT count(DISTINCT event_id) AS events FROM sprint_results';
const action = (more: object): string =>
  JSON.stringify({
    note: '',
    action: 'end',
    tool: null,
    sql: null,
    answer: null,
    finalSql: COUNT,
    unanswerable: false,
    ...more,
  });

let path: string;
let database: Opened;
beforeAll(async () => {
  path = join(testFolder(), 'sprint.sqlite');
  buildSprintDatabase(join(__dirname, '../../examples/sprint/sprint.sql'), path);
  database = await openDatabase(path, 'sqlite');
});
afterAll(() => database.engine.close());

async function asked(reply: Reply, more: Partial<AskInProcess> = {}) {
  const endpoint = await startModelEndpoint({ reply });
  try {
    const { record, store, searchId } = await askInProcess({ question, database, baseUrl: endpoint.baseUrl, ...more });
    const limits = endpoint.requests.map(({ body }) => body.max_tokens);
    return { record, store, limits, trace: (await loadTrace(store, searchId))! };
  } finally {
    await endpoint.close();
  }
}

describe.each(['fast', 'react'] as const)('method %s: a model without a usable reply has failed', (method) => {
  test.each<[string, ReturnType<Reply>, RegExp]>([
    ['garbage', 'lorem ipsum', /the reply holds no JSON object/],
    ['no choices', { fault: 'body', text: '{"choices": []}' }, /the reply was empty \(finish reason unknown\)/],
    ['null content', { text: null }, /the reply was empty \(finish reason stop\)/],
    ['a reply cut at the limit', CUT, /the reply was cut at 16,384 tokens: raise models\.maxOutputTokens$/],
    ['a filtered reply', { text: '', finishReason: 'content_filter' }, /the endpoint withheld the reply/],
  ])('%s: the cause in one line, the reply in trace and report', async (_, reply, cause) => {
    const { record, trace } = await asked(() => reply, { method });
    expect(record).toMatchObject({ status: 'failed', endedBy: 'unusable', sql: null, answer: null });
    expect(record.reason).toMatch(cause);
    expect(record.reason).not.toContain('\n');
    expect(record.givenUp?.at(-1)?.reply).toBe(trace.lastBadReply?.id);
    const text =
      typeof reply === 'object' && 'text' in reply && !('fault' in reply)
        ? reply.text
        : reply === 'lorem ipsum'
          ? reply
          : '';
    expect(trace.lastBadReply?.text).toBe(text ?? '');
    expect(renderTraceText(trace)).toContain(text || '(empty)');
    expect(renderReport(trace)).toContain('Last reply of the model');
  });

  test('a reply that is cut is asked for once more with more room, and charged like any call', async () => {
    const { limits, record } = await asked(() => CUT, { method });
    expect(limits.slice(0, 4)).toEqual([4096, 16_384, 16_384, 16_384]);
    expect(record.usage.llmCalls).toBe(limits.length);
  });

  test('a limit that the configuration sets is kept', async () => {
    const { limits, record } = await asked(() => CUT, { method, outputCeiling: 4096 });
    expect(new Set(limits)).toEqual(new Set([4096]));
    expect(record.reason).toContain('the reply was cut at 4,096 tokens: raise models.maxOutputTokens');
  });

  test('an endpoint that refuses more room is asked without it', async () => {
    const { limits, record } = await asked(
      ({ max_tokens: limit }) =>
        limit === 4096 ? CUT : { fault: 'status', status: 400, error: { message: 'at most 4096 completion tokens' } },
      { method },
    );
    expect(limits.slice(0, 3)).toEqual([4096, 16_384, 4096]);
    expect(record).toMatchObject({ status: 'failed', reason: expect.stringContaining('4,096 tokens') as string });
  });
});

describe('a model whose SQL cannot be used fails after four calls, with the reason in the words of parser or program', () => {
  const commit = (sql: string) => ({ action: 'commit', operators: [{ name: 'op_answer', intent: 'events', sql }] });
  const look = (sql: string) => ({ action: 'look', queries: [{ why: 'how many', sql }] });
  test.each([
    [
      'a commit that does not parse',
      commit('SELEC count(*) FROM sprint_results'),
      /op_answer.*Syntax Error: Unexpected "SELEC"/,
    ],
    [
      'a commit that writes',
      commit('DROP TABLE sprint_results'),
      /op_answer.*DROP TABLE is not allowed: write one SELECT/,
    ],
    [
      'a look that does not parse',
      look('SELEC count(*) FROM sprint_results'),
      /query 1.*Syntax Error: Unexpected "SELEC"/,
    ],
    ['a look that writes', look('DELETE FROM sprint_results'), /query 1.*DELETE is not allowed: write one SELECT/],
  ])('%s', async (_claim, reply, cause) => {
    const { record, limits, trace } = await asked(() => JSON.stringify(reply));
    expect(record).toMatchObject({ status: 'failed', endedBy: 'unusable', sql: null });
    expect(record.reason).toMatch(/^the model gave no usable SQL in 4 tries: /);
    expect(record.reason).toMatch(cause);
    expect(limits).toHaveLength(4);
    expect(trace.lastBadReply?.text).toBe(JSON.stringify(reply));
  });

  test('an agent whose final SQL does not run says why', async () => {
    const { record, limits } = await asked(() => action({ finalSql: 'SELEC 1' }), { method: 'react' });
    expect(record).toMatchObject({ status: 'abstained' });
    expect(record.reason).toMatch(/its final SQL did not run: .*SELEC/);
    expect(limits).toHaveLength(4);
  });
});

test('with more room the cut reply is whole, and the search answers', async () => {
  const { record, limits } = await asked((_, index) => (index === 0 ? CUT : action({})), { method: 'react' });
  expect(record).toMatchObject({ status: 'answered', rows: [[18]], usage: { llmCalls: 2 } });
  expect(limits).toEqual([4096, 16_384]);
  expect(record.givenUp).toBeUndefined();
});

test('a model that ends without an answer has not failed: unanswerable stays what it is', async () => {
  const reply = action({ finalSql: null, unanswerable: true, answer: 'weather is not stored' });
  const { record } = await asked(() => reply, { method: 'react' });
  expect(record).toMatchObject({ status: 'unanswerable', reason: 'weather is not stored' });
});

test('asked again after the endpoint was mended, the model is asked anew, and what came before is not paid again', async () => {
  const look = action({ action: 'tool_call', tool: 'execute_sql', sql: COUNT, finalSql: null });
  const first = await asked((_, index) => (index === 0 ? look : 'lorem ipsum'), { method: 'react' });
  expect(first.record.status).toBe('failed');
  const again = await asked(() => action({}), { method: 'react', store: first.store });
  expect(again.record).toMatchObject({ status: 'answered', rows: [[18]] });
  expect(again.limits).toHaveLength(1);
  expect(again.record.usage).toMatchObject({ llmCalls: 2, possiblyBilledCalls: 1 });
});

test('gate ask ends with exit code 1, the cause in one line, and where the last reply is', async () => {
  const endpoint = await startModelEndpoint({ reply: () => 'lorem ipsum', models: [SIMULATED_MODEL] });
  try {
    const home = gateHome({ baseUrl: endpoint.baseUrl });
    const { code, err } = await home.here(['ask', question.question, '--db', path]);
    expect(code).toBe(1);
    expect(err).toMatch(/^gate: the model gave no usable action in 4 tries: the reply holds no JSON object$/m);
    expect(err).toMatch(/^gate show q-[0-9a-f]{16} --trace shows the last reply/m);
    const { out } = await home.here(['show', 'last', '--trace']);
    expect(out).toMatch(/Last reply of the model: .*\n {2}lorem ipsum/);
  } finally {
    await endpoint.close();
  }
});
