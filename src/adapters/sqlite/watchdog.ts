/** A thread that runs while the main thread is inside SQLite: it checks that the parent lives and how much memory is used. */
import { Worker } from 'node:worker_threads';

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

/** `parent`: told by the parent itself, because it may be gone before this process looks. */
export function startWatchdog(parent: number): void {
  new Worker(WATCHDOG, { eval: true, workerData: parent }).unref();
}
