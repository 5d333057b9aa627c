/**
 * A trace as one self-contained HTML file: it loads nothing, runs no script, and its policy forbids both, so that a
 * hostile value in a database stays text even if an escape were missed.
 */
import { createHash } from 'node:crypto';
import { markup, Html } from './html';
import { statusBadge } from './parts';
import { schemaSection } from './schema-section';
import { searchSection } from './search-section';
import {
  answerSection,
  assumptionsSection,
  candidatesSection,
  evidenceSection,
  sqlSection,
  sourcesSection,
  steeringSection,
  usageSection,
} from './sections';
import { STYLE } from './style';
import type { Trace } from './trace';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
/** Whole, because the policy's hash covers every character between the tags. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;

export function renderReport(trace: Trace): string {
  const { record, input, state } = trace;
  const question = record?.question ?? input?.question.text ?? trace.searchId;
  const usage = record?.usage ?? state?.usage ?? null;
  const wallMs = record === null ? null : Date.parse(record.endedAt) - Date.parse(record.startedAt);
  const sections: readonly (readonly [string, string, Html | null])[] = [
    ['answer', 'Answer', record === null ? running(trace) : answerSection(record)],
    ['sql', 'SQL', record && sqlSection(record)],
    ['evidence', 'Evidence', record && evidenceSection(record)],
    ['open', 'Open assumptions', record && assumptionsSection(record)],
    ['candidates', 'Candidates', record && candidatesSection(record)],
    ['sources', 'Sources', record && sourcesSection(record)],
    ['steering', 'Steering', record && steeringSection(record)],
    ['search', 'Search', searchSection(trace)],
    ['schema', 'Schema', schemaSection(trace)],
    ['usage', 'Usage', usage && usageSection(usage, wallMs)],
  ];
  const present = sections.filter(([, , section]) => section !== null);
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${question.slice(0, 120)} · GATE</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the answer</a>
        <header>
          ${statusBadge(record?.status ?? 'running')}
          <h1>${question}</h1>
          <ul class="meta">
            ${facts(trace).map((fact) => markup`<li>${fact}</li>`)}
          </ul>
          ${input?.question.context && markup`<p class="soft">Context: ${input.question.context}</p>`}
          <nav aria-label="Sections">
            <ul>
              ${present.map(([id, title]) => markup`<li><a href="#${id}">${title}</a></li>`)}
            </ul>
          </nav>
        </header>
        <main id="main">${present.map(([, , section]) => section)}</main>
        <footer>
          <p>
            Search ${trace.searchId}. Iterations, attempts, candidate limits and frontier are GATE's own choices; the
            paper does not give them.
          </p>
        </footer>
      </body>
    </html> `.text;
}

function facts({ record, input }: Trace): string[] {
  const settings = input?.settings;
  const models = [...new Set(Object.values(record?.models ?? settings?.models ?? {}))];
  return [
    `database ${record?.database ?? input?.question.database ?? 'unknown'}`,
    `method ${record?.method ?? settings?.method ?? 'unknown'}`,
    `preset ${record?.preset ?? settings?.preset ?? 'unknown'}`,
    ...(models.length > 0 ? [`model ${models.join(', ')}`] : []),
    ...(record ? [`ended by ${record.endedBy}`, `${record.endedAt.slice(0, 19).replace('T', ' ')} UTC`] : []),
  ];
}

function running(trace: Trace): Html {
  const iteration = trace.state?.iteration ?? 1;
  return markup`<section aria-labelledby="answer">
    <h2 id="answer">Answer</h2>
    <div class="answer other">
      Not finished: iteration ${iteration} is next or under way. This is what the last checkpoint holds.
    </div>
  </section>`;
}
