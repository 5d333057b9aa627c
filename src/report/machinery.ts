/** How the answer was found, for those who want to look into the search: closed until it is opened. */
import type { AnswerRecord, Usage } from '../domain';
import { anchor, markup, type Html, badge, details, head, resultOf, table } from './html';
import { billText, counted, dollars, duration, visible } from './printable';
import { searchOutline, type Entry } from './search-outline';
import { sqlHtml, statement, type Rerun } from './sql-section';
import type { Trace } from './trace';
import { endedBecause, procedureText } from './words';

export function machinery(trace: Trace, rerun: Rerun): Html {
  const { record, state } = trace;
  const usage = record?.usage ?? state?.usage ?? null;
  const wallMs = record === null ? null : Date.parse(record.endedAt) - Date.parse(record.startedAt);
  return markup`<p>${procedureText(trace)} ${record && `The search ended because ${endedBecause(record.endedBy)}.`}</p>
    ${details('The search in full', markup`${record && candidatesPart(record)} ${searchPart(trace, rerun)} ${schemaPart(trace)}`)}
    ${record?.children && childrenPart(record.children)}
    ${usage && details('What it used', usageList(usage, wallMs))}`;
}

export function searchPart(trace: Trace, rerun: Rerun): Html[] {
  return searchOutline(trace).map(
    ({ id, title, about, entries }) =>
      markup`<h3 id="${id}">${title}</h3>
        ${about !== null && markup`<p class="soft">${about} Open a line for more.</p>`}
        ${entryList(id, entries, rerun)}`,
  );
}

/** `key`: unique on the page. */
function entryList(key: string, entries: readonly Entry[], rerun: Rerun): Html {
  return markup`<ul class="tree">
    ${entries.map((entry, at) => entryItem(`${key}-${at + 1}`, entry, rerun))}
  </ul>`;
}

function entryItem(key: string, entry: Entry, rerun: Rerun): Html {
  const { sql, quoted, below = [], branches = [] } = entry;
  const isLeaf = sql === undefined && quoted === undefined && below.length === 0;
  return markup`<li>
    ${isLeaf ? entryLine(entry) : details(entryLine(entry), markup`<div class="card">${entryBody(key, entry, rerun)}</div>`)}
    ${branches.length > 0 && entryList(key, branches, rerun)}
  </li>`;
}

function entryLine({ text, marks = [] }: Entry): Html {
  return markup`${text} ${marks.map(({ says, tone }) => badge(says, tone))}`;
}

const SHOWN_ROWS = 10;
const SHOWN_CHARS = 2_000;

function entryBody(key: string, { sql, result, quoted, below = [] }: Entry, rerun: Rerun): Html {
  return markup`${sql !== undefined && statement(key, sql, new Set(), rerun)}
    ${result !== undefined && resultOf('Observed', result, SHOWN_ROWS)}
    ${quoted !== undefined && markup`<pre>${visible(quoted.slice(0, SHOWN_CHARS))}</pre>`}
    ${
      below.length > 0 &&
      markup`<ul class="plain">
        ${below.map(
          (entry, at) => markup`<li>${entryLine(entry)} ${entryBody(`${key}-b${at + 1}`, entry, rerun)}</li>`,
        )}
      </ul>`
    }`;
}

function childrenPart(children: NonNullable<AnswerRecord['children']>): Html {
  const rows = children.map(
    (child) =>
      markup`<tr>
        <td><code>${child.id}</code></td>
        <td>${child.question}</td>
        <td>${child.method}</td>
        <td>${child.status}</td>
        <td class="num">${child.llmCalls}</td>
        <td class="num">${dollars(child.costUsd)}</td>
      </tr>`,
  );
  const heads = ['Search', 'Question', 'Method', 'Status', 'Model calls', 'Cost'].map(head);
  return details('The searches that it started', table('The searches that it started', heads, rows));
}

function candidatesPart(record: AnswerRecord): Html | null {
  if (record.candidates.length === 0) return null;
  const rows = record.candidates.map(
    (candidate) =>
      markup`<tr id="${anchor('candidate', candidate.id)}">
        <td><code>${candidate.id}</code></td>
        <td>${candidate.preview || candidate.outcome}</td>
        <td class="num">${candidate.rowCount}</td>
        <td>
          ${candidate.agreesWith.length > 0 ? candidate.agreesWith.join(', ') : markup`<span class="soft">none</span>`}
        </td>
        <td>
          ${candidate.chosen && badge('chosen', 'good')}
          ${candidate.proved ? badge('proved', 'good') : badge('rests on assumptions', 'warn')}
        </td>
      </tr>`,
  );
  return markup`<h3 id="candidates">Candidates</h3>
    ${table('Candidates', ['Candidate', 'Result', 'Rows', 'Same result', 'Standing'].map(head), rows)}
    ${record.candidates.map(
      ({ id, sql, chosen }) => sql !== null && !chosen && details(`SQL of ${id}`, sqlHtml(sql, new Set())),
    )}`;
}

function usageList(usage: Usage, wallMs: number | null): Html {
  const entries: readonly (readonly [string, string | null])[] = [
    ['Model calls', String(usage.llmCalls)],
    ['Possibly billed in addition', usage.possiblyBilledCalls > 0 ? counted(usage.possiblyBilledCalls, 'call') : null],
    ['Prompt tokens', usage.promptTokens.toLocaleString('en-US')],
    ['Prompt tokens from a cache', usage.cachedTokens?.toLocaleString('en-US') ?? null],
    ['Completion tokens', usage.completionTokens.toLocaleString('en-US')],
    ['Cost', usage.costUsd === 0 ? '$0 or no price set' : dollars(usage.costUsd)],
    ['SQL statements', String(usage.sqlExecutions)],
    ['Read from the database', billText(usage)],
    ['Lookups on the web', usage.lookups === undefined ? null : String(usage.lookups)],
    ['Time in SQL', duration(usage.sqlMs)],
    ['Time from start to end', wallMs === null ? null : duration(wallMs)],
  ];
  return markup`<dl class="facts" id="usage">
    ${entries.map(([name, value]) => value !== null && markup`<div><dt>${name}</dt> <dd>${value}</dd></div>`)}
  </dl>`;
}

/**
 * The part of a report on a schema that was too large to show: which tables the model saw in full, and why these.
 *
 * Null where all tables were shown.
 */
function schemaPart({ shownTables }: Trace): Html | null {
  if (shownTables === undefined) return null;
  const { shown, tables } = shownTables;
  return markup`<h3 id="schema">Schema</h3>
    <p>The schema was too large to show to the model as a whole: columns of ${shown.length} of ${counted(tables, 'table')} were shown, ranked by the question's words. The model saw the other tables by name, and the columns of a table once a plan named it.</p>
    ${details(
      `${counted(shown.length, 'table')} shown with columns`,
      markup`<ul>${shown.map((each) => markup`<li><code>${each}</code></li>`)}</ul>`,
    )}`;
}
