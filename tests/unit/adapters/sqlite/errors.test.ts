import { orThrow } from '../../../../src/adapters/sqlite/errors';

test('a database in WAL mode in a folder that may not be written is no outage, and the line says what to do', () => {
  const end = {
    kind: 'error',
    code: 'UNKNOWN_SQLITE_ERROR_1544',
    message: 'attempt to write a readonly database',
  } as const;
  expect(() => orThrow(end, 'a.db')).toThrow(
    expect.objectContaining({
      code: 'not-found',
      message: expect.stringContaining('let this user write into its folder') as string,
    }) as Error,
  );
});
