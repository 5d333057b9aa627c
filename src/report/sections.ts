/** The sections of a report that come from the final record: answer, SQL, evidence, open assumptions, candidates, usage. */
import type { AnswerRecord, Evidence, Usage } from '../domain';
import { anchor, markup, type Html } from './html';
import { badge, link, rowsTable, verdictBadge, type Tone } from './parts';
import { counted, dollars, duration } from './printable';
import { sqlHtml } from './sql-html';

const ROWS_SHOWN = 200;
const OBSERVED_SHOWN = 20;

export function answerSection(record: AnswerRecord): Html {
  const tone = record.status === 'answered' ? '' : record.status === 'failed' ? 'failed' : 'other';
  const text = record.answer ?? record.reason ?? `The search ended as ${record.status}.`;
  return markup`<section aria-labelledby="answer">
    <h2 id="answer">Answer</h2>
    <div class="answer ${tone}">${text}</div>
    ${record.answer !== null && record.reason !== null && markup`<p class="soft">${record.reason}</p>`}
    ${
      record.columns.length > 0 &&
      rowsTable(
        'Result',
        {
          columns: record.columns.map(({ name }) => name),
          rows: record.rows,
          rowCount: record.rows.length,
          truncated: record.truncated,
        },
        ROWS_SHOWN,
      )
    }
  </section>`;
}

export function sqlSection(record: AnswerRecord): Html | null {
  if (record.sql === null) return null;
  const operators = new Set(record.evidence.map(({ operator }) => operator));
  return markup`<section aria-labelledby="sql">
    <h2 id="sql">SQL</h2>
    ${operators.size > 0 && markup`<p class="soft">Each operator name leads to the evidence for it.</p>`}
    ${sqlHtml(record.sql, operators)}
  </section>`;
}

const STATES: Readonly<Record<Evidence['state'], { tone: Tone; says: string }>> = {
  proved: { tone: 'good', says: 'a probe supported this reading and spoke against every rival' },
  assumed: { tone: 'warn', says: 'written down, not proved' },
  immaterial: { tone: 'calm', says: 'every reading gives the same answer' },
};

export function evidenceSection(record: AnswerRecord): Html | null {
  if (record.evidence.length === 0) return null;
  const operators = new Set(record.evidence.map(({ operator }) => operator));
  return markup`<section aria-labelledby="evidence">
    <h2 id="evidence">Evidence</h2>
    ${record.evidence.map((entry) => evidenceCard(entry, operators))}
  </section>`;
}

function evidenceCard(entry: Evidence, operators: ReadonlySet<string>): Html {
  const { tone, says } = STATES[entry.state];
  return markup`<article class="card" id="${anchor('operator', entry.operator)}">
    <h3><code>${entry.operator}</code></h3>
    ${badge(entry.state, tone)} <span class="soft">${says}</span>
    <p>${entry.intent}</p>
    <h4>Reading kept</h4>
    <p>${entry.reading}</p>
    ${entry.summary && entry.summary !== entry.reading && markup`<p class="soft">${entry.summary}</p>`}
    ${
      entry.sql !== null &&
      markup`<details>
        <summary>SQL of this operator</summary>
        ${sqlHtml(entry.sql, operators)}
      </details>`
    }
    ${
      entry.probe !== null &&
      markup`<h4>Probe</h4>
        ${sqlHtml(entry.probe, operators)}`
    }
    ${
      entry.observed !== null &&
      markup`<h4>What the data showed</h4>
        ${rowsTable('Observed', entry.observed, OBSERVED_SHOWN)}`
    }
    ${
      entry.rejected.length > 0 &&
      markup`<h4>Rejected readings</h4>
        <ul class="plain">
          ${entry.rejected.map(
            ({ reading, verdict, reason }) =>
              markup`<li class="reading ${verdict}">
                <div>${reading} ${verdictBadge(verdict)}</div>
                <div class="soft">${reason}</div>
              </li>`,
          )}
        </ul>`
    }
    ${
      entry.sources !== undefined &&
      markup`<h4>Cited from outside</h4>
        <ul class="plain">
          ${entry.sources.map((url) => markup`<li class="soft"><code>${url}</code></li>`)}
        </ul>`
    }
    ${entry.reusedFrom !== null && markup`<p class="soft">Reused from ${entry.reusedFrom}</p>`}
  </article>`;
}

