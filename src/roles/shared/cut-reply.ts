/**
 * Unusable replies: the cause of one, in a line for a person, and a larger limit for one that was cut at the limit of output
 * tokens. A cut reply is requested once more with the same messages and a larger limit, as the next try of its step:
 * journalled, charged and counted against the budgets like any other (D2). Later tries keep the larger limit.
 */
import { clip, oneLine } from '../../text/clip';
import type { Called } from '../../record/journal';

/** The factor by which the limit is raised after a cut reply. */
const MORE = 4;
/** The most room that a cut reply gets, unless the configuration says otherwise. */
const LARGEST_OUTPUT_TOKENS = 32_768;
const CAUSE_CHARS = 300;
/** How many characters of a cut reply a later try shows. */
const SEEN_CHARS = 2_000;

/** The limit after a cut reply; unchanged if it may not be raised. `ceiling` null: up to the largest. */
export function moreRoom(limit: number, ceiling: number | null | undefined): number {
  return Math.max(limit, Math.min(limit * MORE, ceiling ?? LARGEST_OUTPUT_TOKENS));
}

export function isCut({ finishReason }: Pick<Called, 'finishReason'>): boolean {
  return finishReason === 'length';
}

/** The failure of a cut reply, for the model: error, hint, and the part of the reply that the next try shows. */
export function cutFailure(text: string, limit: number) {
  return {
    text: text.length > SEEN_CHARS ? `${clip(text, SEEN_CHARS)}…` : text,
    error: `the reply was cut at the limit of ${limit} tokens`,
    hint: 'say the same in fewer words: short texts, no repetition, only what the reply needs',
  };
}

/** The cause in one line, with what to change. `error` is the parser's. */
export function causeOf(called: Called, limit: number, error: string): string {
  const { finishReason, text, usage } = called;
  if (isCut(called)) {
    const tokens = usage.completionTokens ?? 0;
    // The endpoint may cut earlier, if its context is full.
    return tokens < limit / 2 && text.trim() !== ''
      ? `the reply was cut at ${figure(tokens)} tokens, below the limit of ${figure(limit)}: the endpoint has a limit of its own, such as its context length`
      : `the reply was cut at ${figure(limit)} tokens: raise models.maxOutputTokens`;
  }
  if (finishReason === 'content_filter') return 'the endpoint withheld the reply (content filter)';
  if (finishReason === 'refusal') return oneLine(`the model refused: ${text}`, CAUSE_CHARS);
  if (text.trim() === '') return `the reply was empty (finish reason ${oneLine(finishReason, CAUSE_CHARS)})`;
  return oneLine(error, CAUSE_CHARS);
}

function figure(count: number): string {
  return count.toLocaleString('en-US');
}
