/**
 * One question by several methods, as one self-contained page: nothing is loaded, no script runs, and its policy allows its own style sheet alone.
 * Every value is escaped (`html.ts`), so that a hostile one stays text.
 */
import type { ComparedQuestion, MethodAnswer, RowDifference } from './compared-question';
import { standingText } from '../src/report/comparison-figures';
import { markup, type Html } from '../src/report/html';
import { badge, details, head, rowsTable, table } from '../src/report/parts';
import { counted, dollars, duration } from '../src/report/printable';
import { page } from '../src/report/render';
import { STATUS_WORDS } from '../src/report/words';

/** Figures stay on one line. */
const number = (value: string | number): Html =>
  markup`<td class="num">${String(value).replaceAll(' ', NO_BREAK)}</td>`;
const NO_BREAK = '\u00a0';

const ROWS = 100;
const DIFFERENT_ROWS = 20;

export function questionPage({ question, database, answers, differences }: ComparedQuestion): string {
  return comparisonPage(
    question,
    markup`<ul class="meta">
      <li>Database ${database}</li>
      <li>${counted(answers.length, 'method')}</li>
    </ul>`,
    markup`${overview(answers)} ${differences.map((one) => rowDifference(one, answers))} ${answers.map(answerCard)}`,
  );
}

function overview(answers: readonly MethodAnswer[]): Html {
  const heads = ['Method', 'Rows', 'Status', 'Proved', 'Calls', 'Tokens', 'Cost', 'Time'];
  return table(
    'Answers side by side',
    heads.map(head),
    answers.map(({ method, result, status, standing, proved, usage, wallMs }) => {
      const used =
        usage === null
          ? ['', '', '']
          : [
              usage.llmCalls,
              (usage.promptTokens + usage.completionTokens).toLocaleString('en-US'),
              dollars(usage.costUsd),
            ];
      return markup`<tr><td>${method}</td><td>${result ?? ''}</td><td>${statusBadge(status)}</td>${[standingText(standing, proved), ...used, wallMs === null ? '' : duration(wallMs)].map(number)}</tr>`;
    }),
  );
}

function statusBadge(status: MethodAnswer['status']): Html {
  if (status === 'infrastructure-failure') return badge('Infrastructure failure', 'bad');
  const { says, tone } = STATUS_WORDS[status];
  return badge(says, tone);
}

function rowDifference({ result, other, why, only, onlyOther }: RowDifference, answers: readonly MethodAnswer[]): Html {
  const columnsOf = (letter: string): string[] =>
    answers.find((answer) => answer.result === letter)?.columns.map(({ name }) => name) ?? [];
  const rows = (letter: string, some: RowDifference['only']): Html | null =>
    some.length === 0
      ? null
      : rowsTable(
          `Only in ${letter}`,
          { columns: columnsOf(letter), rows: some, rowCount: some.length },
          DIFFERENT_ROWS,
        );
  return markup`<h2>Rows ${other} are not rows ${result}</h2>
    <p>In what they differ: ${why}.</p>
    ${rows(result, only)} ${rows(other, onlyOther)}`;
}

function answerCard({
  method,
  result,
  status,
  answer,
  reason,
  sql,
  columns,
  rows,
  truncated,
  provedText,
  searchId,
}: MethodAnswer): Html {
  return markup`<article class="card">
    <h3>${method} ${statusBadge(status)} ${result !== null && badge(`rows ${result}`, 'calm')}</h3>
    ${[answer, reason].map((text) => text !== null && markup`<p class="more">${text}</p>`)}
    ${provedText !== null && markup`<p class="soft">${provedText}</p>`} ${sql !== null && markup`<pre><code>${sql}</code></pre>`}
    ${
      columns.length > 0 &&
      rowsTable(
        'Rows',
        {
          columns: columns.map(({ name }) => name),
          rows,
          rowCount: rows.length,
          truncated,
          numeric: columns.map(({ kind }) => kind === 'number'),
        },
        ROWS,
      )
    }
    <p class="soft small"><code>gate report ${searchId}</code> shows the evidence.</p>
  </article>`;
}

function comparisonPage(title: string, meta: Html, body: Html): string {
  return page(
    `${title.slice(0, 120)} · GATE`,
    markup`<header>
        <p class="status"><span class="soft">GATE comparison</span></p>
        <h1>${title}</h1>
        ${meta}
      </header>
      <main id="main">${body}</main>
      <footer><p>Made by <code>gate-bench compare</code>.</p></footer>`,
    null,
  );
}
