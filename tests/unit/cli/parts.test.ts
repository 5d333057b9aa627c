import { join } from 'node:path';
import { Command } from 'commander';
import { Secret } from '../../../src/config';
import { shownCommand } from '../../../src/cli/batch-run';
import { isOffered, modelsAt } from '../../../src/app/model-check';
import { errorText, GateError } from '../../../src/app/errors';
import { exitCodeOf, EXIT } from '../../../src/cli/exit';
import { nodeVersion } from '../../../src/app/doctor';
import { tellWhoReceivesRows } from '../../../src/app/notice';
import { addSearchOptions, collectModels, limitsOf, type SearchFlags } from '../../../src/cli/options';
import { progressDisplay } from '../../../src/cli/follow';
import { cutText } from '../../../src/cli/table';
import { textTable } from '../../../src/cli/table';
import { csv } from '../../../src/text/result-text';
import { Budgets } from '../../../src/domain';
import { DEFAULT_BUDGETS } from '../../../src/config/presets';
import type { Progress } from '../../../src/search/progress';
import { state } from '../report/fixture';
import { testProcess } from './test-io';

const progress: Progress = {
  iteration: 1,
  iterations: 6,
  trajectories: 2,
  open: 1,
  bottleneck: 'op_times',
  learned: null,
  candidates: 0,
  usage: state.usage,
  plan: [],
  frontier: [],
};

describe('options', () => {
  test('--model names one model for all roles and others for single ones', () => {
    expect(collectModels('reforce-link=small', collectModels('gpt-4o'))).toEqual({
      ...{ default: 'gpt-4o', 'reforce-link': 'small' },
    });
    expect(() => collectModels('re-link=x')).toThrow("'re-link' is not a role; allowed: look, ");
    const all = collectModels('gpt-4o');
    expect(collectModels('plan=o3', collectModels('openai/x=y', all))).toEqual({ default: 'openai/x=y', plan: 'o3' });
  });

  test('flags win over configured budgets and leave the others', () => {
    const parsed = addSearchOptions(new Command()).parse(['--max-cost', 'none', '--max', 'minutes=1.5'], {
      from: 'user',
    });
    const flags = parsed.opts<SearchFlags>();
    expect({ ...DEFAULT_BUDGETS, tokens: 5, ...limitsOf(flags) }).toEqual({
      ...DEFAULT_BUDGETS,
      tokens: 5,
      costUsd: null,
      wallMs: 90_000,
    });
  });

  test.each([
    ['minutes=1e-9', 'wallMs', 1],
    ['minutes=1e300', 'wallMs', Number.MAX_SAFE_INTEGER],
    ['sql-seconds=1e-9', 'sqlMs', 1],
    ['sql-seconds=1e300', 'sqlMs', Number.MAX_SAFE_INTEGER],
  ])('--max %s is a limit that can be stored', (text, name, expected) => {
    const flags = addSearchOptions(new Command()).parse(['--max', text], { from: 'user' }).opts<SearchFlags>();
    const budgets = { ...DEFAULT_BUDGETS, ...limitsOf(flags) };
    expect(budgets).toMatchObject({ [name]: expected });
    expect(Budgets.parse(budgets)).toEqual(budgets);
  });
});

