import { ApplicationFailureCategory, ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { publicMessage, toFailure } from '../../../src/activities/failures';
import { ModelError, SqlEngineError, StoreError, WebError } from '../../../src/domain/ports';

const model = (...rest: ConstructorParameters<typeof ModelError>) => new ModelError(...rest);
const sql = (...rest: ConstructorParameters<typeof SqlEngineError>) => new SqlEngineError(...rest);
const store = (...rest: ConstructorParameters<typeof StoreError>) => new StoreError(...rest);
const web = (...rest: ConstructorParameters<typeof WebError>) => new WebError(...rest);

type Row = [claim: string, error: Error, type: string, retried: boolean, message: string];
const table: readonly Row[] = [
  ['a 429 is retried', model('rate-limited', 'slow down'), 'ModelError.rate-limited', true, 'slow down'],
  ['a 5xx is retried', model('server-error', 'HTTP 503'), 'ModelError.server-error', true, 'HTTP 503'],
  [
    'a lost model connection is retried',
    model('connection', 'ECONNRESET'),
    'ModelError.connection',
    true,
    'ECONNRESET',
  ],
  ['a model that is silent is retried', model('timeout', 'no reply'), 'ModelError.timeout', true, 'no reply'],
  [
    'a bad key fails at once and names the key',
    model('authentication', 'HTTP 401'),
    'ModelError.authentication',
    false,
    'HTTP 401: check OPENAI_API_KEY',
  ],
  [
    'advice is not given twice',
    model('authentication', 'set OPENAI_API_KEY'),
    'ModelError.authentication',
    false,
    'set OPENAI_API_KEY',
  ],
  [
    'an unknown model fails at once and names the setting',
    model('unknown-model', 'no gpt-9.'),
    'ModelError.unknown-model',
    false,
    'no gpt-9: set GATE_MODEL (or --model) to a model that the endpoint serves',
  ],
  [
    'a refused request fails at once',
    model('bad-request', 'HTTP 400'),
    'ModelError.bad-request',
    false,
    'HTTP 400: check the model settings (GATE_MODEL, temperature, top-p, output cap)',
  ],
  [
    'a prompt that is too long fails at once, with its own advice',
    model('context-too-long', 'set GATE_MODEL to another'),
    'ModelError.context-too-long',
    false,
    'set GATE_MODEL to another',
  ],
  [
    'no model fails at once',
    model('not-configured', 'no model endpoint'),
    'ModelError.not-configured',
    false,
    'no model endpoint: set OPENAI_BASE_URL and OPENAI_API_KEY',
  ],
  [
    'a recording that differs fails at once',
    model('recording-mismatch', 'exchange 3 differs'),
    'ModelError.recording-mismatch',
    false,
    'exchange 3 differs: record again, or leave --replay out',
  ],
  [
    'a recording that ended fails at once',
    model('recording-ended', 'no exchange 9'),
    'ModelError.recording-ended',
    false,
    'no exchange 9: record again, or leave --replay out',
  ],
  [
    'a lost database connection is retried',
    sql('connection', 'terminated'),
    'SqlEngineError.connection',
    true,
    'terminated',
  ],
  [
    'a refused database login fails at once',
    sql('authentication', 'role x'),
    'SqlEngineError.authentication',
    false,
    'role x: check the user and password of the database URL',
  ],
  [
    'a missing database fails at once',
    sql('not-found', 'no file a.db'),
    'SqlEngineError.not-found',
    false,
    'no file a.db: check the path or URL given with --db',
  ],
  [
    'an unconfigured database fails at once',
    sql('not-configured', 'no database "x"'),
    'SqlEngineError.not-configured',
    false,
    'no database "x": configure the database on this worker',
  ],
  [
    'a writable database fails at once',
    sql('not-read-only', 'writable'),
    'SqlEngineError.not-read-only',
    false,
    'writable: give a connection that can be made read-only',
  ],
  ...[
    'PostgreSQL at h refused user u: password authentication failed; check user and password in the URL',
    'PostgreSQL at h has no database d: check the name in the URL',
    'a.db is not a SQLite database (or it is damaged or encrypted): name a SQLite 3 file',
    'cannot open a.db: unable to open; check that this user may read it and its folder',
  ].map((line): Row => [
    'what is said once is not said twice',
    sql('not-found', line),
    'SqlEngineError.not-found',
    false,
    line,
  ]),
  ['a store that is away is retried', store('unavailable', 'S3 503'), 'StoreError.unavailable', true, 'S3 503'],
  ['a corrupt object fails at once', store('corrupt', 'plans/p1.json'), 'StoreError.corrupt', false, 'plans/p1.json'],
  ['a missing object fails at once', store('missing', 'plans/p2.json'), 'StoreError.missing', false, 'plans/p2.json'],
  [
    'a conflicting object fails at once',
    store('conflict', 'plans/p3.json'),
    'StoreError.conflict',
    false,
    'plans/p3.json',
  ],
  [
    'a full store fails at once',
    store('full', 'ENOSPC'),
    'StoreError.full',
    false,
    'ENOSPC: free space in the store, then ask again: finished steps are kept',
  ],
  [
    'a store that is set up wrongly fails at once and names the setting',
    store('misconfigured', 'no bucket "x"'),
    'StoreError.misconfigured',
    false,
    'no bucket "x": check GATE_STORE (gate doctor tries it)',
  ],
  ['a lost web connection is retried', web('connection', 'ECONNRESET'), 'WebError.connection', true, 'ECONNRESET'],
  ['a silent site is retried', web('timeout', 'too long'), 'WebError.timeout', true, 'too long'],
  ['a busy site is retried', web('rate-limited', '429'), 'WebError.rate-limited', true, '429'],
  ['a failing site is retried', web('server-error', '503'), 'WebError.server-error', true, '503'],
  [
    'a bad key of the web search fails at once and names the setting',
    web('authentication', 'HTTP 401'),
    'WebError.authentication',
    false,
    'HTTP 401: check the key that web.apiKeyEnv or web.apiKeyFile names',
  ],
  [
    'a worker without the web fails at once and names the setting',
    web('not-configured', 'no web search'),
    'WebError.not-configured',
    false,
    'no web search: set "web" in the configuration of this worker',
  ],
  [
    'an answer that cannot be read fails at once',
    web('bad-answer', 'no JSON'),
    'WebError.bad-answer',
    false,
    'no JSON',
  ],
  [
    'a provider that is set up wrongly fails at once',
    web('misconfigured', '403: add json'),
    'WebError.misconfigured',
    false,
    '403: add json',
  ],
  ['a forbidden address fails at once', web('refused', 'private'), 'WebError.refused', false, 'private'],
  ['what robots.txt disallows fails at once', web('robots', 'no'), 'WebError.robots', false, 'no'],
  ['a missing page fails at once', web('not-found', '404'), 'WebError.not-found', false, '404'],
  ['a page of another type fails at once', web('unsupported', 'pdf'), 'WebError.unsupported', false, 'pdf'],
  ['a defect fails at once', new TypeError('x is undefined'), 'Defect', false, 'unexpected TypeError: x is undefined'],
  ['what nobody foresaw is retried', new Error('odd'), 'Unexpected', true, 'unexpected Error: odd'],
];

test.each(table)('%s', (_claim, error, type, retried, message) => {
  const failure = toFailure(error);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({ type, nonRetryable: !retried, message });
});

test('a 429 is retried after the delay that the server named, and is no failure worth a warning', () => {
  const failure = toFailure(model('rate-limited', 'slow down', { retryAfterMs: 1500 }));
  expect(failure).toMatchObject({ nextRetryDelay: 1500, category: ApplicationFailureCategory.BENIGN });
});

test('a delay of hours is cut to ten minutes', () => {
  expect(toFailure(model('rate-limited', 'x', { retryAfterMs: 9e9 }))).toMatchObject({ nextRetryDelay: 600_000 });
});

test('an answer that no waiting mends is given up after three attempts, an outage is not', () => {
  const page = model('bad-answer', 'a web page');
  expect(toFailure(page, { attempt: 2 })).toMatchObject({ nonRetryable: false });
  expect(toFailure(page, { attempt: 3 })).toMatchObject({
    ...{ nonRetryable: true, message: 'a web page: check OPENAI_BASE_URL' },
  });
  expect(toFailure(model('server-error', 'HTTP 500'), { attempt: 300 })).toMatchObject({ nonRetryable: false });
});

test('what nobody foresaw is given up after four attempts', () => {
  expect(toFailure(new Error('odd'), { attempt: 3 })).toMatchObject({ nonRetryable: false });
  expect(toFailure(new Error('odd'), { attempt: 4 })).toMatchObject({ nonRetryable: true });
});

test('an error of another realm is mapped by its name', () => {
  const foreign = { name: 'ModelError', code: 'server-error', message: 'HTTP 500', options: { retryAfterMs: 20 } };
  expect(toFailure(foreign)).toMatchObject({ type: 'ModelError.server-error', nextRetryDelay: 20 });
});

test("Temporal's own failures pass through", () => {
  const cancelled = new CancelledFailure('stop');
  expect(toFailure(cancelled)).toBe(cancelled);
});

test.each([
  ['postgres://bob:hunter2@db:5432/x refused', 'postgres://***@db:5432/x refused'],
  ['postgres://bob:hun@ter2@db:5432/x refused', 'postgres://***@db:5432/x refused'],
  ['key sk-proj-abcdefgh12345678 is wrong', 'key *** is wrong'],
  ['Authorization: Bearer abc.def', 'Authorization: Bearer ***'],
  ['connect password=hunter2 host=db', 'connect password=*** host=db'],
  ['{"api_key": "abc def", "n": 1}', '{"api_key": ***, "n": 1}'],
  ['two\nlines', 'two lines'],
])('%s loses its secret', (text, expected) => {
  expect(publicMessage(text)).toBe(expected);
});

test('a long message is cut to 500 characters', () => {
  expect(publicMessage('x'.repeat(900))).toHaveLength(500);
});

test('advice is left out where the message names another setting of ours', () => {
  const message = 'the recording /x cannot be written: give --record a writable file';
  expect(toFailure(new ModelError('not-configured', message)).message).toBe(message);
});

test('a message of one long word is cleaned at once', () => {
  const started = performance.now();
  expect(publicMessage(`${'a.'.repeat(100_000)} postgres://ann:pass@host/db`.slice(-150_000))).toContain('a.a.');
  expect(performance.now() - started).toBeLessThan(2_000);
});
