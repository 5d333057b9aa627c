import { ApplicationFailureCategory, ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { publicMessage, toFailure } from '../../../src/activities/failures';
import { ModelError, SqlEngineError, StoreError, WebError } from '../../../src/domain/ports';
import { computingMs } from '../../helpers/computing';

const model = (...rest: ConstructorParameters<typeof ModelError>) => new ModelError(...rest);
const sql = (...rest: ConstructorParameters<typeof SqlEngineError>) => new SqlEngineError(...rest);
const store = (...rest: ConstructorParameters<typeof StoreError>) => new StoreError(...rest);
const web = (...rest: ConstructorParameters<typeof WebError>) => new WebError(...rest);

const [RETRIED, AT_ONCE] = [true, false];
const CONFIGURED = 'set OPENAI_BASE_URL and OPENAI_API_KEY';

/** What follows on the message is the advice of the rule. */
const table: readonly (readonly [error: Error, retried: boolean, advice?: string])[] = [
  [model('rate-limited', 'slow down'), RETRIED],
  [model('server-error', 'HTTP 503'), RETRIED],
  [model('connection', 'ECONNRESET'), RETRIED],
  [model('timeout', 'no reply'), RETRIED],
  [model('authentication', 'HTTP 401'), AT_ONCE, 'check OPENAI_API_KEY'],
  // Advice is not given twice.
  [model('authentication', 'set OPENAI_API_KEY'), AT_ONCE],
  [model('unknown-model', 'no gpt-9'), AT_ONCE, 'set GATE_MODEL (or --model) to a model that the endpoint serves'],
  [model('bad-request', 'HTTP 400'), AT_ONCE, 'check the model settings (GATE_MODEL, temperature, top-p, output cap)'],
  [model('context-too-long', 'set GATE_MODEL to another'), AT_ONCE],
  [model('not-configured', 'no model endpoint'), AT_ONCE, CONFIGURED],
  [model('not-configured', 'the recording /x cannot be written: give --record a writable file'), AT_ONCE],
  [model('recording-mismatch', 'exchange 3 differs'), AT_ONCE, 'record again, or leave --replay out'],
  [model('recording-ended', 'no exchange 9'), AT_ONCE, 'record again, or leave --replay out'],
  [sql('connection', 'terminated'), RETRIED],
  [sql('authentication', 'role x'), AT_ONCE, 'check the user and password of the database URL'],
  [sql('not-found', 'no file a.db'), AT_ONCE, 'check the path or URL given with --db'],
  [sql('not-configured', 'no database "x"'), AT_ONCE, 'configure the database on this worker'],
  [sql('not-read-only', 'writable'), AT_ONCE, 'give a connection that can be made read-only'],
  // What an adapter says with an instruction is complete.
  [sql('not-found', 'PostgreSQL at h refused user u: wrong password; check user and password in the URL'), AT_ONCE],
  [sql('not-found', 'PostgreSQL at h has no database d: check the name in the URL'), AT_ONCE],
  [sql('not-found', 'a.db is not a SQLite database (or it is encrypted): name a SQLite 3 file'), AT_ONCE],
  [sql('not-found', 'cannot open a.db: unable to open; check that this user may read it and its folder'), AT_ONCE],
  [sql('not-found', 'q-1, which this question follows, has no answer: ask that one first'), AT_ONCE],
  [store('unavailable', 'S3 503'), RETRIED],
  [store('wrong-key', 'k1'), RETRIED],
  [store('corrupt', 'plans/p1.json'), AT_ONCE],
  [store('missing', 'plans/p2.json'), AT_ONCE],
  [store('conflict', 'plans/p3.json'), AT_ONCE],
  [store('full', 'ENOSPC'), AT_ONCE, 'free space in the store, then ask again: finished steps are kept'],
  [store('misconfigured', 'no bucket "x"'), AT_ONCE, 'check GATE_STORE (gate doctor tries it)'],
  [web('connection', 'ECONNRESET'), RETRIED],
  [web('timeout', 'too long'), RETRIED],
  [web('rate-limited', '429'), RETRIED],
  [web('server-error', '503'), RETRIED],
  [web('authentication', 'HTTP 401'), AT_ONCE, 'check the key that web.apiKeyEnv or web.apiKeyFile names'],
  [web('not-configured', 'no web search'), AT_ONCE, 'set "web" in the configuration of this worker'],
  [web('bad-answer', 'no JSON'), AT_ONCE],
  [web('misconfigured', '403: add json'), AT_ONCE],
  [web('refused', 'private'), AT_ONCE],
  [web('robots', 'no'), AT_ONCE],
  [web('not-found', '404'), AT_ONCE],
  [web('unsupported', 'pdf'), AT_ONCE],
];

test.each(table.map(([error, retried, advice]) => ({ error, name: error.name, said: error.message, retried, advice })))(
  '$name, $said: tried again: $retried',
  ({ error, retried, advice }) => {
    const message = advice === undefined ? error.message : `${error.message}: ${advice}`;
    const type = `${error.name}.${(error as ModelError).code}`;
    expect(toFailure(error)).toBeInstanceOf(ApplicationFailure);
    expect(toFailure(error)).toMatchObject({ type, nonRetryable: !retried, message });
  },
);

test('a defect fails at once; what nobody foresaw is given up after four attempts', () => {
  expect(toFailure(new TypeError('x is undefined'))).toMatchObject({
    ...{ type: 'Defect', nonRetryable: true, message: 'unexpected TypeError: x is undefined' },
  });
  const odd = { type: 'Unexpected', message: 'unexpected Error: odd' };
  expect(toFailure(new Error('odd'), 3)).toMatchObject({ ...odd, nonRetryable: false });
  expect(toFailure(new Error('odd'), 4)).toMatchObject({ ...odd, nonRetryable: true });
});

test('a 429 is retried after the delay that the server named, and is no failure worth a warning', () => {
  const failure = toFailure(model('rate-limited', 'slow down', { retryAfterMs: 1500 }));
  expect(failure).toMatchObject({ nextRetryDelay: 1500, category: ApplicationFailureCategory.BENIGN });
});

test('a delay of hours is cut to ten minutes', () => {
  expect(toFailure(model('rate-limited', 'x', { retryAfterMs: 9e9 }))).toMatchObject({ nextRetryDelay: 600_000 });
});

test('an answer that no waiting mends and a statement that may end its server are given up, an outage is not', () => {
  const page = model('bad-answer', 'a web page');
  expect(toFailure(page, 2)).toMatchObject({ nonRetryable: false });
  expect(toFailure(page, 3)).toMatchObject({
    ...{ nonRetryable: true, message: 'a web page: check OPENAI_BASE_URL' },
  });
  const lost = sql('lost', 'lost PostgreSQL at h: Connection terminated unexpectedly');
  expect(toFailure(lost, 1)).toMatchObject({ nonRetryable: false });
  expect(toFailure(lost, 2)).toMatchObject({
    nonRetryable: true,
    message: `${lost.message}: look at the database's log: the statement may be why`,
  });
  expect(toFailure(model('server-error', 'HTTP 500'), 300)).toMatchObject({ nonRetryable: false });
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

test('a message of one long word is cleaned at once', () => {
  const word = `${'a.'.repeat(100_000)} postgres://ann:pass@host/db`.slice(-150_000);
  expect(computingMs(() => expect(publicMessage(word)).toContain('a.a.'))).toBeLessThan(2_000);
});
