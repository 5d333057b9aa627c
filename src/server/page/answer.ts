/** A search that has ended: the report, with what a live page adds. Rows are paged; checks run again; a convention that is wrong is said so. */
import type { AnswerRecord, Claim } from '../../domain';
import { chartOf } from '../../report/chart';
import { badge, details, type Html, markup, rowsTable } from '../../report/html';
import { cut } from '../../report/printable';
import { reportHead, reportSections, section, sectionLinks } from '../../report/render';
import type { Trace } from '../../report/trace';
import { CLAIM_WORDS } from '../../report/words';
import { figuresText, rivalText } from '../../text/claim-text';
import { forkPart } from './searching';
import { button, form, hidden, lineOf, path } from './shell';

export interface Answer {
  readonly trace: Trace;
  readonly record: AnswerRecord;
  /** Its database is configured here, under its name. */
  readonly askable: boolean;
  readonly ui: string | null;
  /** Of each claim, by its number: the entry of the layer with the same check. */
  readonly kept: ReadonlyMap<number, { readonly entryId: string; readonly status: string }>;
  /** Checks that ran again for this view, by the number of the claim. */
  readonly again: ReadonlyMap<number, CheckedAgain>;
  /** Page of the rows, from 1. */
  readonly rowsPage: number;
  /** Questions that follow it. */
  readonly followers: readonly { readonly id: string; readonly question: string }[];
}

/** The claim with its figures of now, or why the check did not run. */
export type CheckedAgain = { readonly now: Claim } | { readonly problem: string };

const PAGE_ROWS = 200;

export function answerBody(answer: Answer): Html {
  const { trace, record, askable } = answer;
  const { id } = record;
  const rerun = {
    database: askable ? record.database : null,
    beside: (claim: Claim, number: number) => besideClaim(answer, claim, number),
  };
  const sections = reportSections(trace, rerun, rowsPart(answer));
  return markup`<div class="answer">
    ${reportHead(trace, '')}
    ${record.replacedBy && markup`<p><a href="${path`/q/${record.replacedBy.id}`}">The search that takes its place</a></p>`}
    ${followPart(answer)}
    <div class="sections">${sectionLinks(sections)}</div>
    <div class="sides">
      <div>${sections.map(section)}</div>
      <div class="side">${morePart(answer)} ${(trace.state?.iteration ?? 1) > 1 && askable && forkPart(id, (trace.state?.iteration ?? 1) - 1)}</div>
    </div>
  </div>`;
}

function followPart({ record: { id, status, database }, askable, followers }: Answer): Html {
  const after =
    followers.length > 0 &&
    markup`<ul class="plain">${followers.map((one) => markup`<li><a href="${path`/q/${one.id}`}">${one.question}</a></li>`)}</ul>`;
  if (!askable)
    return markup`<div class="follow"><p>${database} is not configured here, so nothing can be asked of it. <code>gate db add</code> adds it.</p>${after}</div>`;
  if (status === 'failed' || status === 'cancelled')
    return markup`<div class="follow pair">${button(path`/q/${id}/go-on`, 'Ask it again', 'button primary')}<p class="soft">It goes on where it was; nothing is paid twice.</p></div>`;
  return markup`<div class="follow">
    <form method="post" action="/ask" data-stay aria-label="Follow-up">
      ${hidden('after', id)}
      <div class="line">
        <div class="grow"><label for="follow">Ask what follows</label><textarea id="follow" name="text" rows="1" maxlength="8000" required data-enter placeholder="and by month?"></textarea></div>
        <button class="button primary">Ask</button>
      </div>
    </form>
    ${after}
  </div>`;
}

