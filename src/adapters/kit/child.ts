/**
 * The process in which an engine reads a file, so that a runaway query can be ended by killing it. It answers one request
 * at a time. A watchdog thread, which runs while the main thread is inside the engine, ends it when its parent has gone or
 * when it needs too much memory.
 */
import { Worker } from 'node:worker_threads';
import type { ChildProgram } from './child-process';
import type { ChildReply } from './child-session';

/** An error that it throws is answered as `Failure`. */
interface ChildModule {
  answer(request: unknown): unknown;
}

const PROGRAMS: Readonly<Record<ChildProgram, () => Promise<object>>> = {
  sqlite: () => import('../sqlite/child'),
  duckdb: () => import('../duckdb/child'),
  'duckdb-import': () => import('../duckdb/files/import-child'),
};

const PROCESS_BYTES = 1536 * 1024 * 1024;

const WATCHDOG = `
  const { writeSync } = require('node:fs');
  const { workerData: parent } = require('node:worker_threads');
  setInterval(() => {
    const gone = process.ppid !== parent;
    const large = process.memoryUsage.rss() > ${PROCESS_BYTES};
    if (large) writeSync(2, 'the result needs more than ${PROCESS_BYTES / 1024 / 1024} MB of memory: select fewer rows or parts of the values\\n');
    if (gone || large) process.kill(process.pid, 'SIGKILL');
  }, 100);`;

/** The parent tells its own id, because it may be gone before this process looks. */
const [, , name, parent] = process.argv;
new Worker(WATCHDOG, { eval: true, workerData: Number(parent) }).unref();
let program: Promise<object> | undefined;
/** Requests are answered in their order. */
let before = Promise.resolve<unknown>(undefined);
process.on('message', (request: unknown) => {
  before = before
    .then(async () => {
      // What is missing for it is told in the answer.
      program ??= PROGRAMS[name as ChildProgram]();
      return ((await program) as ChildModule).answer(request);
    })
    .catch((error: unknown): Extract<ChildReply, { kind: 'error' }> => {
      const { message, code = 'ERROR' } = error as { message: string; code?: string };
      return { kind: 'error', message, code, isOutside: true };
    })
    .then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit(0));
