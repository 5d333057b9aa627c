/** The repeated agent on real steps in this process: its runs are children, and the paper's selector chooses. */
import { runInProcess } from '../../helpers/in-process';
import type { SearchHooks } from '../../../src/search/run';
import { ModelError, type ModelRequest } from '../../../src/domain/ports';
import { BrokenModelError } from '../../../src/search/select-answer';
import type { Settings } from '../../../src/domain';
import type { ScriptedReply } from '../../helpers/scripted';
import { childIdOf } from '../../../src/record/search-id';
import { askedUntil, newestSearches } from '../../../src/record/search-index';
import { createRunStore } from '../../../src/record/run-store';
import { renderTraceText, loadTrace, renderReport } from '../../../src/report';
import { bench, SEARCH, text } from '../roles/fixtures';

const hooks: SearchHooks = { now: () => 2_000, stopRequested: () => null, onProgress: () => undefined };
const action = (change: Record<string, unknown>) =>
  text({
    ...{ note: 'n', action: 'end', tool: null, sql: null, answer: null, finalSql: null, unanswerable: false },
    ...change,
  });
const ends = (sql: string, answer: string | null = null) => action({ finalSql: sql, answer });
const impossible = action({ unanswerable: true, answer: 'no column says so' });

interface Asked {
  /** By the number of the run, from 0. */
  readonly runs: readonly ((request: ModelRequest) => ScriptedReply)[];
  readonly select?: readonly string[];
  readonly settings?: Partial<Settings>;
  readonly store?: Awaited<ReturnType<typeof bench>>['store'];
  readonly hooks?: SearchHooks;
}

async function asked({ runs, select = ['1'], settings = {}, store, hooks: given = hooks }: Asked) {
  const left = [...select];
  const made = await bench(
    (request) =>
      request.role === 'select'
        ? (left.shift() ?? new ModelError('recording-ended', 'no choice left'))
        : (runs[request.seed - 7]?.(request) ?? new ModelError('recording-ended', 'no such run')),
    {
      settings: {
        method: 'react',
        spec: 'react:repeats=6',
        rounds: 5,
        seed: 7,
        repeated: { runs: runs.length },
        ...settings,
      },
      ...(store && { store }),
    },
  );
  const start = { searchId: SEARCH, settings: made.input.settings, state: null };
  const outcome = await runInProcess(start, made.steps, given);
  if (outcome.kind !== 'finished') throw new Error('it asked to be continued');
  const record = await createRunStore(made.store, SEARCH).get('result', SEARCH);
  const shown = made.model.requests.find(({ role }) => role === 'select')?.messages[1]?.content ?? '';
  return { ...made, summary: outcome.summary, record, shown };
}

const always = (reply: ScriptedReply) => () => reply;
const COUNT = 'SELECT count(*) AS n FROM entry';

test('every run is a react of its own, with the next seed; answers are merged and shown with how often they were found', async () => {
  const { model, record, shown, summary } = await asked({
    runs: [always(ends(`${COUNT} WHERE place = 2`)), always(ends(COUNT)), always(ends('SELECT 2 AS two'))],
    settings: { csvChars: 900 },
    select: ['2'],
  });
  expect(model.requests.map(({ role, seed }) => `${role} ${seed}`)).toEqual([
    ...['react 7', 'react 8', 'react 9'],
    'select 7',
  ]);
  expect(shown.match(/found by .*/g)).toEqual(['found by 2 paths; depth ?', 'found by 1 path; depth ?']);
  expect(shown).not.toContain('evidence: ');
  expect(summary).toMatchObject({ status: 'answered', sql: COUNT, usage: { llmCalls: 4, sqlExecutions: 3 } });
  expect(record.children?.map(({ method, status, llmCalls }) => [method, status, llmCalls])).toEqual(
    Array.from({ length: 3 }, () => ['react', 'answered', 1]),
  );
});

test('sentences are the same in any case, and as far as 200 characters; the rest of a list does not count', async () => {
  const long = 'x'.repeat(190);
  const { shown } = await asked({
    runs: [
      always(ends(COUNT, `There are {n} Entries ${long} and more.`)),
      always(ends(COUNT, `there ARE {n} entries ${long} and others.`)),
      always(ends(COUNT, `In all {n}.`)),
    ],
  });
  expect(shown.match(/found by \d/g)).toEqual(['found by 2', 'found by 1']);
});

test('in output mode sql the rows are the answer, whatever their columns are called', async () => {
  const made = await bench(
    (request) => (request.role === 'select' ? '1' : ends(request.seed === 0 ? COUNT : 'SELECT 8 AS entries')),
    { settings: { method: 'react', spec: 'react:repeats=6', repeated: { runs: 2 } } },
  );
  const input = { ...made.input, question: { ...made.input.question, outputMode: 'sql' as const } };
  await createRunStore(made.store, SEARCH).put('input', SEARCH, input);
  await runInProcess({ searchId: SEARCH, settings: input.settings, state: null }, made.steps, hooks);
  const shown = made.model.requests.at(-1)?.messages[1]?.content ?? '';
  expect(shown.match(/found by \d/g)).toEqual(['found by 2']);
  expect(shown).toContain('answer: n\n8');
});

