/** A comparison as text, JSON, CSV and a page. */
import { relative, resolve } from 'node:path';
import {
  compareAnswers,
  compareMethods,
  RESAMPLES,
  type ComparedAnswer,
  type ComparedMethod,
  type ComparedQuestion,
  type Comparison,
  type Entrant,
  type Estimate,
  type RowDifference,
} from '../benchmarks';
import type { AnswerRecord } from '../domain';
import { questionPage, tablePage } from '../report/comparison';
import {
  accuracyText,
  differenceText,
  JUDGED,
  judgedTable,
  shareText,
  standingText,
} from '../report/comparison-figures';
import { cell, counted, dollars, duration, wrapped } from '../report/printable';
import { STATUS_WORDS } from '../report/words';
import { reasonTexts } from '../text/answer-text';
import { provedShare, provedText, standingOf } from '../text/standing';
import { replaceFile } from './batch-results';
import type { Io } from './io';
import { csv, textTable } from './table';

interface Told {
  readonly flags: {
    readonly seeds: number;
    readonly json?: boolean;
    readonly csv?: string;
    readonly html?: string;
    readonly replay?: string;
  };
  readonly io: Io;
  readonly entrants: readonly Entrant[];
  readonly answers: readonly ComparedAnswer[];
}

export function fileTold(
  told: Told & Pick<Comparison, 'judge'> & { readonly file: string; readonly questions: number },
): void {
  const { flags, io, entrants, answers, judge, file, questions } = told;
  const comparison: Comparison = {
    ...{ schemaVersion: 1, file, questions, seeds: flags.seeds, replayed: flags.replay !== undefined },
    resamples: RESAMPLES,
    ...(judge && { judge }),
    methods: compareMethods(entrants, answers, () => questions * flags.seeds),
    answers: [...answers],
  };
  io.out(flags.json ? `${JSON.stringify(comparison, null, 2)}\n` : tableText(comparison, io.columns));
  written(flags.csv, io, () => csv(ANSWER_HEAD, answers.map(answerCells)));
  written(flags.html, io, () => tablePage(comparison));
}

export function answersTold(
  told: Told & {
    readonly question: string;
    readonly database: string;
    readonly records: ReadonlyMap<string, AnswerRecord>;
  },
): void {
  const { flags, io, entrants, answers, question, database, records } = told;
  const compared = compareAnswers(
    entrants.flatMap((entrant) => {
      const answer = answers.find(({ method }) => method === entrant.method);
      return answer === undefined ? [] : [methodAnswer(entrant, answer, records.get(answer.searchId) ?? null)];
    }),
  );
  const all: ComparedQuestion = { schemaVersion: 1, question, database, ...compared };
  io.out(flags.json ? `${JSON.stringify(all, null, 2)}\n` : questionText(all, io.columns));
  written(flags.html, io, () => questionPage(all));
}

function written(path: string | undefined, io: Io, text: () => string): void {
  if (path === undefined) return;
  const full = resolve(io.cwd, path);
  replaceFile(full, text());
  io.err(`${relative(io.cwd, full) || full}\n`);
}

function methodAnswer(entrant: Entrant, answer: ComparedAnswer, record: AnswerRecord | null) {
  const { searchId, status, sql, wallMs, reason } = answer;
  const isAnswer = record?.status === 'answered';
  return {
    ...entrant,
    ...{ searchId, status, sql, wallMs, usage: record?.usage ?? null },
    answer: record?.answer ?? null,
    reason: record === null ? reason : reasonTexts(record).join('\n') || null,
    ...{ columns: record?.columns ?? [], rows: record?.rows ?? [], truncated: record?.truncated ?? false },
    proved: record === null ? null : provedShare(record),
    standing: record === null ? null : standingOf(record),
    provedText: isAnswer ? provedText(record) : null,
  };
}

/** Long form: one line an answer, from which every figure of the table can be made again. */
export const ANSWER_HEAD = [
  ...['method', 'seed', 'id', 'database', 'search_id', 'status', 'verdict', 'calls', 'prompt_tokens'],
  ...['cached_tokens', 'completion_tokens', 'cost_usd', 'wall_ms', 'proved', 'reason', 'judged', 'sql'],
];

export function answerCells(one: ComparedAnswer): (string | number | null)[] {
  return [
    ...[one.method, one.seed, one.id, one.database, one.searchId, one.status, one.verdict, one.calls],
    ...[one.promptTokens, one.cachedTokens, one.completionTokens, one.costUsd, one.wallMs, one.proved],
    ...[one.reason, one.judged?.verdict ?? null, one.sql],
  ];
}

