/** The methods redel-… over the real steps: who may delegate what and when, and what comes back to whom. */
import type { Budgets, Settings } from '../../../src/domain';
import { settingsFor, type Figures } from '../../../src/config/presets';
import { runInProcess } from '../../helpers/in-process';
import { ModelError, type ModelRequest } from '../../../src/domain/ports';
import { loadTrace, renderReport, renderTraceText } from '../../../src/report';
import { createRunStore } from '../../../src/record/run-store';
import { SEARCH, bench, searchInput, text, hooks } from './fixtures';

type Reply = Record<string, unknown> | ModelError;

const QUESTION = searchInput().question.text;
const FINAL = { note: 'done', action: 'end', finalSql: 'SELECT count(*) AS n FROM entry WHERE place = 2' };
const delegate = (...subtasks: string[]) => ({ note: 'split', action: 'delegate', subtasks });
const asks = (sql: string) => ({ note: 'look', action: 'tool_call', tool: 'execute_sql', sql });
const asksTogether = (...queries: string[]) => ({
  ...{ note: 'look', action: 'tool_call', tool: 'execute_sql' },
  queries: queries.map((sql) => ({ why: 'w', sql })),
});
const MARKS = 'List the forms of entry.mark.';
const CARS = 'Count the cars of the table entry.';

function taskOf({ messages }: ModelRequest): string {
  return /^(?:Question|Subtask): (.*)$/m.exec(messages[1]!.content)![1]!;
}

/** `script`: the replies of each agent, by what it is asked. */
async function ran(
  figures: Figures,
  script: Readonly<Record<string, readonly Reply[]>>,
  change: Partial<Settings> = {},
) {
  const used = new Map<string, number>();
  const { redel, rounds, queriesPerAction } = settingsFor({
    ...{ method: 'redel', models: { default: 'm' }, overrides: { figures } },
  });
  const given = { ...change, redel: { ...redel!, ...change.redel } };
  const made = await bench(
    (request) => {
      const task = taskOf(request);
      const at = used.get(task) ?? 0;
      used.set(task, at + 1);
      const reply = script[task]?.[at];
      if (reply === undefined) throw new Error(`no reply ${at} to ${task}`);
      return reply instanceof ModelError ? reply : text(reply);
    },
    {
      settings: { method: 'redel', spec: `redel:${figures}`, rounds, queriesPerAction, ...given },
    },
  );
  const outcome = await runInProcess(made.start, made.steps, hooks);
  if (outcome.kind !== 'finished') throw new Error('not finished');
  const told = (task: string) =>
    made.model.requests.filter((request) => taskOf(request) === task).map(({ messages }) => messages.at(-1)!.content);
  const record = await made.record();
  const child = (at: number) => {
    const { id } = record.children![at]!;
    return createRunStore(made.deps.store, id).get('input', id);
  };
  return { ...made, record, told, child, summary: outcome.summary };
}

const limits = (some: Partial<Budgets>) => ({ budgets: { ...searchInput().settings.budgets, ...some } });

