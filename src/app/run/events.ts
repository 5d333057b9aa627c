/**
 * What happens while a run goes on, as events for whoever shows it, how such a person stops it, and its figures so far: what live
 * tables, plain lines, events of a program and `gate batch status` show.
 */
import * as z from 'zod';
import { counted, dollars, duration } from '../../report/printable';
import type { Usage } from '../../domain';
import { countsOf, OUTCOMES, type ResultLine } from '../../questions';
import type { Outage } from '../outages';
import type { Batch } from './batch-plan';

/** An arm as it is shown: one method with one seed on one set of questions. */
export interface ShownArm {
  /** It tells the arm from the others. */
  readonly label: string;
  readonly batch: Batch;
}

export type RunEvent = { readonly kind: 'planned'; readonly arms: readonly ShownArm[] } | ArmEvent;

/** `arm`: its position in `planned`. */
export type ArmEvent =
  /** The answers of earlier runs are known, and the rest is asked now. */
  | { readonly kind: 'started'; readonly arm: number }
  /** `now`: it ended in this run; false: it was found in the store. */
  | { readonly kind: 'ended'; readonly arm: number; readonly line: ResultLine; readonly now: boolean }
  | {
      readonly kind: 'in-flight';
      readonly arm: number;
      /** Ids of the searches. */
      readonly searches: readonly string[];
      readonly paused: boolean;
    }
  /** Null: nothing is being retried. */
  | { readonly kind: 'retried'; readonly arm: number; readonly outage: Outage | null }
  | { readonly kind: 'over'; readonly arm: number }
  /** A line for people; `arm` null: of no single one. */
  | { readonly kind: 'note'; readonly arm: number | null; readonly text: string };

/** `asked` aborts when the run shall pause in order, `quit` when it shall end at once. */
export interface Stopping {
  readonly asked: AbortSignal;
  readonly quit: AbortSignal;
}

export const RunFigures = z.object({
  total: z.number().int().describe('questions of the batch'),
  done: z.number().int().describe('have ended, infrastructure failures included'),
  running: z.number().int().nullable().describe('in flight; null: no worker answers'),
  failed: z.number().int().describe('ended by an infrastructure failure, which is no wrong answer'),
  judged: z.number().int().describe('scored against gold so far'),
  correct: z.number().int().describe('of the judged ones; right abstentions count'),
  calls: z.number().int().describe('model calls of the questions that have ended'),
  costUsd: z.number().describe('their cost in US dollars'),
  perMinute: z.number().nullable().describe('questions that end in a minute; null: not known'),
  secondsLeft: z.number().nullable().describe('estimated from the pace; null: not known'),
});
export type RunFigures = Readonly<z.infer<typeof RunFigures>>;

export function figuresText(figures: RunFigures): string {
  const { total, done, running, failed, judged, correct, calls, costUsd, perMinute, secondsLeft } = figures;
  return [
    `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} done`,
    ...(running === null || running === 0 ? [] : [`${running} running`]),
    ...(failed === 0 ? [] : [counted(failed, 'infrastructure failure')]),
    ...(judged === 0 ? [] : [`correct ${correct} of ${judged} (${((100 * correct) / judged).toFixed(1)} %)`]),
    counted(calls, 'model call'),
    dollars(costUsd),
    ...(perMinute === null ? [] : [`${perMinute.toFixed(1)} a minute`]),
    ...(secondsLeft === null ? [] : [`about ${duration(1_000 * Math.ceil(secondsLeft))} left`]),
  ].join(', ');
}

/** The pace of `ended` questions in so many milliseconds, and how long the others take at it. */
export function paceOf(ended: number, elapsedMs: number, left: number) {
  if (ended === 0 || elapsedMs <= 0) return { perMinute: null, secondsLeft: null };
  const perMinute = ended / (elapsedMs / 60_000);
  return { perMinute, secondsLeft: left === 0 ? null : (60 * left) / perMinute };
}

export function scoredOf(lines: readonly Pick<ResultLine, 'verdict'>[]) {
  const { right, wrong, declined, failed } = countsOf(lines.map(({ verdict }) => OUTCOMES[verdict]));
  return { failed, judged: right + wrong + declined, correct: right };
}

export function spentOf(usages: readonly (Usage | null)[]) {
  const sum = (key: 'llmCalls' | 'costUsd'): number => usages.reduce((total, usage) => total + (usage?.[key] ?? 0), 0);
  return { calls: sum('llmCalls'), costUsd: sum('costUsd') };
}

/** Figures of the events of an arm. Usage is per search, as questions that share one are charged once. */
export class Tally {
  running = 0;
  /** Questions that ended in this run. */
  here = 0;
  private readonly lines: ResultLine[] = [];

  constructor(
    private readonly total: number,
    private startedAtMs: number,
  ) {}

  /** The pace is that since now. */
  begin(nowMs: number): void {
    this.startedAtMs = nowMs;
  }

  add(line: ResultLine, now: boolean): void {
    this.lines.push(line);
    if (now) this.here += 1;
  }

  figures(nowMs: number): RunFigures {
    const { lines, total } = this;
    const done = lines.length;
    const spent = new Map(lines.map(({ searchId, usage }) => [searchId, usage]));
    return {
      total,
      done,
      // What is in flight is asked now and then, and may have ended since.
      running: Math.min(this.running, total - done),
      ...scoredOf(lines),
      ...spentOf([...spent.values()]),
      ...paceOf(this.here, nowMs - this.startedAtMs, total - done),
    };
  }
}
