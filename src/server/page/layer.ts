/** What the rows of a database proved and people say of it: figures beside rivals, who rests on what, and what people decide. */
import type { Verdict } from '../../app/layer';
import type { LayerEvent } from '../../domain';
import { fallText } from '../../layer/drift';
import {
  figuresNow,
  figuresOf,
  fittingTexts,
  hasFallen,
  isCounted,
  type Held,
  type HeldEntry,
  type HeldRule,
  type Layer,
  type OpenQuestion,
} from '../../layer/state';
import { anchor, badge, details, type Html, markup } from '../../report/html';
import { counted } from '../../report/printable';
import { bars } from '../../report/proof-sections';
import { sqlHtml } from '../../report/sql-section';
import type { Worded } from '../../report/words';
import { ago, button, choiceOf, field, form, hidden, lineOf, path } from './shell';

export interface LayerPage {
  readonly database: string;
  readonly databases: readonly string[];
  readonly layer: Layer;
  readonly history: (held: Held) => readonly LayerEvent[];
  /** Of checks that ran for this view. */
  readonly verdict: Verdict | null;
  /** Only entries whose words hold this. */
  readonly wanted: string;
  /** From 1. */
  readonly page: number;
}

const PAGE = 50;

export function layerBody(page: LayerPage): Html {
  const { database, databases, layer, verdict, wanted } = page;
  const to = (entry: string): string => path`/layer/${database}/${entry}`;
  const find = (held: Held): boolean =>
    `${held.statement} ${held.entry.tables.join(' ')}`.toLowerCase().includes(wanted.toLowerCase());
  const entries = [...layer.entries]
    .filter(find)
    .sort((a, b) => ORDER[a.status] - ORDER[b.status] || Number(hasFallen(b)) - Number(hasFallen(a)));
  const active = layer.entries.filter(({ status }) => status === 'active').length;
  const pages = Math.max(1, Math.ceil(entries.length / PAGE));
  const at = Math.min(Math.max(1, page.page), pages);
  const link = (number: number, says: string): Html =>
    markup`<a class="button" href="${path`/layer/${database}`}?page=${number}${wanted !== '' && markup`&find=${encodeURIComponent(wanted)}`}">${says}</a>`;
  return markup`${choiceOf(databases, database, 'Databases', (name) => path`/layer/${name}`)}
    <div class="sides">
      <div>
        <h1>Conventions of ${database}</h1>
        <p class="soft">${counted(active, 'convention')} in use${layer.entries.length > active && `, ${layer.entries.length - active} not`}; ${counted(layer.rules.length, 'rule')} that people state. ${layer.verifiedAt !== null && markup`Checked ${ago(layer.verifiedAt)}.`}</p>
        ${verdict && verdictPart(verdict)} ${questionsPart(layer.questions, to)}
        <h2 id="proved">Proved by its rows</h2>
        ${
          layer.entries.length > PAGE / 5 &&
          markup`<form method="get" action="${path`/layer/${database}`}" class="line" role="search"><div class="grow">${field('find', 'find', 'Find', markup` type="search" value="${wanted}"`)}</div><button class="button">Find</button></form>`
        }
        ${
          entries.length === 0
            ? markup`<p class="empty">${wanted === '' ? markup`Nothing yet: questions whose claims are proved add to it, and so does <code>gate learn --db ${database}</code>.` : 'No convention has these words.'}</p>`
            : entries.slice((at - 1) * PAGE, at * PAGE).map((held) => entryCard(held, page, to))
        }
        ${pages > 1 && markup`<nav class="pages" aria-label="Pages">${at > 1 && link(at - 1, 'Before')}<span class="soft">${at} of ${pages}</span>${at < pages && link(at + 1, 'More')}</nav>`}
        <h2 id="said">Said by people</h2>
        ${layer.rules.length === 0 && markup`<p class="empty">Nothing yet.</p>`}
        ${layer.rules.filter(find).map((held) => ruleCard(held, page, to))}
      </div>
      <div class="side">
        <section aria-labelledby="verify">
          <h2 id="verify">Verify now</h2>
          <p class="soft">Every check runs again on the rows of now. No model is asked.</p>
          ${button(to('verify'), 'Run all checks', 'button primary')}
        </section>
        <section aria-labelledby="state">
          <h2 id="state">State a rule</h2>
          ${form(to('add'), markup`<label for="rule">What the data cannot show, with the names of table and column</label><textarea id="rule" name="statement" rows="3" maxlength="2000" required></textarea><p><button class="button">State it</button></p>`)}
          <p class="soft">Nobody counts it: later questions are told it as what you said.</p>
        </section>
        ${
          layer.lesson !== null &&
          layer.lesson.left.length > 0 &&
          markup`<section aria-labelledby="left"><h2 id="left">Not learned yet</h2><p>${layer.lesson.left.slice(0, 12).join(', ')}${layer.lesson.left.length > 12 && ` and ${layer.lesson.left.length - 12} more`}</p><p class="soft"><code>gate learn --db ${database}</code> goes on.</p></section>`
        }
      </div>
    </div>`;
}

