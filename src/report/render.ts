/**
 * A trace as one self-contained HTML file: the answer and how far to trust it, the result, the evidence, the machinery. It
 * loads nothing and works without scripts; its policy allows its own style sheet and copy buttons by their hashes and
 * nothing else, so that a hostile value in a database stays text even if an escape were missed.
 */
import { createHash } from 'node:crypto';
import type { AnswerRecord } from '../domain';
import { reasonTexts, statedText } from '../text/answer-text';
import { uncheckedAssumptions } from '../text/claim-text';
import { declineText, standingText } from '../text/standing';
import { type Doubt, doubtsOf } from './doubts';
import { anchor, badge, details, Html, markup } from './html';
import { machinery } from './machinery';
import { capital, counted, dollars, duration, utc, visible } from './printable';
import { claimsBody, claimsTitle, evidenceBody, evidenceTitle } from './proof-sections';
import { resultBody } from './result-section';
import { type Rerun, sqlBody } from './sql-section';
import { SCRIPT, STYLE } from './style';
import type { Trace } from './trace';
import { asOfText, filesText, modelText, replacedTexts, STATUS_WORDS } from './words';

export const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policyOf = (scripts: string): string =>
  `default-src 'none'; style-src ${hashOf(STYLE)};${scripts} base-uri 'none'; form-action 'none'`;
/** Whole, because the policy's hash covers every character between the tags. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

export function renderReport(trace: Trace, rerun: Rerun = { database: null }): string {
  const present = reportSections(trace, rerun, trace.record && resultBody(trace.record));
  return page(
    `${questionOf(trace).slice(0, 120)} · GATE`,
    markup`<a class="skip" href="#main">Skip to the result</a>
        ${reportHead(trace)} ${sectionLinks(present)}
        <main id="main">${present.map(section)}</main>
        <footer>
          <p>Search <code>${trace.searchId}</code>. <code>gate show ${trace.searchId}</code> prints the answer in a terminal.</p>
        </footer>`,
  );
}

export type Section = readonly [id: string, title: string, body: Html | null];

/** Those that have something to show. */
export function reportSections(trace: Trace, rerun: Rerun, result: Html | null): readonly Section[] {
  const { record } = trace;
  const sections: readonly Section[] = [
    ['result', 'Result', result],
    ['claims', claimsTitle(record ?? {}), record && claimsBody(record, rerun)],
    ['sql', 'SQL', record && sqlBody(record, rerun)],
    ['evidence', evidenceTitle(record ?? {}), record && evidenceBody(record, rerun)],
    ['steering', 'What people told the search', record && steeringBody(record)],
    ['sources', 'Sources', record && sourcesBody(record)],
    ['reply', 'Last reply of the model', replyBody(trace)],
    ['machinery', 'How it was found', machinery(trace, rerun)],
  ];
  return sections.filter(([, , body]) => body !== null);
}

export function sectionLinks(sections: readonly Section[]): Html {
  return markup`<nav aria-label="Sections">
    <ul>
      ${sections.map(([id, title]) => markup`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
  </nav>`;
}

function questionOf({ record, input, searchId }: Trace): string {
  return record?.question ?? input?.question.text ?? searchId;
}

/** A file of its own: it loads nothing, and its policy allows only what is written here. */
export function page(title: string, body: Html, script: string | null = SCRIPT): string {
  const policy = policyOf(script === null ? '' : ` script-src ${hashOf(script)};`);
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        ${body} ${script === null ? null : new Html(`<script>${script}</script>`)}
      </body>
    </html> `.text;
}

export function section([id, title, body]: Section): Html {
  return markup`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${body}
  </section>`;
}

const TITLE_CHARS = 280;
/** The most doubts that are shown without a click. */
const DOUBTS = 6;

/** The answer in one sentence, how far it is proved, and where to doubt it. */
export function reportHead(trace: Trace, what = 'GATE report'): Html {
  const { record, input } = trace;
  const { says, tone } = STATUS_WORDS[record?.status ?? 'running'];
  const { title, more } = headline(trace);
  const after = record?.after ?? input?.question.after;
  return markup`<header>
    <p class="status">${badge(says, tone)} <span class="soft">${what}</span></p>
    <p class="question"><span class="soft">Question:</span> ${questionOf(trace)}</p>
    ${after && markup`<p class="soft">Follows: <code>${after}</code> (<code>gate show ${after}</code>)</p>`}
    ${record?.understoodAs && markup`<p class="soft">Understood as: ${record.understoodAs}</p>`}
    ${input?.question.context && markup`<p class="soft">Context: ${input.question.context}</p>`}
    <h1 class="${tone}">${title}</h1>
    ${[...more, ...(record ? replacedTexts(record) : [])].map((line) => markup`<p class="more">${line}</p>`)} ${record && proofLine(record)}
    ${record && doubtList(doubtsOf(record))}
    <ul class="meta">
      ${facts(trace).map((fact) => markup`<li>${fact}</li>`)}
    </ul>
  </header>`;
}

