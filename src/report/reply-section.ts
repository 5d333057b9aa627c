/** The last reply of the model that could not be used: what was wrong with it, and how it begins. */
import { markup, type Html } from './html';
import { counted, visible } from './printable';
import type { Trace } from './trace';

const SHOWN_CHARS = 4_000;

export function replySection({ lastBadReply: reply, record }: Trace): Html | null {
  if (reply === undefined) return null;
  const steps = counted(record?.givenUp?.length ?? 1, 'step was', 'steps were');
  const shown = visible(reply.text.slice(0, SHOWN_CHARS));
  const rest = reply.text.length - SHOWN_CHARS;
  return markup`<section aria-labelledby="reply">
    <h2 id="reply">Last reply of the model</h2>
    <p>${steps} given up because the model's replies could not be used. The last one: ${reply.cause}</p>
    <p class="soft">
      Call <code>${reply.id}</code>, model ${reply.model}, finish reason ${reply.finishReason},
      ${counted(reply.completionTokens, 'output token')}
    </p>
    <details>
      <summary>What it said</summary>
      <pre>${shown === '' ? '(nothing)' : shown}${rest > 0 && `… ${rest} more characters`}</pre>
    </details>
  </section>`;
}
