/**
 * A trace as one self-contained HTML file: the answer and how far to trust it, the result, the evidence, the machinery. It
 * loads nothing and works without scripts; its policy allows its own style sheet and copy buttons by their hashes and
 * nothing else, so that a hostile value in a database stays text even if an escape were missed.
 */
import { createHash } from 'node:crypto';
import { claimsBody, claimsTitle } from './claims-section';
import { evidenceBody, evidenceTitle } from './evidence-section';
import { head } from './head';
import { markup, Html } from './html';
import { machinery } from './machinery';
import { replyBody, sourcesBody, steeringBody } from './outside-sections';
import { resultBody } from './result-section';
import { SCRIPT, STYLE } from './style';
import { sqlBody, type Rerun } from './sql-section';
import type { Trace } from './trace';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policyOf = (scripts: string): string =>
  `default-src 'none'; style-src ${hashOf(STYLE)};${scripts} base-uri 'none'; form-action 'none'`;
/** Whole, because the policy's hash covers every character between the tags. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

export function renderReport(trace: Trace, rerun: Rerun = { database: null }): string {
  const { record, input } = trace;
  const question = record?.question ?? input?.question.text ?? trace.searchId;
  const sections: readonly (readonly [id: string, title: string, body: Html | null])[] = [
    ['result', 'Result', record && resultBody(record)],
    ['claims', claimsTitle(record ?? {}), record && claimsBody(record, rerun)],
    ['sql', 'SQL', record && sqlBody(record, rerun)],
    ['evidence', evidenceTitle(record ?? {}), record && evidenceBody(record, rerun)],
    ['steering', 'What people told the search', record && steeringBody(record)],
    ['sources', 'Sources', record && sourcesBody(record)],
    ['reply', 'Last reply of the model', replyBody(trace)],
    ['machinery', 'How it was found', machinery(trace, rerun)],
  ];
  const present = sections.filter(([, , body]) => body !== null);
  return page(
    `${question.slice(0, 120)} · GATE`,
    markup`<a class="skip" href="#main">Skip to the result</a>
        ${head(trace)}
        <nav aria-label="Sections">
          <ul>
            ${present.map(([id, title]) => markup`<li><a href="#${id}">${title}</a></li>`)}
          </ul>
        </nav>
        <main id="main">${present.map(section)}</main>
        <footer>
          <p>Search <code>${trace.searchId}</code>. <code>gate result ${trace.searchId}</code> prints the answer in a terminal.</p>
        </footer>`,
  );
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

function section([id, title, body]: readonly [string, string, Html | null]): Html {
  return markup`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${body}
  </section>`;
}
