/**
 * What is being retried, and when that ends: an endpoint that is down, a 429, a database or store out of reach. Read from Temporal,
 * so no worker has to answer.
 */
import * as z from 'zod';
import { publicMessage } from '../activities/failures';
import { cut, duration } from '../report/printable';
import type { PendingStep, QuestionDescription } from '../workers/workflow-views';

export const Outage = z
  .object({
    step: z.string(),
    attempt: z.int().describe('the one under way, or the next'),
    reason: z.string().describe('why the attempt before failed'),
    nextTryAt: z.string().nullable().describe('ISO time; null: an attempt is under way'),
    givesUpAt: z.string().nullable().describe('ISO time; null: it is tried until the search ends'),
  })
  .readonly();
export type Outage = z.infer<typeof Outage>;

const REASON_CHARS = 200;
const AGAIN_MS = 60_000;
/** A step that gives no news for this long is reported. */
const BUSY_MS = 20_000;

/** Of a running search; the step that gives up first comes first. */
export function outagesOf(
  { pending, busySince }: Pick<QuestionDescription, 'pending' | 'busySince'>,
  nowMs: number,
): readonly Outage[] {
  const failing = pending.flatMap((step) => outageOf(step, nowMs));
  failing.sort((a, b) => (a.givesUpAt ?? '9').localeCompare(b.givesUpAt ?? '9'));
  const busyMs = busySince === null ? 0 : nowMs - busySince.getTime();
  if (failing.length > 0 || busyMs <= BUSY_MS) return failing;
  // Short steps run inside the worker, and Temporal is told neither their failures nor when they give up.
  const reason = `no news for ${duration(busyMs)}: the worker tries to reach the store or the database; its own output says why`;
  return [{ step: 'step inside the worker', attempt: 1, reason, nextTryAt: null, givesUpAt: null }];
}

function outageOf({ summary, attempt, lastFailure, nextTryAt, givesUpAt }: PendingStep, nowMs: number): Outage[] {
  if (lastFailure === null) return [];
  return [
    {
      step: STEPS[summary] ?? summary,
      attempt,
      reason: cut(publicMessage(lastFailure), REASON_CHARS),
      nextTryAt: nextTryAt !== null && nextTryAt.getTime() > nowMs ? nextTryAt.toISOString() : null,
      givesUpAt: givesUpAt?.toISOString() ?? null,
    },
  ];
}

const STEPS: Readonly<Record<string, string>> = { callModel: 'model call', executeSql: 'SQL', useWeb: 'web lookup' };

/** On one line. */
export function outageText({ step, attempt, reason, nextTryAt, givesUpAt }: Outage, nowMs: number): string {
  const until = (at: string): string => duration(Math.max(0, Date.parse(at) - nowMs));
  const next = nextTryAt === null ? `attempt ${attempt} is under way` : `attempt ${attempt} in ${until(nextTryAt)}`;
  const end = givesUpAt === null ? '' : `, gives up at ${givesUpAt.slice(11, 16)} UTC (in ${until(givesUpAt)})`;
  return `${step} is retried: ${next}${end}; ${reason}`;
}

/** Off a terminal, where it is told after each look (null: nothing is retried): a line when it begins, and one a minute. */
export function outageLines(note: (line: string) => void, now: () => number): (outage: Outage | null) => void {
  let told = -Infinity;
  return (outage) => {
    if (outage === null || now() - told < AGAIN_MS) return;
    told = now();
    note(outageText(outage, told));
  };
}
