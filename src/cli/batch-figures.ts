/** How far a batch is, in figures: what its live table, its plain lines, its events and `gate batch status` show. */
import { z } from 'zod';
import { counted, dollars, duration } from '../report/printable';
import type { ResultLine } from './batch-results';
import { percent } from './batch-summary';

export const BatchFigures = z.object({
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
export type BatchFigures = Readonly<z.infer<typeof BatchFigures>>;

export function figuresText(figures: BatchFigures): string {
  const { total, done, running, failed, judged, correct, calls, costUsd, perMinute, secondsLeft } = figures;
  return [
    `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} done`,
    ...(running === null || running === 0 ? [] : [`${running} running`]),
    ...(failed === 0 ? [] : [counted(failed, 'infrastructure failure')]),
    ...(judged === 0 ? [] : [`correct ${correct} of ${judged} (${percent(correct / judged)})`]),
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

export const isCorrect = ({ verdict }: Pick<ResultLine, 'verdict'>): boolean => verdict.startsWith('correct');
export const isJudged = (line: Pick<ResultLine, 'verdict'>): boolean =>
  isCorrect(line) || line.verdict.startsWith('wrong');

/** Of a batch that this process follows; usage is per search, as questions that share one are charged once. */
export class Tally {
  running = 0;
  private done = 0;
  private here = 0;
  private correct = 0;
  private judged = 0;
  private failed = 0;
  private readonly usage = new Map<string, { calls: number; costUsd: number }>();

  constructor(
    private readonly total: number,
    private startedAtMs: number,
  ) {}

  /** The pace is that since now. */
  begin(nowMs: number): void {
    this.startedAtMs = nowMs;
  }

  /** `now`: it ended in this run. */
  add(line: ResultLine, now: boolean): void {
    const { verdict, searchId, usage } = line;
    this.done += 1;
    if (now) this.here += 1;
    if (usage !== null) this.usage.set(searchId, { calls: usage.llmCalls, costUsd: usage.costUsd });
    if (verdict === 'infrastructure') this.failed += 1;
    if (isCorrect(line)) this.correct += 1;
    if (isJudged(line)) this.judged += 1;
  }

  figures(nowMs: number): BatchFigures {
    const { total, done, failed, judged, correct, here } = this;
    const spent = [...this.usage.values()];
    return {
      ...{ total, done, failed, judged, correct },
      // What is in flight is asked now and then, and may have ended since.
      running: Math.min(this.running, total - done),
      calls: spent.reduce((sum, { calls }) => sum + calls, 0),
      costUsd: spent.reduce((sum, { costUsd }) => sum + costUsd, 0),
      ...paceOf(here, nowMs - this.startedAtMs, total - done),
    };
  }
}
