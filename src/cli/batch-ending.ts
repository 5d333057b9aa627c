/** What `gate batch run` says at its end: the summary, and how it goes on where it is not done. */
import { join } from 'node:path';
import { counted } from '../report/printable';
import type { FollowEnd } from './batch-follow';
import type { ReadyBatch, Stopped } from './batch-preflight';
import { replaceFile, SUMMARY, type ResultFile } from './batch-results';
import { batchSummary, summaryText } from './batch-summary';
import { EXIT, type ExitCode } from './exit';
import { unpricedModels } from '../app/model-check';

/** How a batch ended here, and how many of its questions ended meanwhile. */
export interface BatchEnd {
  readonly end: FollowEnd | Stopped;
  readonly wallMs: number;
  readonly ended: number;
  /** Others work on it. */
  readonly detached: boolean;
}

interface Told extends BatchEnd {
  readonly results: ResultFile;
  readonly folder: string;
  readonly file: string;
  readonly command: string;
}

export function sumUp({ services, batch, flags, io }: ReadyBatch, told: Told): ExitCode {
  const { end, wallMs, ended, detached, results, folder, file, command } = told;
  const summary = batchSummary(results.all(), {
    ...{ batch, file, command, concurrency: flags.concurrency, knowledge: flags.knowledge ?? false },
    endedAt: new Date(io.now()).toISOString(),
    unpricedModels: unpricedModels(services.config, [...new Set(Object.values(batch.settings.models))]),
    run: { wallMs, ended },
  });
  const json = `${JSON.stringify(summary, null, 2)}\n`;
  replaceFile(join(folder, SUMMARY), json);
  io.out(flags.json ? json : summaryText(summary, io.columns));
  io.err(`${join(folder, 'results.jsonl')}, ${SUMMARY} (${batch.batchId})\n`);
  if (end === 'interrupted') {
    const open = counted(summary.notAsked, 'question');
    const again = `run the same command${flags.fresh ? ' without --fresh' : ''} again`;
    io.err(
      detached
        ? `${open} open, which others work on; ${again} to follow\n`
        : `paused with ${open} open; ${again} to continue; nothing is paid twice\n`,
    );
    return EXIT.cancelled;
  }
  if (end === 'cancelled' || end === 'ceiling') {
    const why = end === 'ceiling' ? 'raise --max-total-cost and run it again' : 'the batch was cancelled; run it again';
    io.err(`${counted(summary.notAsked, 'question')} not asked: ${why} to continue\n`);
    return EXIT.cancelled;
  }
  // A retry leaves open what nobody asked.
  const missing = flags.retryOf === undefined ? summary.notAsked : 0;
  const { count: failures } = summary.infrastructureFailures;
  if (failures + missing === 0) return EXIT.ok;
  const open = [
    ...(failures > 0 ? [counted(failures, 'infrastructure failure')] : []),
    ...(missing > 0 ? [`${counted(missing, 'question')} not asked`] : []),
  ].join(', ');
  io.err(`${open}: the same command asks them again\n`);
  return EXIT.failed;
}