const ORDER: Readonly<Record<Held['status'], number>> = {
  broken: 0,
  suspended: 1,
  active: 2,
  superseded: 3,
  rejected: 4,
};

const STATUS: Readonly<Record<Held['status'], Worded>> = {
  active: { says: 'in use', tone: 'good' },
  broken: { says: 'no longer holds', tone: 'bad' },
  suspended: { says: 'suspended', tone: 'warn' },
  superseded: { says: 'superseded', tone: 'calm' },
  rejected: { says: 'rejected', tone: 'bad' },
};

function verdictPart({ checked, unseen, broken, fell, heldAgain }: Verdict): Html {
  const changed = broken.length + fell.length + heldAgain.length;
  return markup`<section class="doubts" aria-labelledby="drift">
    <h2 id="drift">${checked + unseen === 0 ? 'There was nothing to check' : `${counted(checked, 'check')} just ran${changed === 0 ? ': all hold as before' : ''}`}</h2>
    <ul>
      ${broken.map(({ entryId, statement, why }) => markup`<li>${badge('no longer holds', 'bad')} <a href="#${anchor('entry', entryId)}">${statement}</a> <span class="soft">${why}</span></li>`)}
      ${fell.map((fall) => markup`<li>${badge('holds for fewer rows', 'warn')} <a href="#${anchor('entry', fall.entryId)}">${fall.statement}</a> <span class="soft">${fallText(fall)}</span></li>`)}
      ${heldAgain.map(({ entryId, statement }) => markup`<li>${badge('holds again', 'good')} <a href="#${anchor('entry', entryId)}">${statement}</a></li>`)}
      ${unseen > 0 && markup`<li>${counted(unseen, 'check')} could not run: the table or column is gone, or time was up.</li>`}
    </ul>
  </section>`;
}

function questionsPart(questions: readonly OpenQuestion[], to: (entry: string) => string): Html | null {
  if (questions.length === 0) return null;
  return markup`<h2 id="questions">Only a person knows</h2>
    ${questions.map(({ questionId, text }) => {
      const id = anchor('answer', questionId);
      const answer = lineOf(id, 'text', 'Answer', { says: 'Answer' });
      return details(text, form(to('answer'), markup`${hidden('question', questionId)}${answer}`));
    })}`;
}

const TONES: Readonly<Record<Held['status'], string>> = {
  active: 'proved',
  broken: 'failed',
  suspended: 'assumed',
  superseded: 'immaterial',
  rejected: 'failed',
};

function entryCard(held: HeldEntry, page: LayerPage, to: (entry: string) => string): Html {
  const { entry, statement, status, counts } = held;
  const { matching, examined } = figuresNow(held);
  const fallen = status === 'active' && hasFallen(held);
  return markup`<article class="card entry ${fallen ? 'assumed' : TONES[status]}" id="${anchor('entry', entry.entryId)}">
    ${statusLine(held)} ${fallen && badge('holds for fewer rows than is kept', 'warn')}
    <h3>${statement}</h3>
    <p class="soft">${figuresOf(held, entry.rows)}${entry.scope !== null && ` (${entry.scope})`}, counted ${ago(held.countedAt)}</p>
    ${bars('Rows that agree with each reading', [
      { reading: 'As kept', verdict: null, matching, examined },
      ...entry.rivals.map(({ reading, refuted, ...own }, at) => ({
        reading: `Rival: “${reading}”`,
        verdict: refuted
          ? ({ says: 'refuted', tone: 'bad' } as const)
          : ({ says: 'gave the same answer', tone: 'calm' } as const),
        ...{ matching: own.matching, examined: own.examined },
        ...counts?.rivals[at],
      })),
    ])}
    ${fittingTexts(entry).map((text) => markup`<p class="soft">${text}</p>`)}
    ${details('Check, and where it comes from', evidencePart(held, page))} ${decisions(held, to)}
  </article>`;
}