function rowsPart({ record, rowsPage }: Answer): Html | null {
  const { id, columns, rows, truncated } = record;
  if (columns.length === 0) return null;
  const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
  const page = Math.min(Math.max(1, rowsPage), pages);
  const shown = rows.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS);
  const numeric = columns.map(({ kind }) => kind === 'number');
  const label =
    pages === 1
      ? 'Result'
      : `Result, rows ${(page - 1) * PAGE_ROWS + 1} to ${(page - 1) * PAGE_ROWS + shown.length} of ${truncated ? 'more than ' : ''}${rows.length.toLocaleString('en-US')}`;
  const to = (number: number, says: string): Html =>
    markup`<a class="button" href="${path`/q/${id}`}?rows=${number}#result">${says}</a>`;
  return markup`${page === 1 && chartOf(record)}
    <div class="rows">${rowsTable(label, { columns: columns.map(({ name }) => name), rows: shown, rowCount: shown.length, truncated: truncated && pages === 1, numeric }, PAGE_ROWS)}</div>
    <nav class="pages" aria-label="Rows">
      ${page > 1 && to(page - 1, 'Rows before')} ${page < pages && to(page + 1, 'More rows')}
      ${rows.length > 0 && markup`<a class="button" href="${path`/q/${id}/rows.csv`}" download>Download CSV</a>`}
    </nav>`;
}

function morePart({ record: { id, after }, ui }: Answer): Html {
  return markup`<section aria-label="This answer">
    <ul class="plain">
      <li><a href="${path`/q/${id}/report`}" download>Report as one file</a></li>
      ${ui !== null && markup`<li><a href="${ui}">In the Temporal UI</a></li>`}
      ${after !== undefined && markup`<li><a href="${path`/q/${after}`}">The question before</a></li>`}
      <li class="soft"><code>${id}</code></li>
    </ul>
  </section>`;
}

/** Runs its check again, and says that it is wrong; where the layer does not hold it, what is right can be said there. */
function besideClaim({ record, askable, kept, again }: Answer, claim: Claim, number: number): Html | null {
  if (!askable) return null;
  const { id } = record;
  const entry = kept.get(number);
  const checked = again.get(number);
  const wrong = (title: string, text: string, line: Html): Html =>
    details(title, form(path`/q/${id}/wrong/${number}`, markup`<p class="soft">${text}</p>${line}`));
  return markup`${checked !== undefined && againPart(claim, number, checked)}
    <div class="acts pair">
      ${button(path`/q/${id}/checks/${number}`, 'Run this check again')}
      ${
        entry?.status === 'active' &&
        wrong(
          'This convention is wrong',
          'It and all that rests on it are used no more. The layer keeps who said so.',
          lineOf(`why-${number}`, 'note', WHY, { says: 'It is wrong', style: 'button danger', isRequired: false }),
        )
      }
      ${entry !== undefined && entry.status !== 'active' && badge(`${entry.status} in the layer`, 'warn')}
      ${
        entry === undefined &&
        wrong(
          'This is wrong',
          'The layer does not hold this claim. Say what is right, and later questions are told it as what you said.',
          lineOf(`right-${number}`, 'statement', RIGHT, { says: 'Keep it as a rule' }),
        )
      }
    </div>`;
}

const WHY = 'Why (may be left out)';
const RIGHT = 'What is right, with the names of table and column';

/** The script knows its class. */
function againPart(before: Claim, number: number, checked: CheckedAgain): Html {
  const id = `again-${number}`;
  if ('problem' in checked)
    return markup`<p id="${id}" class="said again failed" role="alert">The check did not run: ${checked.problem}</p>`;
  const { now } = checked;
  const rivals = now.rivals.map((rival) => `“${cut(rival.reading, 60)}” ${rivalText(rival)}`);
  const isSame = figuresText(now) === figuresText(before) && now.state === before.state;
  const text = `Counted again: ${[figuresText(now), ...rivals].join('; ')}.`;
  return isSame
    ? markup`<p id="${id}" class="said again done" role="status">${text} As before.</p>`
    : markup`<p id="${id}" class="said again failed" role="alert">${text} It was ${figuresText(before)} (${CLAIM_WORDS[before.state].says}), now it is ${CLAIM_WORDS[now.state].says}: ask again before you use this answer.</p>`;
}
