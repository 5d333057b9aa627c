/**
 * One question by several methods: their answers side by side, and which of them give the same rows. Results are equal as in
 * execution match: in any order of rows and columns, numbers by rule S5. Its page is self-contained, and every value is escaped.
 */
import { z } from 'zod';
import {
  AnswerStatus,
  MethodName,
  PresetName,
  ResultColumn,
  type SqlResult,
  SqlValue,
  Standing,
  Usage,
} from '../src/domain';
import { canonical } from '../src/domain/canonical';
import { executionMatch } from '../src/questions/execution-match';
import { standingText } from '../src/report/comparison-figures';
import { type Html, markup, badge, head, rowsTable, table } from '../src/report/html';
import { counted, dollars, duration } from '../src/report/printable';
import { page } from '../src/report/render';
import { STATUS_WORDS } from '../src/report/words';

export const MethodAnswer = z.object({
  method: z.string().describe('as --methods named it'),
  name: MethodName,
  preset: PresetName.nullable(),
  models: z.record(z.string(), z.string()),
  searchId: z.string().describe('what gate result, report and trace take'),
  status: z.enum([...AnswerStatus.options, 'infrastructure-failure']),
  answer: z.string().nullable(),
  reason: z.string().nullable().describe('why there is no answer'),
  sql: z.string().nullable(),
  columns: z.array(ResultColumn),
  rows: z.array(z.array(SqlValue)),
  truncated: z.boolean(),
  proved: z.number().nullable().describe('share of what the answer assumes that is proved; null: it gave no answer'),
  standing: Standing.nullable().describe('how far the answer stands proved; null: it gave no answer'),
  provedText: z.string().nullable().describe('how far it is proved, in words'),
  usage: Usage.nullable(),
  wallMs: z.number().nullable(),
  result: z.string().nullable().describe('a letter: answers with the same letter have the same rows; null: no rows'),
});
export type MethodAnswer = Readonly<z.infer<typeof MethodAnswer>>;

export const RowDifference = z.object({
  result: z.string(),
  other: z.string(),
  why: z.string().describe('in what the two results differ'),
  only: z.array(z.array(SqlValue)).describe('rows of `result` that `other` lacks, where both have as many columns'),
  onlyOther: z.array(z.array(SqlValue)),
});
export type RowDifference = Readonly<z.infer<typeof RowDifference>>;

/** Its JSON schema is `docs/schemas/compared-question.schema.json`. */
export const ComparedQuestion = z.object({
  schemaVersion: z.literal(1),
  question: z.string(),
  database: z.string(),
  answers: z.array(MethodAnswer),
  differences: z.array(RowDifference).describe('of every result to that of the first method that has one'),
});
export type ComparedQuestion = Readonly<z.infer<typeof ComparedQuestion>>;

type Unlettered = Omit<MethodAnswer, 'result'>;

export function compareAnswers(given: readonly Unlettered[]): {
  readonly answers: MethodAnswer[];
  /** Differences of every result to that of the first method that has one. */
  readonly differences: RowDifference[];
} {
  const results: { readonly letter: string; readonly answer: Unlettered }[] = [];
  const answers = given.map((answer): MethodAnswer => {
    if (answer.columns.length === 0) return { ...answer, result: null };
    const known = results.find((one) => match(answer, one.answer) === 'equal results');
    if (known !== undefined) return { ...answer, result: known.letter };
    const letter = letterOf(results.length);
    results.push({ letter, answer });
    return { ...answer, result: letter };
  });
  const [first, ...others] = results;
  const differences = others.map(({ letter, answer }): RowDifference => ({
    ...{ result: first?.letter ?? '', other: letter, why: first === undefined ? '' : match(answer, first.answer) },
    ...(first === undefined || first.answer.columns.length !== answer.columns.length
      ? { only: [], onlyOther: [] }
      : { only: rowsWithout(first.answer, answer), onlyOther: rowsWithout(answer, first.answer) }),
  }));
  return { answers, differences };
}

/** Letters as in a table of columns: A to Z, then A2 … */
export function letterOf(at: number): string {
  return `${String.fromCharCode(65 + (at % 26))}${at < 26 ? '' : String(1 + Math.floor(at / 26))}`;
}

/** The comparison of a result with another one: equal, or why it is not. */
function match(one: Unlettered, other: Unlettered): string {
  const found = executionMatch(resultOf(one), [resultOf(other)]);
  switch (found.kind) {
    case 'match':
      return 'equal results';
    case 'undecided':
      return 'more rows than were fetched: not decided';
    default:
      return found.reason.replace(/ than the gold \(.*\)$/, '');
  }
}

function resultOf({ columns, rows, truncated }: Unlettered): SqlResult {
  return { kind: 'rows', columns, rows, truncated, elapsedMs: 0 };
}

/** Rows are compared as multisets: a row that stands twice here and once there is left once. */
function rowsWithout({ rows }: Unlettered, other: Unlettered): MethodAnswer['rows'] {
  const left = new Map<string, number>();
  for (const row of other.rows) left.set(canonical(row), (left.get(canonical(row)) ?? 0) + 1);
  return rows.filter((row) => {
    const count = left.get(canonical(row)) ?? 0;
    left.set(canonical(row), count - 1);
    return count <= 0;
  });
}

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
