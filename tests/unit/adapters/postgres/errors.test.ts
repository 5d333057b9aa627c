import { toResult } from '../../../../src/adapters/postgres/errors';

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
