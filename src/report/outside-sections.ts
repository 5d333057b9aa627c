/** What came from outside the database: what people told the search, what it read on the web, and a reply that was no use. */
import type { AnswerRecord } from '../domain';
import { markup, type Html } from './html';
import { badge, details } from './parts';
import { counted, utc, visible } from './printable';
import type { Trace } from './trace';

export function steeringBody({ steering = [] }: AnswerRecord): Html | null {
  if (steering.length === 0) return null;
  return markup`<p class="soft">A remark counts as evidence with an author, never as a proof.</p>
    <ul class="plain">
      ${steering.map(
        ({ kind, author, text, at, shown }) =>
          markup`<li class="reading">
            <div>${badge(kind, 'warn')} ${text}</div>
            <div class="soft">${author}, ${utc(at, 19)}${shown === false && '; too late: no prompt showed it'}</div>
          </li>`,
      )}
    </ul>`;
}

export function sourcesBody({ sources = [], failedLookups = [] }: AnswerRecord): Html | null {
  if (sources.length === 0 && failedLookups.length === 0) return null;
  return markup`<p class="soft">What the search read on the web. Addresses are not links, because nobody has checked them.</p>
    <ul class="plain">
      ${sources.map(
        ({ url, title, fetchedAt, sha256, lookup }) =>
          markup`<li class="reading">
            <div>${title ?? url} ${lookup !== undefined && markup`<code>[${lookup}]</code>`}</div>
            <div class="soft"><code>${url}</code></div>
            <div class="soft">${utc(fetchedAt, 19)}, SHA-256 of the text ${sha256.slice(0, 16)}…</div>
          </li>`,
      )}
      ${failedLookups.map(
        ({ request, reason }) =>
          markup`<li class="reading open">
            <div><code>${request}</code> ${badge('failed', 'warn')}</div>
            <div class="soft">${reason}</div>
          </li>`,
      )}
    </ul>`;
}

const SHOWN_CHARS = 4_000;

/** The last reply of the model that could not be used: what was wrong with it, and how it begins. */
export function replyBody({ lastBadReply: reply, record }: Trace): Html | null {
  if (reply === undefined) return null;
  const steps = counted(record?.givenUp?.length ?? 1, 'step was', 'steps were');
  const shown = visible(reply.text.slice(0, SHOWN_CHARS));
  const rest = reply.text.length - SHOWN_CHARS;
  return markup`<p>${steps} given up because the model's replies could not be used. The last one: ${reply.cause}</p>
    <p class="soft">
      Call <code>${reply.id}</code>, model ${reply.model}, finish reason ${reply.finishReason},
      ${counted(reply.completionTokens, 'output token')}
    </p>
    ${details('What it said', markup`<pre>${shown === '' ? '(nothing)' : shown}${rest > 0 && `… ${counted(rest, 'more character')}`}</pre>`)}`;
}
