import { toConnectError, toEngineError, toResult } from '../../../../src/adapters/postgres/errors';

const target = { host: 'db', database: 'd', user: 'u' };
const limits = { timeoutMs: 1_000, elapsedMs: 1 };
const resultOf = (error: object) => toResult(error, target, limits);

test.each(['EPIPE', 'ECONNRESET', undefined])('a line lost with code %s is no result of the statement', (code) => {
  expect(() => resultOf({ message: 'write EPIPE', code })).toThrow(
    expect.objectContaining({ code: 'connection', message: 'lost PostgreSQL at db: write EPIPE' }) as Error,
  );
});

test.each(['57P01', '57P03', '53300', '08006'])('neither is a server that shuts down or has no room: %s', (code) => {
  expect(() => resultOf({ message: 'no', code, severity: 'FATAL' })).toThrow(
    expect.objectContaining({ code: 'connection' }) as Error,
  );
});

test('what the server says of the statement is its result', () => {
  const error = { message: 'division by zero', code: '22012', severity: 'ERROR' };
  expect(resultOf(error)).toMatchObject({ kind: 'sql-error', code: '22012', message: 'division by zero' });
});

test.each([
  ['hung up before the login', 'connection', { message: 'Connection terminated unexpectedly' }],
  ['hung up before the login', 'connection', { message: 'read ECONNRESET', code: 'ECONNRESET' }],
  [
    "does not speak PostgreSQL's protocol",
    'connection',
    { message: 'There was an error establishing an SSL connection' },
  ],
  ['cannot be looked up', 'connection', { message: 'getaddrinfo EAI_AGAIN db', code: 'EAI_AGAIN' }],
  ['there is no way to db (EHOSTUNREACH)', 'connection', { message: 'connect', code: 'EHOSTUNREACH' }],
  ['text that UTF-8 cannot hold', 'not-configured', { message: 'no equivalent', code: '22P05', severity: 'ERROR' }],
])('before the login: %s', (line, code, error) => {
  const found = toConnectError(error, target);
  expect(found.message).toContain(line);
  expect(found.code).toBe(code);
});

test('a line that breaks later was PostgreSQL', () => {
  expect(toEngineError({ message: 'Connection terminated unexpectedly' }, target).message).toMatch(
    /^lost PostgreSQL at db/,
  );
});
