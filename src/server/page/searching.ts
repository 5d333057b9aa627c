/**
 * A search that has not ended: the sentence as it stands, its claims beside their rivals, its queries with their rows, what
 * it costs, and what a person can tell it. All of it is read anew for every event, from the store and the workflow.
 */
import type { Outage } from '../../app/outages';
import type { Remark, SearchInput, Usage } from '../../domain';
import type { LookReply } from '../../domain/turns';
import { anchor, badge, details, type Html, markup, resultOf } from '../../report/html';
import { searchPart } from '../../report/machinery';
import { billText, capital, counted, dollars, utc } from '../../report/printable';
import { bars, claimCard } from '../../report/proof-sections';
import { type Rerun, sqlHtml, statement } from '../../report/sql-section';
import type { Trace } from '../../report/trace';
import { type Progress, waitedFor } from '../../search/progress';
import { statusBadge } from './ask';
import { button, field, form, hidden, lineOf, path } from './shell';

export interface Searching {
  readonly id: string;
  /** `running`, `paused`, `waiting`, `interrupted` or `unknown`. */
  readonly status: string;
  readonly input: SearchInput | null;
  readonly trace: Trace;
  /** null: no worker has answered yet. */
  readonly progress: Progress | null;
  readonly outages: readonly Outage[];
  /** What is proved, with its words. */
  readonly proved: readonly { readonly id: string; readonly says: string; readonly status: string }[];
  readonly remarks: readonly Remark[];
  /** What it has used until now. */
  readonly usage: Usage;
  /** What models are asked for just now. */
  readonly asked: readonly string[];
  /** Why it could not be started; left out: nothing went wrong. */
  readonly problem?: string;
  /** What it may cost; null: no limit. */
  readonly ceilingUsd: number | null;
  /** In the Temporal UI. */
  readonly ui: string | null;
  /** Its database is configured here: it can be asked, and gone on with. */
  readonly askable: boolean;
}

export function searchingBody(search: Searching): Html {
  const { id, trace, input, status } = search;
  const rerun: Rerun = { database: search.askable ? (input?.question.database ?? null) : null };
  const committed = lastCommit(trace);
  return markup`<div class="sides">
    <div>
      <p class="status">${statusBadge(status === 'starting' ? 'running' : status)} <span class="soft">on ${input?.question.database}</span></p>
      <h1>${input?.question.text ?? id}</h1>
      ${input?.question.after && markup`<p class="soft">Follows <a href="${path`/q/${input.question.after}`}">an earlier question</a>.</p>`}
      ${nowPart(search)} ${sentencePart(committed)} ${claimsPart(trace, committed, rerun)} ${provedPart(search)} ${stepsPart(trace)}
      ${(trace.state?.trajectories.length ?? 0) > 1 && details('The search in full', markup`${searchPart(trace, rerun)}`)}
    </div>
    <div class="side">${costPart(search)} ${steerPart(search)}</div>
  </div>`;
}

/** What is done just now, in plain words; read out when it changes. */
function nowPart(search: Searching): Html {
  const { id, status, progress, outages, input, askable, problem } = search;
  const goOn = askable && input?.parent === undefined && button(path`/q/${id}/go-on`, 'Go on', 'button primary');
  const say = (text: string, more: Html | null | false = null): Html =>
    markup`<div id="now"><p class="now" role="status">${text}</p>${more}</div>`;
  switch (status) {
    case 'paused':
      return say(
        'Paused: nothing is asked or paid until it goes on.',
        button(path`/q/${id}/resume`, 'Go on', 'button primary'),
      );
    case 'waiting':
      return say('Waiting: its batch has not begun it yet.');
    case 'starting':
      return say('It is being started.');
    case 'interrupted':
    case 'unknown':
      return say(
        problem ??
          (status === 'unknown'
            ? 'No Temporal answers, so nobody can tell how it stands.'
            : 'Nobody works on it any more. It goes on where it was, and nothing is paid twice.'),
        goOn,
      );
    default: {
      const [outage] = outages;
      const [waiting] = waitedFor(progress?.waiting ?? []);
      const clock =
        waiting &&
        markup`<p class="soft">for <time datetime="${new Date(waiting.sinceMs).toISOString()}" data-since></time></p>`;
      if (outage !== undefined) return say(`A step is tried again (try ${outage.attempt}): ${outage.reason}`, clock);
      if (progress === null) return say('It has begun.');
      return say(doing(search, waiting?.what), clock);
    }
  }
}

function doing({ asked }: Searching, waitedFor: string | undefined): string {
  if (waitedFor === undefined) return 'It works out what follows from the last result.';
  if (waitedFor.startsWith('the database')) return 'The database counts and reads rows.';
  return `${waitedFor} ${ASKED[asked.at(-1) ?? ''] ?? 'is asked'}.`;
}

