/**
 * A comparison as one self-contained page: nothing is loaded, no script runs, and its policy allows its own style sheet alone.
 * Every value is escaped (`html.ts`), so that a hostile one stays text.
 */
import {
  outcomeOf,
  type ComparedAnswer,
  type ComparedMethod,
  type ComparedQuestion,
  type Comparison,
  type MethodAnswer,
  type Outcome,
  type RowDifference,
} from '../benchmarks';
import { groupBy } from '../group-by';
import { accuracyText, differenceText, JUDGED, judgedTable, shareText, standingText } from './comparison-figures';
import { accuracyPlot, differencePlot } from './comparison-plots';
import { markup, type Html } from './html';
import { badge, details, head, rowsTable, table } from './parts';
import { counted, dollars, duration } from './printable';
import { page } from './render';
import { STATUS_WORDS } from './words';

export function tablePage(comparison: Comparison): string {
  const { file, methods, questions, seeds, replayed, resamples, judge } = comparison;
  const name = file.split(/[/\\]/).at(-1) ?? file;
  const models = [...new Set(methods.flatMap((one) => Object.values(one.models)))];
  const [first] = methods;
  return comparisonPage(
    `${counted(methods.length, 'method')} on ${name}`,
    markup`<ul class="meta">
      <li>${counted(questions, 'question')}</li>
      <li>${counted(seeds, 'seed')}</li>
      <li>Model ${models.join(', ')}</li>
      ${replayed && markup`<li>Replayed: times are those of the replay</li>`}
    </ul>`,
    markup`${judge && judgeTable(judge, methods)}
      <h2>${judge ? 'By execution match' : 'Outcomes'}</h2>
      ${outcomesTable(methods)}
      <p class="soft small">
        Failed (infrastructure) and apart (no gold, cancelled, not decided) are in no accuracy. In brackets: 95 % intervals of
        ${resamples.toLocaleString('en-US')} bootstrap samples, by question.
        ${methods.length > 1 && markup`Differences are to ${first?.method ?? ''}, paired by question, in percentage points.`}
      </p>
      ${methods.map(failureLines)} ${accuracyPlot(methods)} ${differencePlot(methods)}
      <h2>Mean of a question</h2>
      ${meansTable(methods)}
      <h2>Question by question</h2>
      ${details('Every question with its outcome by each method', questionsTable(comparison))}`,
  );
}

function outcomesTable(methods: readonly ComparedMethod[]): Html {
  const open = methods.some(({ missing }) => missing > 0);
  const heads = [
    'Method',
    'Right',
    'Wrong',
    'Declined',
    'Failed',
    'Apart',
    ...(open ? ['Open'] : []),
    'Accuracy',
    'Difference',
  ];
  return table(
    'Outcomes of each method',
    heads.map(head),
    methods.map(
      (one) =>
        markup`<tr><td>${one.method}</td>${[one.right, one.wrong, one.declined, one.failed, one.notScored, ...(open ? [one.missing] : [])].map(number)}${[accuracyText(one.perQuestion.accuracy), differenceText(one.difference?.accuracy ?? null)].map(number)}</tr>`,
    ),
  );
}

function judgeTable(
  { mode, model, version }: NonNullable<Comparison['judge']>,
  methods: readonly ComparedMethod[],
): Html {
  const { heads, rows } = judgedTable(methods, [...JUDGED.counts, ...JUDGED.scores, ...JUDGED.agreement]);
  return markup`<h2>By the judge</h2>
    <p class="soft small">The ${mode} judge, version ${version}, ${model}.</p>
    ${table(
      'What the judge found of each method',
      heads.map(head),
      rows.map(([method, ...cells]) => markup`<tr><td>${method}</td>${cells.map(number)}</tr>`),
    )}`;
}

function failureLines({ method, failures }: ComparedMethod): Html[] {
  return Object.entries(failures).map(
    ([reason, count]) =>
      markup`<p class="small">${badge('failed', 'bad')} ${method}, ${counted(count, 'time')}: ${reason}</p>`,
  );
}

function meansTable(methods: readonly ComparedMethod[]): Html {
  const cached = methods.some(({ cachedTokens }) => cachedTokens !== null);
  const heads = [
    'Method',
    'Calls',
    'Difference',
    'Tokens in',
    ...(cached ? ['of them cached'] : []),
    'Tokens out',
    'Cost',
    'Time',
    'Proved',
    'Fully proved',
  ];
  const whole = (value: number | null | undefined): string =>
    value === null || value === undefined ? '' : Math.round(value).toLocaleString('en-US');
  return table(
    'Means of each method',
    heads.map(head),
    methods.map(({ method, perQuestion, difference, cachedTokens, proved, fullyProved, answered }) => {
      const { calls, promptTokens, completionTokens, costUsd, wallMs } = perQuestion;
      const cells = [
        ...[calls?.value.toFixed(1) ?? '', differenceText(difference?.calls ?? null, 1), whole(promptTokens?.value)],
        ...(cached ? [whole(cachedTokens)] : []),
        ...[whole(completionTokens?.value), costUsd === null ? '' : dollars(costUsd.value)],
        ...[wallMs === null ? '' : duration(wallMs.value), shareText(proved)],
        answered === 0 ? '' : `${fullyProved} of ${answered}`,
      ];
      return markup`<tr><td>${method}</td>${cells.map(number)}</tr>`;
    }),
  );
}

/** Figures stay on one line. */
const number = (value: string | number): Html =>
  markup`<td class="num">${String(value).replaceAll(' ', NO_BREAK)}</td>`;
const NO_BREAK = '\u00a0';

const MARKS: Readonly<Record<Outcome, string>> = {
  right: '✓ right',
  wrong: '✗ wrong',
  declined: '– declined',
  failed: '! failed',
  'not-scored': 'apart',
};

function questionsTable({ methods, answers }: Comparison): Html {
  const rows = [...groupBy(answers, ({ id }) => id)].map(
    ([id, some]) =>
      markup`<tr><td>${id}</td>${methods.map(({ method }) => markup`<td>${outcomeText(some.filter((one) => one.method === method))}</td>`)}</tr>`,
  );
  return table('Every question', ['Question', ...methods.map(({ method }) => method)].map(head), rows);
}

function outcomeText(answers: readonly ComparedAnswer[]): string {
  const counts = [...groupBy(answers, (answer) => MARKS[outcomeOf(answer)])];
  return counts.map(([mark, some]) => (answers.length === 1 ? mark : `${some.length} ${mark}`)).join(', ');
}

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
      <footer><p>Made by <code>gate compare</code>.</p></footer>`,
    null,
  );
}
