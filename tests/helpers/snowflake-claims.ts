/**
 * Claims of the port SqlEngine that the stand-in for Snowflake cannot bear out: it ends no query, and keeps one of several
 * columns of a name. They are made here against a server that records; and what Snowflake guarantees less, as it is.
 */
import { createSnowflakeEngine } from '../../src/adapters/snowflake';
import type { SqlEngine, SqlOptions } from '../../src/domain/ports/sql-engine';
import { startRecorder, type Recorder, type Reply } from './snowflake-recorder';

const options = (more: Partial<SqlOptions> = {}): SqlOptions => ({
  ...{ timeoutMs: 20_000, maxRows: 100, signal: new AbortController().signal, tag: 's1 i1.probe' },
  ...more,
});

const table = (names: readonly string[], ...rows: readonly (readonly string[])[]): Reply => ({
  columns: names.map((name) => [name, 'fixed'] as const),
  rows,
});

async function withRecorder(
  reply: (sql: string, recorder: Recorder) => Reply | undefined,
  claim: (engine: SqlEngine, recorder: Recorder) => Promise<void>,
): Promise<void> {
  const recorder: Recorder = await startRecorder({ onQuery: ({ sql }) => reply(sql, recorder) });
  const url = 'snowflake://ann:secret@my-account/club/public?warehouse=wh&role=reader';
  const engine = createSnowflakeEngine({ url, options: { accessUrl: recorder.accessUrl } });
  try {
    await claim(engine, recorder);
  } finally {
    await engine.close();
    await recorder.close();
  }
}

const slowNeverEnds = (sql: string): Reply | undefined => (sql === 'SELECT slow' ? 'never' : undefined);

/** What is claimed in place of a claim of the suite. */
export interface Instead {
  /** Where it is a weaker one. */
  readonly weaker?: string;
  readonly run: () => Promise<void>;
}

/** By the claim that each stands for. */
export const onRecorder: Readonly<Record<string, Instead>> = {
  // The server is told to stop at one row more than the cap.
  'an endless result costs no more than its cap': {
    run: () =>
      withRecorder(
        (sql) => (sql === 'SELECT i' ? table(['I'], ...Array.from({ length: 11 }, (_, i) => [String(i)])) : undefined),
        async (engine, recorder) => {
          const { results } = await engine.run(['SELECT i'], options({ maxRows: 10 }));
          expect(results).toMatchObject([{ rows: Array.from({ length: 10 }, (_, i) => [i]), truncated: true }]);
          expect(recorder.queries.at(-1)?.parameters).toMatchObject({ ROWS_PER_RESULTSET: 11 });
        },
      ),
  },

  'a runaway query ends after one retry as a timeout, and its neighbours keep their results': {
    run: () =>
      withRecorder(slowNeverEnds, async (engine, recorder) => {
        const statements = ['SELECT 5', 'SELECT slow', 'SELECT 7'];
        const { results } = await engine.run(statements, options({ timeoutMs: 1_200 }));
        expect(results).toMatchObject([{ rows: [[1]] }, { kind: 'timeout', afterMs: 1_200 }, { rows: [[1]] }]);
        const slow = recorder.queries.filter(({ sql }) => sql === 'SELECT slow').map(({ requestId }) => requestId);
        expect(slow).toHaveLength(2);
        expect(recorder.aborts.map(({ body }) => body['requestId'])).toEqual(slow);
      }),
  },

  'an abort ends the statement at once, and the engine goes on working': {
    run: () => {
      const controller = new AbortController();
      return withRecorder(
        (sql) => {
          if (sql === 'SELECT slow') setImmediate(() => controller.abort(new Error('cancelled by the user')));
          return slowNeverEnds(sql);
        },
        async (engine, recorder) => {
          const running = engine.run(['SELECT slow'], options({ signal: controller.signal }));
          await expect(running).rejects.toThrow('cancelled by the user');
          expect((await engine.run(['SELECT 9'], options())).results).toMatchObject([{ rows: [[1]] }]);
          expect(recorder.aborts).toHaveLength(1);
        },
      );
    },
  },

  'columns of the same name all arrive': {
    run: () =>
      withRecorder(
        (sql) => (sql === 'SELECT 1 AS a, 2 AS a, 3 AS b' ? table(['A', 'A', 'B'], ['1', '2', '3']) : undefined),
        async (engine) => {
          const { results } = await engine.run(['SELECT 1 AS a, 2 AS a, 3 AS b'], options());
          expect(results).toMatchObject([
            { rows: [[1, 2, 3]], columns: [{ name: 'A' }, { name: 'A' }, { name: 'B' }] },
          ]);
        },
      ),
  },

  // docs/snowflake.md says so.
  'all statements of a run see one snapshot, the next run sees what was written since': {
    weaker: 'each statement sees what was committed before it began: there is no snapshot over several',
    run: () =>
      withRecorder(
        (sql, { queries }) =>
          sql === 'SELECT count(*) FROM counter'
            ? table(['N'], [String(queries.filter((sent) => sent.sql === sql).length - 1)])
            : undefined,
        async (engine, recorder) => {
          const count = 'SELECT count(*) FROM counter';
          const { results } = await engine.run([count, 'SELECT 1', count], options());
          expect(results).toMatchObject([{ rows: [[0]] }, { rows: [[1]] }, { rows: [[1]] }]);
          expect(recorder.asked()).toEqual([count, 'SELECT 1', count]);
          expect(recorder.logins).toHaveLength(1);
        },
      ),
  },
};