export function tableText(comparison: Comparison, width: number): string {
  const { methods, questions, seeds, replayed, resamples } = comparison;
  const anyMissing = methods.some(({ missing }) => missing > 0);
  const [first] = methods;
  const outcomes = textTable(
    [
      'method',
      'right',
      'wrong',
      'declined',
      'failed',
      'apart',
      ...(anyMissing ? ['open'] : []),
      'accuracy',
      'difference',
    ],
    methods.map((one) => [
      ...[one.method, one.right, one.wrong, one.declined, one.failed, one.notScored],
      ...(anyMissing ? [one.missing] : []),
      accuracyText(one.perQuestion.accuracy),
      differenceText(one.difference?.accuracy ?? null),
    ]),
    { width, whole: 1 },
  );
  const cached = methods.some(({ cachedTokens }) => cachedTokens !== null);
  const means = textTable(
    [
      'method',
      'calls',
      ...(first === undefined || methods.length < 2 ? [] : ['difference']),
      'tokens in',
      ...(cached ? ['cached'] : []),
      'tokens out',
      'cost',
      'time',
      'proved',
    ],
    methods.map((one) => meansRow(one, methods.length > 1, cached)),
    { width, whole: 1 },
  );
  const failures = methods.flatMap(({ method, failures: reasons }) =>
    Object.entries(reasons).map(([reason, count]) => `${method}: infrastructure failure (${count}): ${reason}`),
  );
  return [
    ...judgeLines(comparison, width),
    outcomes,
    '',
    `Mean of a question${replayed ? ' (times are those of the replay)' : ''}:`,
    means,
    '',
    `${counted(questions, 'question')}${seeds > 1 ? `, ${seeds} seeds each` : ''}. In brackets: 95 % intervals of ${resamples.toLocaleString('en-US')} bootstrap samples, by question.`,
    ...(methods.length > 1
      ? [`Differences are to ${first?.method ?? ''}, paired by question; accuracy in percentage points.`]
      : []),
    'Failed (infrastructure) and apart (no gold, cancelled, not decided) are in no accuracy.',
    ...failures,
    '',
  ].join('\n');
}

function judgeLines({ judge, methods }: Comparison, width: number): string[] {
  if (judge === undefined) return [];
  const tables = [[...JUDGED.counts, ...JUDGED.scores], JUDGED.agreement].map((columns) => {
    const { heads, rows } = judgedTable(methods, columns);
    return textTable(heads, rows, { width, whole: 1 });
  });
  return [
    `By the ${judge.mode} judge (version ${judge.version}, ${judge.model}):`,
    ...tables.flatMap((text) => [text, '']),
    'By execution match:',
  ];
}

function meansRow(one: ComparedMethod, compared: boolean, cached: boolean): (string | number)[] {
  const { calls, promptTokens, completionTokens, costUsd, wallMs } = one.perQuestion;
  const whole = (value: Estimate | null): string =>
    value === null ? '' : Math.round(value.value).toLocaleString('en-US');
  return [
    one.method,
    calls?.value.toFixed(1) ?? '',
    ...(compared ? [differenceText(one.difference?.calls ?? null, 1)] : []),
    whole(promptTokens),
    ...(cached ? [one.cachedTokens === null ? '' : Math.round(one.cachedTokens).toLocaleString('en-US')] : []),
    whole(completionTokens),
    costUsd === null ? '' : dollars(costUsd.value),
    wallMs === null ? '' : duration(wallMs.value),
    shareText(one.proved),
  ];
}

/** Lines of an answer or a reason; the report has all. */
const LINES = 6;
const ROWS = 5;

function questionText({ question, database, answers, differences }: ComparedQuestion, width: number): string {
  const overview = textTable(
    ['method', 'rows', 'status', 'proved', 'calls', 'tokens', 'cost', 'time', 'search'],
    answers.map(({ method, result, status, standing, proved, usage, wallMs, searchId }) => [
      ...[method, result ?? '', status, standingText(standing, proved)],
      ...(usage === null
        ? ['', '', '']
        : [
            String(usage.llmCalls),
            (usage.promptTokens + usage.completionTokens).toLocaleString('en-US'),
            dollars(usage.costUsd),
          ]),
      ...[wallMs === null ? '' : duration(wallMs), searchId],
    ]),
    { width, whole: 1 },
  );
  const each = answers.map(({ method, status, result, answer, reason, sql }) => {
    const says = status === 'infrastructure-failure' ? 'Infrastructure failure' : STATUS_WORDS[status].says;
    return [
      `${method}: ${says}${result === null ? '' : `, rows ${result}`}`,
      ...[answer, reason]
        .flatMap((text) => (text === null ? [] : text.split('\n').flatMap((line) => wrapped(line, width - 2, LINES))))
        .map((line) => `  ${line}`),
      ...(sql === null ? [] : sql.split('\n').map((line) => `    ${line}`)),
    ].join('\n');
  });
  const results = new Set(answers.flatMap(({ result }) => result ?? []));
  const same = results.size === 1 && answers.length > 1 ? ['All answers with rows have the same rows.'] : [];
  const ids = answers.map(({ searchId }) => searchId).slice(0, 2);
  return [
    ...wrapped(question, width, LINES),
    `Database ${database}`,
    '',
    overview,
    ...each.flatMap((text) => ['', text]),
    ...differences.flatMap((difference) => ['', ...differenceLines(difference, width)]),
    ...(same.length === 0 ? [] : ['', ...same]),
    ...(ids.length < 2 ? [] : ['', `gate diff ${ids.join(' ')} shows where two searches part`]),
    '',
  ].join('\n');
}

function differenceLines({ result, other, why, only, onlyOther }: RowDifference, width: number): string[] {
  const some = (letter: string, rows: readonly (readonly (string | number | boolean | null)[])[]): string[] => [
    ...rows
      .slice(0, ROWS)
      .flatMap((row) => wrapped(`only ${letter}  ${row.map(cell).join(' | ')}`, width - 2, 1))
      .map((line) => `  ${line}`),
    ...(rows.length > ROWS ? [`  … and ${counted(rows.length - ROWS, 'more row')} only in ${letter}`] : []),
  ];
  return [`Rows ${other} are not rows ${result}: ${why}`, ...some(result, only), ...some(other, onlyOther)];
}
