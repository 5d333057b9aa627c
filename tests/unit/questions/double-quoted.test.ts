import { runAsWritten } from '../../../src/questions/double-quoted';
import type { SqlEngine, SqlOptions } from '../../../src/domain/ports';

const OPTIONS: SqlOptions = { timeoutMs: 1000, maxRows: 1, signal: new AbortController().signal, tag: 'gold' };

/** Knows no column X. */
const engine = {
  dialect: 'sqlite',
  run: async (statements: readonly string[]) => ({
    takenAt: '',
    results: statements.map(() => ({ kind: 'sql-error', message: 'no such column: X', code: null, elapsedMs: 1 })),
  }),
} as unknown as SqlEngine;

test.each([
  ['SELECT a FROM t WHERE b = "X"', `SELECT a FROM t WHERE b = 'X'`],
  ['SELECT t."X", t . "X" FROM t', null],
  [`SELECT 'a "X"', [b "X"], \`c "X"\` /* "X" */ FROM t -- "X"`, null],
  ['SELECT "X""", "x" FROM t', null],
])('the name that is no column becomes a text where it may be one: %s', async (sql, expected) => {
  const { statements } = await runAsWritten(['SELECT "X"', sql], engine, OPTIONS);
  expect(statements).toEqual(['SELECT "X"', expected ?? sql]);
});
