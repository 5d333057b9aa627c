/** The evidence: each step of the answer with the reading kept, the test of it, what the data showed and what was rejected. */
import type { AnswerRecord, Evidence } from '../domain';
import { anchor, markup, type Html } from './html';
import { badge, rowsTable, verdictBadge } from './parts';
import { capital } from './printable';
import { statement, type Rerun } from './sql-section';
import { sqlHtml } from './sql-html';
import { STATE_WORDS } from './words';

const OBSERVED_SHOWN = 20;

export function evidenceSection(record: AnswerRecord, rerun: Rerun): Html | null {
  if (record.evidence.length === 0) return null;
  const operators = new Set(record.evidence.map(({ operator }) => operator));
  return markup`<section aria-labelledby="evidence">
    <h2 id="evidence">Evidence</h2>
    <p class="soft">
      One entry for each step of the SQL. A step is proved when a query on the data (a probe) supported one reading of it
      and spoke against the others.
    </p>
    ${record.evidence.map((entry) => evidenceCard(entry, operators, rerun))}
  </section>`;
}

function evidenceCard(entry: Evidence, operators: ReadonlySet<string>, rerun: Rerun): Html {
  const { tone, says, because } = STATE_WORDS[entry.state];
  return markup`<article class="card ${entry.state}" id="${anchor('operator', entry.operator)}">
    <h3>${capital(entry.intent)}</h3>
    <p class="soft">${badge(says, tone)} ${because} · <code>${entry.operator}</code> in the SQL</p>
    <h4>${entry.state === 'proved' ? 'Reading kept' : 'Reading taken'}</h4>
    <p>${entry.reading}</p>
    ${entry.summary && entry.summary !== entry.reading && markup`<p class="soft">${entry.summary}</p>`}
    ${
      entry.observed !== null &&
      markup`<h4>What the data showed</h4>
        ${rowsTable('Observed', entry.observed, OBSERVED_SHOWN)}`
    }
    ${
      entry.rejected.length > 0 &&
      markup`<h4>Other readings</h4>
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
      markup`<h4>Cited from outside the database</h4>
        <ul class="plain">
          ${entry.sources.map((url) => markup`<li class="soft"><code>${url}</code></li>`)}
        </ul>`
    }
    ${
      entry.probe !== null &&
      markup`<h4>Probe: the query that tested it</h4>
        ${statement(anchor('probe', entry.operator), entry.probe, operators, rerun)}`
    }
    ${
      entry.sql !== null &&
      markup`<details>
        <summary>SQL of this step</summary>
        ${sqlHtml(entry.sql, operators)}
      </details>`
    }
    ${entry.reusedFrom !== null && markup`<p class="soft">Proved earlier, in <code>${entry.reusedFrom}</code>, and used again.</p>`}
  </article>`;
}
