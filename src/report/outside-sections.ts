/** What came from outside the database: what people told the search, and what it read on the web. */
import type { AnswerRecord } from '../domain';
import { markup, type Html } from './html';
import { badge } from './parts';

export function steeringSection({ steering = [] }: AnswerRecord): Html | null {
  if (steering.length === 0) return null;
  return markup`<section aria-labelledby="steering">
    <h2 id="steering">What people told the search</h2>
    <p class="soft">A remark counts as evidence with an author, never as a proof.</p>
    <ul class="plain">
      ${steering.map(
        ({ kind, author, text, at }) =>
          markup`<li class="reading">
            <div>${badge(kind, 'warn')} ${text}</div>
            <div class="soft">${author}, ${at.slice(0, 19).replace('T', ' ')} UTC</div>
          </li>`,
      )}
    </ul>
  </section>`;
}

export function sourcesSection({ sources = [], failedLookups = [] }: AnswerRecord): Html | null {
  if (sources.length === 0 && failedLookups.length === 0) return null;
  return markup`<section aria-labelledby="sources">
    <h2 id="sources">Sources</h2>
    <p class="soft">What the search read on the web. Addresses are not links, because nobody has checked them.</p>
    <ul class="plain">
      ${sources.map(
        ({ url, title, fetchedAt, sha256, lookup }) =>
          markup`<li class="reading">
            <div>${title ?? url} ${lookup !== undefined && markup`<code>[${lookup}]</code>`}</div>
            <div class="soft"><code>${url}</code></div>
            <div class="soft">${fetchedAt.slice(0, 19).replace('T', ' ')} UTC, SHA-256 of the text ${sha256.slice(0, 16)}…</div>
          </li>`,
      )}
      ${failedLookups.map(
        ({ request, reason }) =>
          markup`<li class="reading open">
            <div><code>${request}</code> ${badge('failed', 'warn')}</div>
            <div class="soft">${reason}</div>
          </li>`,
      )}
    </ul>
  </section>`;
}