test('at most ten answers are shown', async () => {
  const { shown } = await asked({
    runs: Array.from({ length: 12 }, (_, at) => always(ends(`SELECT ${at} AS n`))),
  });
  expect(shown.match(/found by /g)).toHaveLength(10);
});

test.each([
  ['0 abstains', ['0'], { status: 'abstained', sql: null, reason: 'no candidate was reliable enough' }],
  ['no usable reply takes the first', ['both', 'neither'], { status: 'answered', sql: COUNT }],
])('%s', async (_claim, select, wanted) => {
  const settings = { parseRetries: 1 };
  const { summary } = await asked({ runs: [always(ends(COUNT)), always(ends('SELECT 9 AS n'))], select, settings });
  expect(summary).toMatchObject(wanted);
});

test('that the question cannot be answered is a candidate like any other', async () => {
  const { summary, shown } = await asked({ runs: [always(impossible), always(impossible), always(ends(COUNT))] });
  expect(summary).toMatchObject({ status: 'unanswerable', reason: 'no column says so' });
  expect(shown).toContain('answer: unanswerable: no column says so');
});

test('a run that fails is charged and is one answer less; if all fail, so does the question', async () => {
  const broken = always('lorem ipsum');
  const { summary, record } = await asked({ runs: [broken, always(ends(COUNT))], settings: { parseRetries: 0 } });
  expect(summary).toMatchObject({ status: 'answered', usage: { llmCalls: 3 } });
  expect(record.children?.map(({ status }) => status)).toEqual(['failed', 'answered']);
  await expect(asked({ runs: [broken, broken], settings: { parseRetries: 0 } })).rejects.toBeInstanceOf(
    BrokenModelError,
  );
});

test('the budgets are shared out, and one call is kept for the choice', async () => {
  const looks = always(action({ action: 'tool_call', tool: 'execute_sql', sql: COUNT }));
  const budgets = {
    llmCalls: 6,
    tokens: null,
    costUsd: null,
    wallMs: null,
    sqlExecutions: null,
    sqlMs: null,
    sqlRows: null,
    sqlBytes: null,
  };
  const { summary, record } = await asked({ runs: [looks, looks, always(ends(COUNT))], settings: { budgets } });
  expect(record.children?.map(({ llmCalls, endedBy }) => [llmCalls, endedBy])).toEqual([
    [2, 'budget:llmCalls'],
    [2, 'budget:llmCalls'],
    [1, 'finished'],
  ]);
  expect(summary).toMatchObject({ status: 'answered', usage: { llmCalls: 6 } });
});

test('asked again, a run that ended is neither run nor paid again; it counts', async () => {
  const first = await asked({ runs: [always(ends(COUNT)), always(ends(COUNT))] });
  const again = await asked({ runs: [], store: first.store, settings: { repeated: { runs: 2 } } });
  expect(again.model.requests).toEqual([]);
  expect(again.summary).toEqual(first.summary);
});

test('stopped in the middle, it answers with what its runs had, and makes no further call (D6)', async () => {
  let calls = 0;
  const { summary, model } = await asked({
    runs: [
      always(ends(COUNT)),
      () => {
        calls += 1;
        return action({ action: 'tool_call', tool: 'execute_sql', sql: COUNT });
      },
    ],
    hooks: { ...hooks, stopRequested: () => (calls > 2 ? 'stop' : null) },
  });
  expect(summary).toMatchObject({ status: 'answered', endedBy: 'stop', sql: COUNT });
  expect(model.callsTo('select')).toBe(0);
});

test('the report names its runs; they are searches of their own that no list shows', async () => {
  const { store, record } = await asked({ runs: [always(ends(COUNT)), always(impossible)] });
  const ids = ['run1', 'run2'].map((position) => childIdOf({ searchId: SEARCH, position }));
  expect(record.children?.map(({ id }) => id)).toEqual(ids);
  const trace = (await loadTrace(store, SEARCH))!;
  for (const id of ids) {
    expect(renderReport(trace)).toContain(id);
    expect(renderTraceText(trace)).toContain(`${id} react: `);
    expect((await createRunStore(store, id).get('input', id)).childOf).toBe(SEARCH);
  }
  expect((await newestSearches(store, 9)).map(({ id }) => id)).toEqual([SEARCH]);
  // `gate ops gc` finds them.
  expect([...(await askedUntil(store, Date.now())).keys()].sort()).toEqual([SEARCH, ...ids].sort());
});