function statusLine({ status, why, confirmedBy, contradictedBy }: Held): Html {
  const { says, tone } = STATUS[status];
  return markup`<p class="soft">${badge(says, tone)} ${confirmedBy !== null && badge(`confirmed by ${confirmedBy}`, 'good')} ${why} ${contradictedBy !== undefined && markup`<a href="#${anchor('entry', contradictedBy)}">the other one</a>`}</p>`;
}

function evidencePart(held: HeldEntry, { layer, history }: LayerPage): Html {
  const { entryId, check, restsOn, from, provedAt, operator } = held.entry;
  const named = (id: string): Html =>
    markup`<li><a href="#${anchor('entry', id)}">${layer.entries.find(({ entry }) => entry.entryId === id)?.statement ?? id}</a></li>`;
  const resting = layer.entries
    .filter(({ entry }) => entry.restsOn.includes(entryId))
    .map(({ entry }) => entry.entryId);
  const events = history(held).filter(({ kind }) => kind !== 'proved' && kind !== 'said');
  return markup`${sqlHtml(check, new Set())}
    <p>Proved ${ago(provedAt)} by ${/^q-/.test(from.searchId) ? markup`<a href="${path`/q/${from.searchId}`}">${from.question ?? 'a lesson'}</a>` : from.searchId}.</p>
    ${operator !== null && details(`SQL that rested on it: ${operator.intent}`, sqlHtml(operator.sql, new Set()))}
    ${restsOn.length > 0 && markup`<h4>It rests on</h4><ul>${restsOn.map(named)}</ul>`}
    ${resting.length > 0 && markup`<h4>What rests on it</h4><ul>${resting.map(named)}</ul>`}
    ${events.length > 0 && markup`<h4>What happened to it</h4><ul class="plain">${events.map((event) => markup`<li class="soft">${ago(event.at)} ${eventText(event)}</li>`)}</ul>`}`;
}

function eventText(event: LayerEvent): string {
  switch (event.kind) {
    case 'broken':
      return `no longer holds: ${event.why}`;
    case 'counted':
      return `counted: ${event.counts.matching ?? '?'} of ${event.counts.examined ?? '?'}`;
    case 'confirmed':
    case 'rejected':
    case 'edited':
      return `${event.kind} by ${event.author}${event.note === null ? '' : `: ${event.note}`}`;
    case 'contradicted':
      return `contradicted: ${event.why}`;
    default:
      return event.kind;
  }
}

function ruleCard(held: HeldRule, { history }: LayerPage, to: (entry: string) => string): Html {
  const { entry, statement } = held;
  const about = [...new Set([...entry.tables, ...entry.columns])].join(', ');
  const events = history(held).filter(({ kind }) => kind !== 'said');
  return markup`<article class="card entry" id="${anchor('entry', entry.entryId)}">
    ${statusLine(held)}
    <h3>${statement}</h3>
    <p class="soft">Said by ${entry.author} ${ago(entry.saidAt)}; not counted. ${about === '' ? 'It names no table or column.' : `About ${about}.`}</p>
    ${events.length > 0 && details('What happened to it', markup`<ul class="plain">${events.map((event) => markup`<li class="soft">${ago(event.at)} ${eventText(event)}</li>`)}</ul>`)}
    ${decisions(held, to)}
  </article>`;
}

/** Confirm, reject, edit: what a person may decide. */
function decisions(held: Held, to: (entry: string) => string): Html {
  const { entryId } = held.entry;
  const id = (name: string): string => anchor(name, entryId);
  const why = { says: 'Reject', style: 'button danger', isRequired: false };
  const isConfirmable = held.confirmedBy === null || held.status !== 'active' || (isCounted(held) && hasFallen(held));
  return markup`<div class="acts">
    ${isConfirmable && button(to('confirm'), 'It is right', 'button', hidden('entry', entryId))}
    ${held.status !== 'rejected' && details('It is wrong', form(to('reject'), markup`${hidden('entry', entryId)}${lineOf(id('reject'), 'note', 'Why (may be left out)', why)}`))}
    ${details('Word it anew', form(to('edit'), markup`${hidden('entry', entryId)}<label for="${id('edit')}">One sentence that says no more than is counted</label><textarea id="${id('edit')}" name="statement" rows="2" maxlength="2000" required>${held.statement}</textarea><p><button class="button">Keep these words</button></p>`))}
  </div>`;
}