describe('tables', () => {
  test('columns share the width, numbers stand right, control characters show', () => {
    const table = textTable(
      ['name', 'n'],
      [
        ['x'.repeat(50), 5],
        ['a\u001b[31mb\nc', 12],
        [null, 1],
      ],
      { width: 20 },
    );
    expect(table.split('\n').every((line) => line.length <= 20)).toBe(true);
    expect(table).toContain('…');
    expect(table).toContain('a\\u001b[31mb c');
    expect(table).toMatch(/NULL +1$/);
  });

  test('a float shows the digits that it holds for sure, and CSV is exact', () => {
    const row = [53518.840000000004, -0.1 - 0.2, 9007199254740991];
    expect(textTable(['a', 'b', 'c'], [row], { width: 80 }).split('\n').at(-1)).toBe(
      '53518.84  -0.3  9007199254740991',
    );
    expect(csv(['a', 'b', 'c'], [row])).toContain('53518.840000000004,-0.30000000000000004,9007199254740991');
  });

  test('columns without room fold into a line that counts and names them', () => {
    const names = Array.from({ length: 300 }, (_, at) => `measure_${at}`);
    const lines = textTable(names, [names.map(() => 0.5)], { width: 80 }).split('\n');
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    expect(lines[0]).toMatch(/^measure_0 +measure_1 /);
    expect(lines.at(-1)).toMatch(/^… and 29\d more columns: measure_\d+, measure_/);
  });

  test('an id stays whole, however narrow the table', () => {
    const table = textTable(['id', 'text'], [['q-0123456789abcdef', 'x'.repeat(90)]], { width: 30, whole: 1 });
    expect(table).toContain('q-0123456789abcdef  xxxxxxx');
  });

  test('a head of several words goes over lines before it is cut', () => {
    const table = textTable(['method', 'calls of a question', 'x'], [['gate', 1, 'y'.repeat(90)]], {
      width: 30,
      whole: 1,
    });
    expect(table.split('\n').slice(0, 4)).toEqual([
      'method  calls of a  x',
      '          question',
      '------  ----------  ----------',
      'gate             1  yyyyyyyyy…',
    ]);
  });

  test('a figure of a whole column is never cut, also under a head of several words', () => {
    const table = textTable(['method', 'mean ± SD over seeds', 'x'], [['gate', '100.00 ± 0.00', 'y'.repeat(90)]], {
      width: 30,
      whole: 2,
    });
    expect(table.split('\n')).toEqual([
      'method  mean ± SD      x',
      '        over seeds',
      `------  -------------  ${'-'.repeat(7)}`,
      `gate    100.00 ± 0.00  ${'y'.repeat(6)}…`,
    ]);
  });

  test('CSV keeps NULL and the empty text apart and quotes what it must', () => {
    expect(
      csv(
        ['a', 'b'],
        [
          [null, ''],
          ['x,"y"', true],
          ['two\nlines', 1.5],
        ],
      ),
    ).toBe('a,b\n,""\n"x,""y""",true\n"two\nlines",1.5\n');
  });
});

test('gate db sql says what a result was cut by', () => {
  expect(cutText(10, 10)).toBe('cut after 10 rows; --max-rows raises the limit');
  expect(cutText(1, 10)).toBe('cut after 1 row: the result is too large; select fewer columns or parts of the values');
});

describe('errors', () => {
  test('the innermost failure of a workflow is the line', () => {
    const inner = new Error('no model gpt-9: set GATE_MODEL');
    const activity = Object.assign(new Error('Activity task failed', { cause: inner }), { name: 'ActivityFailure' });
    const failed = Object.assign(new Error('Workflow execution failed', { cause: activity }), {
      name: 'WorkflowFailedError',
    });
    expect(errorText(failed, false)).toBe('no model gpt-9: set GATE_MODEL');
    expect(errorText(failed, true)).toContain('caused by');
  });

  test('a message on several lines becomes one, without a password', () => {
    expect(errorText(new Error('cannot reach\n postgres://u:hunter2@h/d'), false)).toBe(
      'cannot reach postgres://u:***@h/d',
    );
  });

  test('a password with an @ in it is hidden to its end, in messages and in the command of a batch', () => {
    expect(errorText(new Error('no postgres://u:hun@ter2@h/d'), false)).toBe('no postgres://u:***@h/d');
    const args = ['batch', 'run', '--db', 'a=postgres://u:hun@ter2@h/d?sslpassword=hunter2&sslmode=require'];
    expect(shownCommand(args, 'gate')).toBe(
      "gate batch run --db 'a=postgres://u:***@h/d?sslpassword=***&sslmode=require'",
    );
  });

  test('a configuration shows no control character of its file', () => {
    const error = Object.assign(new Error('FILE: \u001b[31mx: unknown setting\nFILE: y'), { name: 'ConfigError' });
    expect(errorText(error, false)).toBe('FILE: \\u001b[31mx: unknown setting\nFILE: y');
  });

  test('what was thrown decides the exit code', () => {
    expect(exitCodeOf(new Error('x'))).toBe(EXIT.failed);
    expect(exitCodeOf(Object.assign(new Error('x'), { name: 'ConfigError' }))).toBe(EXIT.usage);
    expect(exitCodeOf(new GateError('x', 'cancelled'))).toBe(EXIT.cancelled);
  });
});