/** Completes a model's name. */
const ASKED: Readonly<Record<string, string>> = {
  look: 'decides what to look at, or writes its SQL and what it takes for granted',
  plan: 'plans the steps of the answer',
  propose: 'thinks of rival readings and of a query that tells them apart',
  ground: 'judges what the query showed',
  evaluate: 'weighs which way to go on',
  select: 'chooses between the results',
  keep: 'words what was proved, for later questions',
  learn: 'reads tables and claims what holds in them',
  react: 'decides on its next query',
};

type Commit = { readonly turn: string; readonly reply: LookReply; readonly isJudged: boolean };

function lastCommit({ turns = {}, verdicts = {} }: Trace): Commit | null {
  const [turn, content] =
    Object.entries(turns)
      .filter(([, { reply }]) => reply.action !== 'look')
      .at(-1) ?? [];
  return turn === undefined || content === undefined
    ? null
    : { turn, reply: content.reply, isJudged: verdicts[turn] !== undefined };
}

const PLACE = /(\{[^{}]*\})/;

/** Its values are known once its SQL has run. */
function sentencePart(commit: Commit | null): Html | null {
  const { sentence, reason, operators = [] } = commit?.reply ?? {};
  if (commit === null) return null;
  const text = sentence ?? reason ?? operators.at(-1)?.intent;
  if (!text) return null;
  const parts = text
    .split(PLACE)
    .map((part) =>
      PLACE.test(part) ? markup`<span class="place">${part.slice(1, -1).replaceAll('_', ' ')}</span>` : part,
    );
  return markup`<h2 id="sentence">The sentence as it stands</h2>
    <p class="saying">${parts}</p>
    ${operators.length > 0 && details('Its SQL so far', markup`${operators.map(({ name, intent, sql }) => markup`<p><code>${name}</code> ${intent}</p>${sqlHtml(sql, new Set())}`)}`)}`;
}

function claimsPart({ verdicts = {} }: Trace, commit: Commit | null, rerun: Rerun): Html | null {
  if (commit === null) return null;
  const judged = verdicts[commit.turn]?.claims ?? [];
  const { claims, absent } = commit.reply;
  const asked = [...claims, ...absent.map((one) => ({ ...one, rivals: [] }))];
  if (judged.length === 0 && asked.length === 0) return null;
  const operators = new Set(commit.reply.operators.map(({ name }) => name));
  return markup`<h2 id="claims">What it takes for granted</h2>
    ${
      commit.isJudged
        ? judged.map((claim, at) => claimCard(claim, at + 1, operators, rerun))
        : asked.map(
            ({ statement: words, rivals }, at) =>
              markup`<article class="card" id="claim-${at + 1}">
                <p class="soft">Claim ${at + 1} ${badge('being counted', 'calm')}</p>
                <h3>Claimed: “${words}”</h3>
                ${bars('Rows that agree with each reading', [
                  { reading: 'As claimed', verdict: null, matching: null, examined: null },
                  ...rivals.map(({ reading }) => ({
                    reading: `Rival: “${reading}”`,
                    verdict: null,
                    matching: null,
                    examined: null,
                  })),
                ])}
              </article>`,
          )
    }`;
}

function provedPart({ id, proved }: Searching): Html | null {
  const active = proved.filter(({ status }) => status === 'active');
  if (active.length === 0) return null;
  return markup`<h2 id="proved">Readings it has kept</h2>
    ${active.map(
      ({ id: update, says }) =>
        markup`<article class="card proved entry">
          <p>${says}</p>
          <div class="acts">
            ${form(path`/q/${id}/veto`, markup`${hidden('update', update)}${details('Reject it', lineOf(anchor('veto', update), 'reason', 'Why it is wrong', { says: 'Reject', style: 'button danger' }))}`)}
            ${form(path`/q/${id}/pin`, markup`${hidden('target', update)}${details('Keep it whatever comes', lineOf(anchor('pin', update), 'reason', 'Why it is right', { says: 'Keep' }))}`)}
          </div>
        </article>`,
    )}`;
}

const SHOWN_ROWS = 10;

/** Each reply of the model, with the queries that it asked for and their rows. */
function stepsPart({ turns = {}, verdicts = {}, observations }: Trace): Html | null {
  const all = Object.entries(turns);
  if (all.length === 0) return null;
  return markup`<h2 id="steps">Steps</h2>
    <ol class="steps">
      ${all.map(([id, { reply }], at) => {
        const results = observations[id]?.tests;
        const isDone = reply.action === 'look' ? results !== undefined : verdicts[id] !== undefined;
        const isLast = at === all.length - 1;
        return markup`<li id="step-${at + 1}" class="${isLast ? 'last' : ''} ${isDone ? '' : 'busy'}">
          ${stepText(reply, isDone)}
          ${reply.queries.map(({ why, sql }, index) => {
            const result = results?.[index]?.result;
            const found =
              result === undefined
                ? 'running'
                : result.kind === 'rows'
                  ? counted(result.rows.length, 'row')
                  : 'no rows';
            return markup`<details id="query-${at + 1}-${index + 1}">
              <summary>${capital(why) || 'A query'} <span class="soft">${found}</span></summary>
              ${statement(`step-${at + 1}-${index + 1}`, sql, new Set(), { database: null })}
              ${result !== undefined && resultOf('Rows', result, SHOWN_ROWS)}
            </details>`;
          })}
        </li>`;
      })}
    </ol>`;
}

