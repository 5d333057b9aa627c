/** Where a question is asked, and the list of all that were. */
import type { ListedDatabase } from '../../app/databases';
import type { SearchRow } from '../../app/search-list';
import { badge, head, type Html, markup, table } from '../../report/html';
import { counted, dollars } from '../../report/printable';
import { STATUS_WORDS, type Worded } from '../../report/words';
import { ago, field, path, type View } from './shell';

/** Whether a database answers; null: nobody has looked yet. */
export type Reached = { readonly tables: number } | { readonly problem: string } | null;
export type KnownDatabase = ListedDatabase & { readonly reached: Reached };

export interface AskPage {
  readonly databases: readonly KnownDatabase[];
  /** What a question may cost; null: no limit. */
  readonly ceilingUsd: number | null;
  /** The model, and who receives rows. */
  readonly model: { readonly name: string; readonly endpoint: string; readonly unpriced: boolean } | null;
  readonly recent: readonly SearchRow[];
  /** What was typed before a mistake. */
  readonly typed?: Readonly<Record<string, string | undefined>>;
}

export function askBody(page: AskPage): View['body'] {
  const { databases, ceilingUsd, model, recent, typed = {} } = page;
  const usable = databases.filter(({ engine }) => engine !== '?');
  const chosen =
    typed['db'] ?? recent.map(({ database }) => database).find((name) => usable.some((one) => one.name === name));
  return markup`<h1>Ask a database</h1>
    ${
      usable.length === 0
        ? markup`<p class="empty">No database is configured yet. <code>gate db add shop --path ./shop.sqlite</code> adds one, then load this page again.</p>`
        : markup`<form class="ask stack" method="post" action="/ask" data-stay aria-label="Question">
            <div>
              <label for="question">Question</label>
              <textarea id="question" name="text" rows="3" maxlength="8000" required data-enter placeholder="How many orders came in last week?">${typed['text']}</textarea>
            </div>
            <fieldset>
              <legend>Database</legend>
              <div class="choices">${usable.map((one, at) => databaseChoice(one, chosen === undefined ? at === 0 : chosen === one.name))}</div>
            </fieldset>
            <div class="line cost">
              ${field('cost', 'cost', 'May cost at most $', markup` class="short" inputmode="decimal" placeholder="no limit" value="${typed['cost'] ?? ceilingUsd ?? ''}"`)}
              <button class="button primary">Ask</button>
            </div>
            <details>
              <summary>More</summary>
              <div class="stack">
                <div><label for="context">What has to be known, such as the date that the question refers to</label><textarea id="context" name="context" rows="2" maxlength="32000">${typed['context']}</textarea></div>
                <label class="pair"><input type="checkbox" name="fresh" value="yes" /> Search again even if it was answered before</label>
              </div>
            </details>
            ${modelLine(model)}
          </form>`
    }
    <h2 id="recent">Asked before</h2>
    ${searchTable(recent)} ${recent.length > 0 && markup`<p><a href="/answers">All answers</a></p>`}`;
}

function modelLine(model: AskPage['model']): Html {
  if (model === null)
    return markup`<p class="soft small">No model is configured: set GATE_MODEL and the key of its endpoint (docs/configuration.md).</p>`;
  const { name, endpoint, unpriced } = model;
  return markup`<p class="soft small">Model ${name} at ${endpoint}, which receives the question, the schema and rows that the search reads.${unpriced && ' Its price is not known, so its calls count as $0.'}</p>`;
}

function databaseChoice({ name, engine, address, access, reached }: KnownDatabase, isChosen: boolean): Html {
  return markup`<label class="choice">
    <input type="radio" name="db" value="${name}" required ${isChosen && CHECKED} />
    <span><b>${name}</b> ${reachedBadge(reached)}</span>
    <span class="soft">${engine}, ${address}${access !== 'everything that may be read' && `; ${access}`}</span>
  </label>`;
}

const CHECKED = markup`checked`;

export function reachedBadge(reached: Reached): Html {
  if (reached === null) return badge('not looked at yet', 'calm');
  return 'tables' in reached
    ? badge(`ready, ${counted(reached.tables, 'table')}`, 'good')
    : badge('cannot be reached', 'bad');
}

const WORDS: Readonly<Record<string, Worded>> = {
  ...STATUS_WORDS,
  unanswerable: { says: 'Not stored', tone: 'warn' },
  running: { says: 'Running', tone: 'calm' },
  paused: { says: 'Paused', tone: 'warn' },
  waiting: { says: 'Waiting', tone: 'calm' },
  interrupted: { says: 'Nobody works on it', tone: 'bad' },
  unknown: { says: 'Unknown', tone: 'warn' },
};

export function statusBadge(status: string): Html {
  const { says, tone } = WORDS[status] ?? { says: status, tone: 'calm' as const };
  return badge(says, tone);
}

export function searchTable(rows: readonly SearchRow[]): Html {
  if (rows.length === 0) return markup`<p class="empty">Nothing was asked yet.</p>`;
  return table(
    'Questions',
    [head('Question'), markup`<th scope="col" class="tight">State</th>`, ...HIDDEN_HEADS],
    rows.map(
      ({ id, question, after, answer, status, database, costUsd, startedAt }) =>
        markup`<tr>
          <td><a href="${path`/q/${id}`}">${question}</a>${after !== undefined && markup` <span class="badge">follow-up</span>`}<span class="soft">${answer}</span></td>
          <td class="tight">${statusBadge(status)}<span class="soft">${ago(startedAt)}</span></td>
          <td class="tight hide">${database}</td>
          <td class="tight num hide">${costUsd === null ? '' : dollars(costUsd)}</td>
        </tr>`,
    ),
  );
}

const HIDDEN_HEADS = [
  markup`<th scope="col" class="tight hide">Database</th>`,
  markup`<th scope="col" class="tight num hide">Cost</th>`,
];

/** `next`: where the page after this one begins; null: it is the last. */
export function answersBody(
  rows: readonly SearchRow[],
  { isFirst, next }: { readonly isFirst: boolean; readonly next: string | null },
): Html {
  return markup`<h1>Answers</h1>
    ${searchTable(rows)}
    <nav class="pages" aria-label="Pages of answers">
      ${!isFirst && markup`<a class="button" href="/answers">Newest</a>`}
      ${next !== null && markup`<a class="button" href="/answers?after=${encodeURIComponent(next)}">Older</a>`}
    </nav>`;
}