describe('seed', () => {
  const late = [asks('SELECT 1'), asks('SELECT 2'), asks('SELECT 3'), asks('SELECT 4')];

  test('delegates late: a helper is refused until more than 60 % of the calls are used, and that costs a call', async () => {
    const { told, record, summary } = await ran(
      'seed',
      {
        [QUESTION]: [asks('SELECT 1'), asks('SELECT 2'), asks('SELECT 3'), delegate(MARKS), delegate(MARKS), FINAL],
        [MARKS]: [
          asks('SELECT mark FROM entry'),
          { note: 'n', action: 'end', findings: [{ about: 'value', fact: '+s' }] },
        ],
      },
      { rounds: 6 },
    );
    expect(told(QUESTION)[4]).toMatch(/<data name="helper 1, refused">\nToo early: .* until 4 of your 6 tool calls/);
    expect(told(QUESTION)[4]).toContain('Tool calls used: 4 of 6 by you, 4 of 30 by all agents. A helper has 5.');
    expect(told(QUESTION)[5]).toContain('<data name="helper 1, reported">\n- value: +s\n</data>');
    expect(told(QUESTION)[5]).toContain('Tool calls used: 4 of 6 by you, 5 of 30 by all agents. A helper has 5.');
    expect(record).toMatchObject({ status: 'answered', rows: [[2]], toolCalls: 5, usage: { llmCalls: 8 } });
    expect(record.children).toMatchObject([{ question: MARKS, method: 'redel:seed', status: 'answered', llmCalls: 2 }]);
    expect(summary.usage.sqlExecutions).toBe(5);
  });

  test('the first turns are its own, however small its budget', async () => {
    const { told } = await ran('seed', { [QUESTION]: [asks('SELECT 1'), delegate(MARKS), FINAL] }, { rounds: 1 });
    expect(told(QUESTION)[2]).toContain('helper 1, refused">\nToo early');
  });

  test.each(['Solve the query', 'Find the answer.', 'answer the question for me', `${QUESTION} Tell me`])(
    'a broad subtask is refused: %s',
    async (broad) => {
      const { told, record } = await ran('seed', { [QUESTION]: [...late, delegate(broad), FINAL] }, { rounds: 5 });
      expect(told(QUESTION)[5]).toMatch(/helper 1, refused">\nToo broad/);
      expect(record.children).toBeUndefined();
    },
  );

  test('a helper sees its subtask and the schema, not the question; it has no helpers and reports facts', async () => {
    const { model, child } = await ran(
      'seed',
      {
        [QUESTION]: [...late, delegate(MARKS), FINAL],
        [MARKS]: [{ note: 'n', action: 'end', findings: [{ about: 'column', fact: 'mark is text' }] }],
      },
      { rounds: 5 },
    );
    const { messages } = model.requests.find((request) => taskOf(request) === MARKS)!;
    expect(messages).toHaveLength(2);
    const shown = messages[1]!.content;
    expect(shown).not.toContain(QUESTION);
    expect(shown).toContain('TABLE entry');
    expect(shown).not.toContain('delegate');
    expect(shown).toContain('Tool calls used: 0 of 5 by you, 4 of 30 by all agents.');
    expect(await child(0)).toMatchObject({
      ...{ childOf: SEARCH, question: { text: MARKS, context: null, documents: [] } },
      settings: { rounds: 5, redel: { depth: 1, level: 1, callsBefore: 4 } },
    });
  });

  test('all agents share one budget: a helper gets what is left of it, and then all are done', async () => {
    const { told, child, record } = await ran(
      'seed',
      {
        [QUESTION]: [...late, delegate(MARKS), asks('SELECT 5'), FINAL],
        [MARKS]: [
          asks('SELECT 6'),
          asks('SELECT 7'),
          asks('SELECT 8'),
          { note: 'n', action: 'end', findings: [{ about: 'other', fact: 'nothing' }] },
        ],
      },
      { rounds: 5, redel: { figures: 'seed', depth: 1, children: 4, childCalls: 5, allCalls: 6 } },
    );
    expect((await child(0)).settings.rounds).toBe(2);
    expect(told(MARKS)[2]).toContain('6 of 6 by all agents. No tool calls left: the action must be end.');
    expect(told(QUESTION)[5]).toContain(
      '6 of 6 by all agents. A helper has 5. No tool calls left: the action must be end.',
    );
    expect(told(QUESTION)[6]).toMatch(/"tool_call" with no tool calls left/);
    expect(record).toMatchObject({ status: 'answered', toolCalls: 6 });
  });

  test('it may have so many helpers and no more', async () => {
    const { told } = await ran(
      'seed',
      {
        [QUESTION]: [...late, delegate(MARKS), delegate(CARS), FINAL],
        [MARKS]: [{ note: 'n', action: 'end', findings: [{ about: 'other', fact: 'f' }] }],
      },
      { rounds: 6, redel: { figures: 'seed', depth: 1, children: 1, childCalls: 5 } },
    );
    expect(told(QUESTION)[6]).toContain('You have had all 1 helpers');
  });
});

test('report and trace show the subtasks of an agent with what came back, and the findings of a helper as its answer', async () => {
  const { deps, record } = await ran('official', {
    [QUESTION]: [delegate(MARKS, QUESTION), FINAL],
    [MARKS]: [{ note: '', action: 'end', report: 'gaps begin with +' }],
  });
  const { id } = record.children![0]!;
  const shown = async (of: string) => {
    const trace = await loadTrace(deps.store, of);
    return { text: renderTraceText(trace!), html: renderReport(trace!) };
  };
  const root = await shown(SEARCH);
  expect(root.text).toContain(`attempt i1.tool: subtask ${MARKS} · reported · ${id}\n      gaps begin with +`);
  expect(root.html).toMatch(/subtask List the forms.*reported.*gaps begin with \+.*refused/s);
  expect((await shown(id)).html).toContain('gaps begin with +');
});

describe('official', () => {
  test('delegates eagerly, having no tool of its own: several at once, and the texts of the helpers come back', async () => {
    const { model, told, record } = await ran('official', {
      [QUESTION]: [delegate(MARKS, CARS), FINAL],
      [MARKS]: [
        asksTogether('SELECT mark FROM entry', 'SELECT 1'),
        { note: 'so', action: 'end', report: 'gaps begin with +' },
      ],
      [CARS]: [{ note: 'known', action: 'end', report: 'four cars' }],
    });
    const first = model.requests[0]!.messages[1]!.content;
    expect(first).not.toContain('execute_sql');
    expect(told(MARKS)[1]).toContain('<data name="result 2">');
    expect(told(QUESTION)[1]).toContain('<data name="helper 1, reported">\nlook\nso\ngaps begin with +\n</data>');
    expect(told(QUESTION)[1]).toContain('<data name="helper 2, reported">\nknown\nfour cars\n</data>');
    expect(record).toMatchObject({ status: 'answered', rows: [[2]] });
    expect(record.children?.map(({ question }) => question)).toEqual([MARKS, CARS]);
    expect(record.usage.llmCalls).toBe(5);
  });

  test('what repeats its own task by more than 80 % is refused with advice, also of a helper', async () => {
    const { told, record } = await ran('official', {
      [QUESTION]: [delegate(`${QUESTION}!`, MARKS), FINAL],
      [MARKS]: [delegate('List all forms of entry.mark.'), { note: 'n', action: 'end', report: 'r' }],
    });
    expect(told(QUESTION)[1]).toMatch(/helper 1, refused">\nYou should not hand on the whole task: .* split it/);
    expect(told(QUESTION)[1]).toContain('helper 2, reported');
    expect(told(MARKS)[1]).toContain('helper 1, refused');
    expect(record.children).toHaveLength(1);
  });

  test('a helper that fails is a text to its agent, which goes on; what it spent is charged', async () => {
    const { told, record } = await ran('official', {
      [QUESTION]: [delegate(MARKS, CARS), FINAL],
      [MARKS]: [asksTogether('SELECT 1'), new ModelError('bad-request', 'the model refused')],
      [CARS]: [{ note: '', action: 'end', report: 'four cars' }],
    });
    expect(told(QUESTION)[1]).toMatch(/<data name="helper 1, failed">\nThe helper failed: .*the model refused/);
    expect(told(QUESTION)[1]).toContain('four cars');
    expect(record).toMatchObject({ status: 'answered', usage: { llmCalls: 4, sqlExecutions: 2 } });
  });

  test('a helper has five rounds, then only its report', async () => {
    const { told } = await ran('official', {
      [QUESTION]: [delegate(MARKS), FINAL],
      [MARKS]: [
        ...[1, 2, 3, 4, 5, 6].map((n) => asksTogether(`SELECT ${n}`)),
        { note: '', action: 'end', report: 'r' },
      ],
    });
    expect(told(MARKS)[5]).toContain('No tool calls left: the action must be end.');
    expect(told(MARKS)[6]).toMatch(/found "tool_call" with no tool calls left/);
  });

  test('the deepest helper has no helpers', async () => {
    const { model, child } = await ran(
      'official',
      {
        [QUESTION]: [delegate(MARKS), FINAL],
        [MARKS]: [delegate(CARS), { note: '', action: 'end', report: 'r' }],
        [CARS]: [{ note: '', action: 'end', report: 'four' }],
      },
      { redel: { figures: 'official', depth: 1, children: 8, childCalls: 5 } },
    );
    const shown = (task: string) => model.requests.find((request) => taskOf(request) === task)!.messages[1]!.content;
    expect(shown(MARKS)).toContain('- delegate:');
    expect(shown(CARS)).not.toContain('delegate');
    expect((await child(0)).settings.redel).toMatchObject({ level: 1, callsBefore: 0 });
  });

  test('helpers at the same time share what is left of the limits of the search', async () => {
    const { child } = await ran(
      'official',
      {
        [QUESTION]: [delegate(MARKS, CARS), FINAL],
        [MARKS]: [{ note: '', action: 'end', report: 'r' }],
        [CARS]: [{ note: '', action: 'end', report: 'r' }],
      },
      limits({ llmCalls: 8, costUsd: 1, wallMs: 60_000 }),
    );
    expect((await child(0)).settings.budgets).toMatchObject({ llmCalls: 4, costUsd: 0.5, wallMs: 60_000 });
    expect((await child(1)).settings.budgets).toMatchObject({ llmCalls: 3, costUsd: 0.5 });
  });

  test('where too little is left for a helper, none begins', async () => {
    const { told, record } = await ran(
      'official',
      {
        [QUESTION]: [delegate(MARKS, CARS), FINAL],
        [MARKS]: [{ note: '', action: 'end', report: 'r' }],
      },
      limits({ llmCalls: 2 }),
    );
    expect(told(QUESTION)).toHaveLength(1);
    expect(record).toMatchObject({ status: 'abstained', endedBy: 'budget:llmCalls', usage: { llmCalls: 2 } });
  });
});
