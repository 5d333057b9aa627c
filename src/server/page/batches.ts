/** Batches under way and ended: progress, why questions failed, retry; and the figures of runs, methods side by side. */
import type { BatchStatus, ListedStatus } from '../../app/run/batch-status';
import { figuresText } from '../../app/run/events';
import { badge, head, type Html, markup, table } from '../../report/html';
import { counted, duration } from '../../report/printable';
import type { Run } from '../../report/run';
import { runFigures } from '../../report/run-page';
import type { Tone } from '../../report/words';
import { ago, button, hidden, path } from './shell';

const TONES: Readonly<Record<BatchStatus['status'], Tone>> = {
  running: 'calm',
  paused: 'warn',
  cancelling: 'warn',
  ended: 'good',
  cancelled: 'warn',
  interrupted: 'bad',
  unknown: 'warn',
};

export function batchesBody(batches: readonly ListedStatus[]): Html {
  return markup`<h1>Batches</h1>
    ${
      batches.length === 0
        ? markup`<p class="empty">None yet. <code>gate batch run questions.yaml --out results</code> asks many questions at once.</p>`
        : table(
            'Batches',
            [head('Run'), head('State'), head('Done'), markup`<th scope="col" class="tight num">Failed</th>`],
            batches.map(
              ({ id, name, questions, method, seed, status, startedAt, total, done, failed }) =>
                markup`<tr>
                  <td><a href="${path`/batches/${id}`}">${name ?? id}</a><span class="soft">${[questions, method, seed === null ? null : `seed ${seed}`].filter((one) => one !== null).join(', ')}</span></td>
                  <td class="tight">${badge(status, TONES[status])}<span class="soft">${ago(startedAt)}</span></td>
                  <td>${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')}${doneMeter(done, failed, total)}</td>
                  <td class="tight num">${failed}</td>
                </tr>`,
            ),
          )
    }`;
}

function doneMeter(done: number, failed: number, total: number): Html {
  const share = (count: number): string => (total === 0 ? '0' : ((100 * count) / total).toFixed(1));
  return markup`<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="track" width="100" height="8" /><rect class="good" width="${share(done)}" height="8" /><rect class="bad" width="${share(failed)}" height="8" /></svg>`;
}

export interface BatchPage {
  readonly status: BatchStatus;
  /** The run that it is part of, once that has figures. */
  readonly run: Run | null;
  /** Its first questions that failed. */
  readonly failed: readonly { readonly id: string; readonly question: string }[];
}

export function batchBody({ status, run, failed }: BatchPage): Html {
  const {
    id,
    name,
    questions,
    method,
    seed,
    total,
    done,
    startedAt,
    inFlight,
    failures,
    ui,
    out,
    secondsLeft,
    judged,
    correct,
  } = status;
  const causes = Object.entries(failures).sort(([, a], [, b]) => b - a);
  const can = (...states: readonly BatchStatus['status'][]): boolean => states.includes(status.status);
  return markup`<div class="sides">
    <div>
      <p class="status">${badge(status.status, TONES[status.status])} <span class="soft">begun ${ago(startedAt)}</span></p>
      <h1>${name ?? id}</h1>
      <p class="soft">${[questions, method, seed === null ? null : `seed ${seed}`].filter((one) => one !== null).join(', ')}</p>
      <p class="now" role="status">${done.toLocaleString('en-US')} of ${counted(total, 'question')} done</p>
      ${doneMeter(done, status.failed, total)}
      <p class="soft">${figuresText(status)}</p>
      ${status.next !== null && markup`<p>Next: ${status.next}.</p>`}
      ${
        causes.length > 0 &&
        markup`<h2 id="failures">Why questions failed</h2>
          ${table(
            'Failures by cause',
            [markup`<th scope="col" class="tight num">Questions</th>`, head('Cause')],
            causes.map(([cause, count]) => markup`<tr><td class="tight num">${count}</td><td>${cause}</td></tr>`),
          )}
          ${failed.length > 0 && markup`<ul>${failed.map((one) => markup`<li><a href="${path`/q/${one.id}`}">${one.question}</a></li>`)}</ul>`}`
      }
      ${
        inFlight.length > 0 &&
        markup`<h2 id="flight">Under way</h2>
          <ul>${inFlight.slice(0, 50).map(({ n, searchId }) => markup`<li><a href="${path`/q/${searchId}`}">Question ${n + 1}</a></li>`)}</ul>`
      }
    </div>
    <div class="side">
      <section aria-label="Control">
        <div class="pair">
          ${can('running') && markup`${button(path`/batches/${id}/pause`, 'Pause')} ${button(path`/batches/${id}/pause`, 'Pause all at once', 'button', hidden('now', 'yes'))}`}
          ${can('paused') && button(path`/batches/${id}/resume`, 'Go on', 'button primary')}
          ${can('running', 'paused') && button(path`/batches/${id}/cancel`, 'Cancel', 'button danger')}
          ${can('ended', 'interrupted') && causes.length > 0 && button(path`/batches/${id}/retry`, 'Ask the failed ones again', 'button primary')}
        </div>
        <dl class="figures">
          ${secondsLeft !== null && markup`<dt>Time left, about</dt><dd>${duration(1000 * Math.ceil(secondsLeft))}</dd>`}
          ${judged > 0 && markup`<dt>Right so far</dt><dd>${correct} of ${judged}</dd>`}
          <dt>Model calls</dt><dd>${status.calls.toLocaleString('en-US')}</dd>
        </dl>
        ${out !== null && markup`<p class="soft">Results in <code>${out}</code></p>`}
        ${ui !== null && markup`<p><a href="${ui}">In the Temporal UI</a></p>`}
      </section>
    </div>
  </div>
    ${run !== null && markup`<h2 id="figures">${run.name}: figures</h2><p class="soft">${run.complete ? 'Every question has ended.' : 'Not complete: some questions have not ended.'} Made by <code>${run.command}</code>.</p>${runFigures(run)}`}`;
}
