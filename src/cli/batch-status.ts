/** `gate batch status`: where a batch stands, or the batches of the store, as text or JSON. */
import { figuresText } from '../app/run/events';
import { openApp } from '../app/app';
import { batchStatus, listStatuses, lookedAt, type BatchStatus, type ListedStatus } from '../app/run/batch-status';
import { findBatch } from '../app/run/stored-batches';
import { cut, utc } from '../report/printable';
import { eventPrinter } from './follow';
import type { Io } from './io';
import { textTable } from './table';

export interface BatchStatusFlags {
  readonly json?: boolean;
  readonly limit: number;
}

export async function showBatchStatus(wanted: string | undefined, flags: BatchStatusFlags, io: Io): Promise<void> {
  await lookedAt(openApp(io, eventPrinter(io).onEvent), async (at) => {
    if (wanted === undefined) {
      const listed = await listStatuses(at, flags.limit);
      if (flags.json) io.out(`${JSON.stringify(listed, null, 2)}\n`);
      else if (listed.length === 0)
        io.err('no batch was run yet; begin with: gate batch run QUESTIONS --db … --out …\n');
      else io.out(listText(listed, io.columns));
      return;
    }
    const status = await batchStatus(at, await findBatch(at.services.store, wanted));
    io.out(flags.json ? `${JSON.stringify(status, null, 2)}\n` : `${statusLines(status).join('\n')}\n`);
  });
}

function listText(listed: readonly ListedStatus[], width: number): string {
  const cells = listed.map((one) => [
    ...[one.id, one.status, utc(one.startedAt), cut(titleOf(one), 60), one.total, one.done, one.failed],
  ]);
  const head = ['id', 'status', 'started', 'name', 'questions', 'done', 'failed'];
  return `${textTable(head, cells, { width, whole: 4 })}\n`;
}

/** `paper: react · bird dev · seed 1`; of a file by one method alone: `sales: react · seed 0`. */
function titleOf({
  name,
  questions,
  method,
  seed,
}: Pick<BatchStatus, 'name' | 'questions' | 'method' | 'seed'>): string {
  if (name === null) return '';
  return `${name}: ${[method, ...(questions === name ? [] : [questions]), `seed ${seed ?? 0}`].join(' · ')}`;
}

function statusLines(status: BatchStatus): string[] {
  const { id, startedAt, out, failures, ui, next } = status;
  return [
    `${id}  ${status.status}  ${titleOf(status)}  (started ${utc(startedAt)})`,
    figuresText(status),
    ...Object.entries(failures).map(([reason, count]) => `infrastructure failure (${count}): ${cut(reason, 160)}`),
    ...(out === null ? [] : [`results ${out}`]),
    ...(ui === null ? [] : [`UI ${ui}`]),
    ...(next === null ? [] : [next]),
  ];
}