function stepText({ action, queries, claims, absent }: LookReply, isDone: boolean): string {
  if (action === 'look')
    return `${isDone ? 'Looked' : 'Looks'} at the data with ${counted(queries.length, 'query', 'queries')}.`;
  if (action === 'unanswerable')
    return `Says that the database does not hold it, with ${counted(absent.length, 'claim')} that ${isDone ? 'were' : 'are being'} counted.`;
  return claims.length === 0
    ? 'Wrote its SQL; nothing has to be counted.'
    : `Wrote its SQL and what it takes for granted: ${counted(claims.length, 'claim')}, ${isDone ? 'counted' : 'being counted'}.`;
}

export function costMeter(used: number, ceiling: number | null): Html | null {
  if (ceiling === null || ceiling <= 0) return null;
  const share = Math.min(100, (100 * used) / ceiling);
  return markup`<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="${Math.round(share)} percent of what it may cost">
    <rect class="track" width="100" height="8" /><rect class="${share > 85 ? 'bad' : 'used'}" width="${share.toFixed(1)}" height="8" />
  </svg>`;
}

function costPart({ usage, ceilingUsd, trace, progress, input, ui }: Searching): Html {
  const used = usage.costUsd;
  const bill = billText(usage);
  const begun = input?.askedAt ?? (trace.state && new Date(trace.state.startedAtMs).toISOString());
  return markup`<section aria-labelledby="cost">
    <h2 id="cost">${dollars(used)}${ceilingUsd === null ? ', no limit' : ` of at most ${dollars(ceilingUsd)}`}</h2>
    ${costMeter(used, ceilingUsd)}
    <dl class="figures">
      ${begun && markup`<dt>Time</dt><dd><time datetime="${begun}" data-since></time></dd>`}
      <dt>Model calls</dt><dd>${usage.llmCalls}</dd>
      <dt>Tokens</dt><dd>${(usage.promptTokens + usage.completionTokens).toLocaleString('en-US')}</dd>
      <dt>Queries</dt><dd>${usage.sqlExecutions.toLocaleString('en-US')}</dd>
      ${bill !== null && markup`<dt>Read from the database</dt><dd>${bill}</dd>`}
      ${progress?.proved !== undefined && markup`<dt>Claims proved</dt><dd>${progress.proved}</dd>`}
      ${progress !== null && progress.candidates > 0 && markup`<dt>Candidates</dt><dd>${progress.candidates}</dd>`}
    </dl>
    ${ui !== null && markup`<p><a href="${ui}">In the Temporal UI</a></p>`}
  </section>`;
}

function steerPart({ id, status, remarks, ceilingUsd, trace }: Searching): Html | null {
  const isLive = status === 'running' || status === 'paused';
  const checkpoints = (trace.state?.iteration ?? 1) - 1;
  return markup`${
    isLive &&
    markup`<section aria-labelledby="steer">
        <h2 id="steer">Tell it</h2>
        <div class="stack">
          ${form(path`/q/${id}/hint`, markup`<label for="hint">Something that the data does not show</label><textarea id="hint" name="text" rows="2" maxlength="2000" required></textarea><p><button class="button">Tell it</button></p>`)}
          <div class="pair">
            ${status === 'running' ? button(path`/q/${id}/pause`, 'Pause') : button(path`/q/${id}/resume`, 'Go on')}
            ${button(path`/q/${id}/stop`, 'Answer now')} ${button(path`/q/${id}/cancel`, 'Cancel', 'button danger')}
          </div>
          ${form(path`/q/${id}/budget`, markup`<div class="line cost">${field('budget', 'cost', 'May cost $', markup` class="short" inputmode="decimal" placeholder="no limit" value="${ceilingUsd ?? ''}"`)}<button class="button">Change</button></div>`)}
        </div>
      </section>`
  }
    ${
      remarks.length > 0 &&
      markup`<section aria-labelledby="told">
        <h2 id="told">What it was told</h2>
        <ul class="plain">${remarks.map(({ kind, author, text, at }) => markup`<li class="reading">${badge(kind, 'warn')} ${text}<div class="soft">${author}, ${utc(at)}</div></li>`)}</ul>
      </section>`
    }
    ${checkpoints > 0 && markup`<section aria-label="Fork">${forkPart(id, checkpoints)}</section>`}`;
}

export function forkPart(id: string, checkpoints: number): Html {
  return details(
    'Fork from here',
    form(
      path`/q/${id}/fork`,
      markup`<div class="stack">
        <p class="soft">A new search from the state of this one, which stays as it is. It pays its own calls only.</p>
        <div>${field('fork-at', 'at', 'After round', markup` class="short" type="number" min="1" max="${checkpoints}" value="${checkpoints}" required`)}</div>
        <div>${field('fork-hint', 'hint', 'And told', markup` maxlength="2000"`)}</div>
        <button class="button">Fork</button>
      </div>`,
    ),
  );
}