describe('progress', () => {
  test('off a terminal a line says what is waited for when that changes, and every ten seconds', () => {
    const lines: string[] = [];
    let now = 100_000;
    const display = progressDisplay({ live: false, err: (text) => void lines.push(text), columns: 80, now: () => now });
    const show = (at: number, over: Partial<Progress>): void => {
      now = at;
      display.show({ ...progress, ...over });
    };
    const model = { what: 'gpt-5.4', sinceMs: 100_000 };
    show(100_400, { waiting: [model] });
    for (const at of [102_000, 104_000, 118_000]) show(at, { waiting: [model] });
    show(118_400, { waiting: [{ what: 'the database', sinceMs: 118_300 }] });
    show(120_000, {
      waiting: [
        { what: 'gpt-5.4', sinceMs: 119_000 },
        { what: 'gpt-5.4', sinceMs: 119_000 },
      ],
      proved: 1,
    });
    display.stop();
    expect(lines).toEqual([
      'waiting for gpt-5.4, 2 s; 11 queries done; working on op_times (4 model calls, $0.012)\n',
      'waiting for gpt-5.4, 18 s; 11 queries done; working on op_times (4 model calls, $0.012)\n',
      'waiting for gpt-5.4 (2 calls), 1 s; 11 queries done; 1 claim proved; working on op_times (4 model calls, $0.012)\n',
    ]);
  });

  test('on a terminal it redraws itself within the width and leaves nothing behind', () => {
    let text = '';
    const display = progressDisplay({ live: true, err: (more) => void (text += more), columns: 60, now: () => 0 });
    display.show({ ...progress, learned: 'x'.repeat(200) });
    display.note('a note that stays');
    const drawn = text.split('\n').map((line) => line.replace(/\u001b\[\d*[A-Z]/g, ''));
    expect(drawn.every((line) => line.length < 60)).toBe(true);
    expect(text).toContain('a note that stays\n');
    display.stop();
    // From the first column, wherever an interrupt's ^C left the cursor.
    expect(text).toMatch(/\r\u001b\[3A\u001b\[0J$/);
  });
});

describe('the notice of the first run', () => {
  const receivers = { endpoint: 'api.example.org', database: 'shop', identity: 'd-1', unpriced: [], costCeilingUsd: 1 };

  test('names the endpoint once per endpoint and database, and again for another database of the same name', () => {
    const { io, home } = testProcess();
    const folders = { config: '', data: '', cache: '', state: join(home, 'state') };
    const note = (line: string): void => io.err(`${line}\n`);
    tellWhoReceivesRows(folders, receivers, note);
    tellWhoReceivesRows(folders, receivers, note);
    expect(io.printed.err.match(/will be sent to api\.example\.org/g)).toHaveLength(1);
    tellWhoReceivesRows(folders, { ...receivers, identity: 'd-2' }, note);
    expect(io.printed.err.match(/will be sent to api\.example\.org/g)).toHaveLength(2);
    tellWhoReceivesRows(folders, { ...receivers, database: 'hr', unpriced: ['m'] }, note);
    expect(io.printed.err).toContain('No price is known for m');
  });
});

describe('modelsAt', () => {
  const models = { baseUrl: 'http://h/v1/', apiKey: new Secret('sk-1'), apiKeySource: 'OPENAI_API_KEY' };
  const reply =
    (status: number, body: unknown = {}): typeof fetch =>
    async () =>
      new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
  const asked = (get: typeof fetch, more: object = {}) => modelsAt('http://h/v1', { ...models, ...more }, get);

  test.each([
    [reply(200, { data: [{ id: 'a' }, { id: 'b' }] }), ['a', 'b']],
    [reply(404), []],
    [reply(200, '<html>'), []],
  ])('lists the models of an endpoint; one without a list is no mistake', async (get, listed) => {
    expect(await asked(get)).toEqual(listed);
  });

  test('what is wrong is one line that names address and setting, and never the key', async () => {
    const down = async (): Promise<Response> => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) });
    };
    await expect(asked(reply(401))).rejects.toThrow('http://h/v1: it refuses the key: correct OPENAI_API_KEY');
    await expect(asked(reply(401), { apiKey: null })).rejects.toThrow('set OPENAI_API_KEY');
    await expect(asked(down)).rejects.toThrow(
      'model endpoint http://h/v1 does not answer (ECONNREFUSED): start it, or correct OPENAI_BASE_URL',
    );
  });

  test.each([
    ...['gpt-5', 'gemini-x', 'models/gemini-x', 'org/name', 'org/name:free'].map((model) => [model, true] as const),
    ['gpt-6', false] as const,
  ])('of an endpoint that lists some models, %s is offered: %j', (model, offered) => {
    expect(isOffered(model, ['gpt-5', 'models/gemini-x', 'org/name'])).toBe(offered);
    // One that lists nothing, or patterns, refuses no model beforehand.
    expect([isOffered(model, []), isOffered(model, ['openai/*'])]).toEqual([true, true]);
  });
});

test('an old Node.js is named with the fix', () => {
  expect(nodeVersion('18.19.0')).toMatchObject({ state: 'missing', fix: 'install Node.js 20.19, 22.12 or newer' });
  expect(nodeVersion('22.11.0').state).toBe('missing');
  for (const version of ['20.19.0', '22.12.0', '24.1.0']) expect(nodeVersion(version).state).toBe('ok');
});