/** The sentence, and what follows it. */
function headline({ record, state }: Trace): { readonly title: string; readonly more: readonly string[] } {
  if (record === null)
    return {
      title: 'There is no answer yet',
      more: [
        `Not finished: round ${state?.iteration ?? 1} is next or under way. The report shows what the search has stored so far.`,
      ],
    };
  const reason = reasonTexts(record);
  const title = statedText(record);
  if (title === null) return { title: withoutAnswer(record), more: reason };
  const more = (record.answer ?? '')
    .split('\n')
    .slice(1)
    .filter((line) => line.trim() !== '');
  const lead = record.status === 'cancelled' ? 'Best answer so far: ' : '';
  if (title.length <= TITLE_CHARS) return { title: `${lead}${title}`, more: [...more, ...reason] };
  return { title: withoutAnswer(record), more: [title, ...more, ...reason] };
}

function withoutAnswer({ status, columns, rows, sql }: AnswerRecord): string {
  if (columns.length > 0 || (status === 'answered' && sql !== null))
    return columns.length > 0 ? `The result has ${counted(rows.length, 'row')}` : 'The answer is the SQL below';
  switch (status) {
    case 'answered':
      return 'The question is answered';
    case 'unanswerable':
      return 'The question cannot be answered from this database';
    case 'abstained':
      return 'No answer was certain enough to give';
    case 'cancelled':
      return 'The search was cancelled before it had an answer';
    case 'failed':
      return 'The search failed before it had an answer';
    default:
      return status satisfies never;
  }
}

function proofLine(record: AnswerRecord): Html | null {
  const { evidence, columns, sql, claims } = record;
  const decline = declineText(record);
  if (decline !== null) return markup`<p class="proof">${decline}</p>`;
  if (columns.length === 0 && sql === null) return null;
  const unchecked = uncheckedAssumptions(record).filter(({ kind }) => kind === 'assumption');
  const marks = claims === undefined ? evidence : [...claims, ...unchecked.map(() => ({ state: 'open' }))];
  const text = capital(standingText(record));
  if (marks.length === 0) return markup`<p class="proof">${text}</p>`;
  return markup`<p class="proof">
    <span class="gauge" aria-hidden="true">${marks.map(({ state }) => markup`<span class="${state}"></span>`)}</span>
    <a href="#${claims === undefined ? 'evidence' : 'claims'}">${text}</a>
  </p>`;
}

function doubtList(doubts: readonly Doubt[]): Html {
  if (doubts.length === 0) return markup``;
  const rest = doubts.slice(DOUBTS);
  return markup`<section class="doubts" aria-labelledby="open">
    <h2 id="open">Where to doubt it</h2>
    <ul>
      ${doubts.slice(0, DOUBTS).map(doubtItem)}
    </ul>
    ${rest.length > 0 && details(counted(rest.length, 'further point'), markup`<ul>${rest.map(doubtItem)}</ul>`)}
  </section>`;
}

function doubtItem({ text, more, label, to }: Doubt): Html {
  const place = to === null ? null : to.kind === '' ? to.id : anchor(to.kind, to.id);
  return markup`<li>
    ${text} ${badge(label, 'warn')} ${place !== null && markup`<a href="#${place}">why</a>`}
    ${more !== null && markup`<div class="soft">${more}</div>`}
  </li>`;
}

function facts(trace: Trace): string[] {
  const { record, input, state } = trace;
  const usage = record?.usage ?? state?.usage;
  const model = modelText(trace);
  const files = record ? filesText(record) : null;
  return [
    `Database ${record?.database ?? input?.question.database ?? 'unknown'}`,
    ...(record ? [`As of ${asOfText(record)}`] : []),
    ...(files === null ? [] : [`Files ${files}`]),
    ...(model === null ? [] : [capital(model)]),
    ...(usage === undefined ? [] : [`${counted(usage.llmCalls, 'model call')}, ${dollars(usage.costUsd)}`]),
    ...(record ? [`took ${duration(Math.max(0, Date.parse(record.endedAt) - Date.parse(record.startedAt)))}`] : []),
  ];
}

function steeringBody({ steering = [] }: AnswerRecord): Html | null {
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

function sourcesBody({ sources = [], failedLookups = [] }: AnswerRecord): Html | null {
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
function replyBody({ lastBadReply: reply, record }: Trace): Html | null {
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
