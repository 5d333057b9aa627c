import { dirname, resolve } from 'node:path';
import { GateError } from '../app/errors';
import type { BatchStatus, ListedStatus } from '../app/run/batch-status';
import type { ArmEvent, RunEvent } from '../app/run/events';
import type { WrittenRun } from '../app/run/run-config';
import type { RunResult } from '../app/run/run';
import { either, told, type Inside, type Stopping } from './inside';
import { begin, type Underway } from './underway';

/** What `batch.run` tells. An arm is one method with one seed on one set of questions: one batch. */
export type BatchEvent =
  | {
      readonly kind: 'planned';
      readonly arms: readonly { readonly id: string; readonly label: string; readonly questions: number }[];
    }
  | ArmEvent;

export interface BatchOptions extends Stopping {
  /** The folder of `results.jsonl`, `summary.json` and the report. Left out: nothing is written. */
  readonly out?: string;
  /** Asks every question again. */
  readonly fresh?: boolean;
}

export class Batches {
  readonly #inside: Inside;

  /** @internal */
  constructor(inside: Inside) {
    this.#inside = inside;
  }

  /**
   * Runs the questions of a plan (docs/runs.md), given as an object or as the path of its YAML file; paths in it begin at `cwd`, or
   * at the file. Run again, it goes on where it was, and what is answered costs nothing.
   */
  run(plan: WrittenRun | string, options: BatchOptions = {}): Underway<BatchEvent, RunResult> {
    const { at, app: appFor, closing, hold, follow } = this.#inside;
    const { out, fresh, stop, leave } = options;
    const quit = either(leave, closing);
    const stopping = { asked: either(stop, quit), quit };
    const { underway, over } = begin<BatchEvent, RunResult>(
      async ({ tell }) => {
        const surroundings = at();
        const { cwd } = surroundings;
        const app = appFor();
        const [{ configOf, readRunConfig }, { runQuestions }] = await Promise.all([
          import('../app/run/run-config'),
          import('../app/run/run'),
        ]);
        const isFile = typeof plan === 'string';
        const read = isFile ? readRunConfig(resolve(cwd, plan), plan) : configOf(plan, 'the plan');
        const base = isFile ? dirname(resolve(cwd, plan)) : cwd;
        const wanted = { read, overrides: {}, base, out: out === undefined ? null : resolve(cwd, out), fresh };
        const result = await runQuestions(
          { ...wanted, command: 'Gate.batch.run' },
          {
            ...{ surroundings, stopping },
            tell: (event) => {
              if (event.kind === 'in-flight') hold(app);
              tell(event.kind === 'planned' ? shown(event) : event);
            },
          },
        );
        if (result.failure !== null) throw result.failure;
        if (stopping.quit.aborted) throw new GateError(`${result.open} questions are open: run it again`, 'cancelled');
        return result;
      },
      (next, last) => next.kind === 'in-flight' && last.kind === 'in-flight' && next.arm === last.arm,
    );
    follow(over);
    return underway;
  }

  /** Where a batch stands: by its id, the beginning of it, or `last`. */
  async status(id: string): Promise<BatchStatus> {
    return told(async () => {
      const { lookedAt, batchStatus } = await import('../app/run/batch-status');
      const { findBatch } = await import('../app/run/stored-batches');
      return lookedAt(this.#inside.app(), async (at) => batchStatus(at, await findBatch(at.services.store, id)));
    });
  }

  /** The newest first. `limit`: at most so many; left out: 20. */
  async list({ limit = 20 }: { readonly limit?: number } = {}): Promise<readonly ListedStatus[]> {
    return told(async () => {
      const { listStatuses, lookedAt } = await import('../app/run/batch-status');
      return lookedAt(this.#inside.app(), (at) => listStatuses(at, limit));
    });
  }
}

function shown({ arms }: Extract<RunEvent, { readonly kind: 'planned' }>): BatchEvent {
  const shownArms = arms.map(({ label, batch }) => ({ id: batch.batchId, label, questions: batch.questions.length }));
  return { kind: 'planned', arms: shownArms };
}
