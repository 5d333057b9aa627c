/** How the answer was found, for those who want to look into the search: closed until it is opened, with its words explained. */
import type { AnswerRecord, Usage } from '../domain';
import { anchor, markup, type Html } from './html';
import { badge } from './parts';
import { counted, dollars, duration } from './printable';
import { schemaPart } from './schema-section';
import { searchPart } from './search-section';
import { sqlHtml } from './sql-html';
import type { Rerun } from './sql-section';
import type { Trace } from './trace';
import { endedBecause, procedureText } from './words';

export function machinery(trace: Trace, rerun: Rerun): Html {
  const { record, state } = trace;
  const usage = record?.usage ?? state?.usage ?? null;
  const wallMs = record === null ? null : Date.parse(record.endedAt) - Date.parse(record.startedAt);
  return markup`<section aria-labelledby="machinery">
    <h2 id="machinery">How it was found</h2>
    <p>${procedureText(trace)} ${record && `The search ended because ${endedBecause(record.endedBy)}.`}</p>
    <details>
      <summary>The search in full</summary>
      ${GLOSSARY} ${record && candidatesPart(record)} ${searchPart(trace, rerun)} ${schemaPart(trace)}
    </details>
    ${
      usage &&
      markup`<details>
        <summary>What it used</summary>
        ${usageList(usage, wallMs)}
      </details>`
    }
  </section>`;
}

const WORDS: readonly (readonly [string, string])[] = [
  ['Step (op_…)', 'a named part of the SQL that answers the question; also called an operator'],
  ['Reading', 'one way to understand what a step, a column or a word of the question means'],
  ['Probe', 'a query whose result tells rival readings apart'],
  ['Candidate', 'a whole derivation of the answer; two are independent when they share no unproved step'],
  ['Branch (t1, t2, …)', 'one state of a plan; the search continues the branch that promises most'],
  ['Iteration', 'one round: pick a branch, test its most doubtful step, build candidates'],
];

const GLOSSARY = markup`<dl class="words">
  ${WORDS.map(
    ([word, meaning]) =>
      markup`<div>
        <dt>${word}</dt>
        <dd>${meaning}</dd>
      </div>`,
  )}
</dl>`;

function candidatesPart(record: AnswerRecord): Html | null {
  if (record.candidates.length === 0) return null;
  return markup`<h3 id="candidates">Candidates</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Candidates">
      <table>
        <thead>
          <tr>
            <th scope="col">Candidate</th>
            <th scope="col">Result</th>
            <th scope="col">Rows</th>
            <th scope="col">Same result</th>
            <th scope="col">Standing</th>
          </tr>
        </thead>
        <tbody>
          ${record.candidates.map(
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
          )}
        </tbody>
      </table>
    </div>
    ${record.candidates
      .filter(({ sql, chosen }) => sql !== null && !chosen)
      .map(
        ({ id, sql }) =>
          markup`<details>
            <summary>SQL of ${id}</summary>
            ${sqlHtml(sql ?? '', new Set())}
          </details>`,
      )}`;
}

function usageList(usage: Usage, wallMs: number | null): Html {
  const entries: [string, string][] = [
    ['Model calls', String(usage.llmCalls)],
    ...(usage.possiblyBilledCalls > 0
      ? [['Possibly billed in addition', counted(usage.possiblyBilledCalls, 'call')] as [string, string]]
      : []),
    ['Prompt tokens', usage.promptTokens.toLocaleString('en-US')],
    ...(usage.cachedTokens === undefined
      ? []
      : [['Prompt tokens from a cache', usage.cachedTokens.toLocaleString('en-US')] as [string, string]]),
    ['Completion tokens', usage.completionTokens.toLocaleString('en-US')],
    ['Cost', usage.costUsd === 0 ? '$0 or no price set' : dollars(usage.costUsd)],
    ['SQL statements', String(usage.sqlExecutions)],
    ...(usage.lookups === undefined ? [] : [['Lookups on the web', String(usage.lookups)] as [string, string]]),
    ['Time in SQL', duration(usage.sqlMs)],
    ...(wallMs === null ? [] : [['Time from start to end', duration(wallMs)] as [string, string]]),
  ];
  return markup`<dl class="facts" id="usage">
    ${entries.map(
      ([name, value]) =>
        markup`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}