export function assumptionsSection(record: AnswerRecord): Html {
  if (record.openAssumptions.length === 0) {
    const text =
      record.status === 'answered' ? 'None: nothing in this answer rests on an untested reading.' : 'None recorded.';
    return markup`<section aria-labelledby="open">
      <h2 id="open">Open assumptions</h2>
      <p>${text}</p>
    </section>`;
  }
  return markup`<section aria-labelledby="open">
    <h2 id="open">Open assumptions</h2>
    <ul class="plain">
      ${record.openAssumptions.map(
        (open) =>
          markup`<li class="reading open">
            <div>
              ${open.statement} ${badge(open.kind === 'open-by-wording' ? 'open by wording' : 'not proved', 'warn')}
              ${open.risk !== null && markup`<span class="soft">risk ${Math.round(open.risk * 100)} %</span>`}
              ${open.operator !== null && markup`<span class="soft">in ${link('operator', open.operator)}</span>`}
            </div>
            ${open.alternative !== null && markup`<div>The other reading, <em>${open.alternative.reading}</em>, would give: ${open.alternative.gives}</div>`}
          </li>`,
      )}
    </ul>
  </section>`;
}

export function candidatesSection(record: AnswerRecord): Html | null {
  if (record.candidates.length === 0) return null;
  return markup`<section aria-labelledby="candidates">
    <h2 id="candidates">Candidates</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Candidates">
      <table>
        <thead>
          <tr>
            <th scope="col">Candidate</th>
            <th scope="col">Result</th>
            <th scope="col">Rows</th>
            <th scope="col">Equal result</th>
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
      )}
  </section>`;
}

export function sourcesSection({ sources = [] }: AnswerRecord): Html | null {
  if (sources.length === 0) return null;
  return markup`<section aria-labelledby="sources">
    <h2 id="sources">Sources</h2>
    <p class="soft">What the search read on the web. Addresses are not links on purpose: nothing vouches for them.</p>
    <ul class="plain">
      ${sources.map(
        ({ url, title, fetchedAt, sha256, lookup }) =>
          markup`<li class="reading">
            <div>${title ?? url} ${lookup !== undefined && markup`<code>[${lookup}]</code>`}</div>
            <div class="soft"><code>${url}</code></div>
            <div class="soft">${fetchedAt.slice(0, 19).replace('T', ' ')} UTC, SHA-256 of the text ${sha256.slice(0, 16)}…</div>
          </li>`,
      )}
    </ul>
  </section>`;
}

export function steeringSection({ steering = [] }: AnswerRecord): Html | null {
  if (steering.length === 0) return null;
  return markup`<section aria-labelledby="steering">
    <h2 id="steering">Steering</h2>
    <p class="soft">What people told the search while it ran. Their word is evidence with an author, never a proof.</p>
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

export function usageSection(usage: Usage, wallMs: number | null): Html {
  const entries: [string, string][] = [
    ['Model calls', String(usage.llmCalls)],
    ...(usage.possiblyBilledCalls > 0
      ? [['Possibly billed besides', counted(usage.possiblyBilledCalls, 'call')] as [string, string]]
      : []),
    ['Prompt tokens', usage.promptTokens.toLocaleString('en-US')],
    ['Completion tokens', usage.completionTokens.toLocaleString('en-US')],
    ['Cost', usage.costUsd === 0 ? '$0 or no price set' : dollars(usage.costUsd)],
    ['SQL statements', String(usage.sqlExecutions)],
    ...(usage.lookups === undefined ? [] : [['Lookups on the web', String(usage.lookups)] as [string, string]]),
    ['Time in SQL', duration(usage.sqlMs)],
    ...(wallMs === null ? [] : [['Wall time', duration(wallMs)] as [string, string]]),
  ];
  return markup`<section aria-labelledby="usage">
    <h2 id="usage">Usage</h2>
    <dl class="facts">
      ${entries.map(
        ([name, value]) =>
          markup`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}
