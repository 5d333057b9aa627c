/** The tables of a run, the same on its page and in Markdown. */
import {
  VERDICTS,
  type ComparedMethod,
  type Comparison,
  type Group,
  type MethodFigures,
  type Spread,
} from '../questions';
import { accuracyText, decided, differenceText, JUDGED, judgedTable, shareText } from './comparison-figures';
import { dollars, duration } from './printable';
import type { Run, RunSet, Table } from './run';

/** `62.0 ± 1.2`: in percent unless `scale` is given. */
function spreadText(spread: Spread | null | undefined, scale = 100, digits = 1): string {
  if (!spread) return '';
  const { mean, sd } = spread;
  const middle = (scale * mean).toFixed(digits);
  return sd === null ? middle : `${middle} ± ${(scale * sd).toFixed(digits)}`;
}

/** Methods by sets, as papers have it. */
export function mainTable({ sets }: Run): Table {
  const methods = [...new Set(sets.flatMap(({ figures }) => figures.map(({ method }) => method)))];
  return {
    title: 'Accuracy',
    heads: ['method', ...sets.map(({ name, note }) => (note === null ? name : `${name} (${note})`))],
    rows: methods.map((method) => [
      method,
      ...sets.map(({ figures, comparison: { judge } }) => {
        const own = figures.find((one) => one.method === method);
        return spreadText(judge === undefined ? own?.accuracy : own?.judged);
      }),
    ]),
    note: 'Percent, mean ± standard deviation over seeds; right abstentions count. By the judge where one was asked for, else by the official scorer or the gold.',
  };
}

export function setTables(set: RunSet): Table[] {
  const { figures, comparison } = set;
  const compared = new Map(comparison.methods.map((one) => [one.method, one]));
  const both = figures.flatMap((own) => {
    const other = compared.get(own.method);
    return other === undefined ? [] : [{ ...own, compared: other }];
  });
  return [
    ...accuracyTable(both, comparison),
    ...metricsTable(figures),
    ...judgeTable(set),
    outcomesTable(both),
    ...failuresTable(both),
    costTable(both),
    seedTable(figures),
    ...groupTable('By database', figures, ({ byDatabase }) => byDatabase),
    ...groupTable('By difficulty', figures, ({ byDifficulty }) => byDifficulty),
    ...reuseTable(figures),
  ].filter(({ rows }) => rows.length > 0);
}

type Both = MethodFigures & { readonly compared: ComparedMethod };

/** Empty where nothing says what is right. */
function accuracyTable(methods: readonly Both[], { judge, methods: [first] }: Comparison): Table[] {
  if (methods.every(({ compared }) => decided(compared).accuracy === null)) return [];
  const isJudged = judge !== undefined;
  const isAlone = methods.length === 1;
  return [
    {
      title: 'Accuracy',
      heads: [
        ...['method', 'mean ± SD over seeds', '95 % interval by question'],
        ...(isAlone ? [] : ['difference']),
        ...(isJudged ? ['by execution'] : []),
      ],
      rows: methods.map(({ method, accuracy, judged, compared }) => {
        const byQuestion = decided(compared);
        return [
          ...[method, spreadText(isJudged ? judged : accuracy), accuracyText(byQuestion.accuracy)],
          ...(isAlone ? [] : [differenceText(byQuestion.difference)]),
          ...(isJudged ? [spreadText(accuracy)] : []),
        ];
      }),
      note:
        (isJudged ? 'By the judge. ' : '') +
        (isAlone
          ? 'Percent, with the 95 % bootstrap interval over questions.'
          : `Differences are to ${first?.method ?? ''} in percentage points, paired by question, with 95 % bootstrap intervals.`),
    },
  ];
}

function metricsTable(methods: readonly MethodFigures[]): Table[] {
  const names = [...new Set(methods.flatMap(({ metrics }) => Object.keys(metrics)))];
  if (names.length === 0) return [];
  return [
    {
      title: 'Official figures',
      heads: ['figure', ...methods.map(({ method }) => method)],
      rows: names.map((name) => [name, ...methods.map(({ metrics }) => spreadText(metrics[name], 1, 2))]),
      note: 'As the scorer of the benchmark gives them, mean ± standard deviation over seeds.',
    },
  ];
}

function judgeTable({ comparison: { judge, methods } }: RunSet): Table[] {
  if (judge === undefined) return [];
  return [
    {
      title: 'By the judge',
      ...judgedTable(methods, [...JUDGED.counts, ...JUDGED.agreement]),
      note: `The ${judge.mode} judge, version ${judge.version}, ${judge.model}.`,
    },
  ];
}

/** By verdict, or by status where nothing says what is right. */
function outcomesTable(methods: readonly Both[]): Table {
  const isScored = methods.some(({ verdicts }) => Object.keys(verdicts).some((verdict) => !UNSCORED.has(verdict)));
  const countsOf = (one: Both): Readonly<Record<string, number>> => (isScored ? one.verdicts : one.statuses);
  const names = isScored ? VERDICTS : [...new Set(methods.flatMap((one) => Object.keys(countsOf(one))))];
  const seen = names.filter((name) => methods.some((one) => (countsOf(one)[name] ?? 0) > 0));
  return {
    title: 'How answers ended',
    heads: ['method', ...seen, 'open'],
    rows: methods.map((one) => [one.method, ...seen.map((name) => countsOf(one)[name] ?? 0), one.compared.missing]),
    note: isScored
      ? 'Answers over all seeds. correct-abstained: unanswerable, and said so; wrong-abstained: no answer although there is one; wrong-answered: an answer to an unanswerable question. infrastructure, cancelled, gold-failed, undecided and no-gold are in no score.'
      : 'Answers over all seeds; no question has gold SQL.',
  };
}

const UNSCORED: ReadonlySet<string> = new Set(['no-gold', 'infrastructure', 'cancelled']);

function failuresTable(methods: readonly Both[]): Table[] {
  const rows = methods.flatMap(({ method, compared }) =>
    Object.entries(compared.failures).map(([reason, count]) => [method, count, reason]),
  );
  return [{ title: 'Infrastructure failures', heads: ['method', 'answers', 'reason'], rows }];
}

function costTable(methods: readonly Both[]): Table {
  const whole = (value: number | undefined): string =>
    value === undefined ? '' : Math.round(value).toLocaleString('en-US');
  return {
    title: 'Cost',
    heads: [
      ...['method', 'calls of a question', 'difference', 'calls of a right answer', 'tokens in', 'tokens out'],
      ...['cost of a question', 'cost of a right answer', 'time', 'proved'],
    ],
    rows: methods.map(({ method, calls, perCorrect, compared }) => {
      const { promptTokens, completionTokens, costUsd, wallMs } = compared.perQuestion;
      return [
        ...[method, spreadText(calls, 1), differenceText(compared.difference?.calls ?? null, 1)],
        ...[perCorrect.calls?.toFixed(1) ?? '', whole(promptTokens?.value), whole(completionTokens?.value)],
        costUsd === null ? '' : dollars(costUsd.value),
        perCorrect.costUsd === null ? '' : dollars(perCorrect.costUsd),
        ...[wallMs === null ? '' : duration(wallMs.value), shareText(compared.proved)],
      ];
    }),
    note: 'Means of a question; of a right answer: all calls and cost, by the number of right answers. US dollars.',
  };
}

function seedTable(methods: readonly MethodFigures[]): Table {
  return {
    title: 'By seed',
    heads: ['method', 'seed', 'accuracy', 'right', 'wrong', 'declined', 'failed', 'apart', 'calls', 'batch'],
    rows: methods.flatMap(({ method, bySeed }) =>
      bySeed.map(({ seed, batchId, ...counts }) => [method, seed, ...countCells(counts), batchId]),
    ),
  };
}

type Counts = Omit<Group, 'name' | 'questions'>;

function countCells({ accuracy, right, wrong, declined, failed, notScored, calls }: Counts): (string | number)[] {
  const share = accuracy === null ? '' : (100 * accuracy).toFixed(1);
  return [share, right, wrong, declined, failed, notScored, calls?.toFixed(1) ?? ''];
}

function groupTable(
  title: string,
  methods: readonly MethodFigures[],
  groupsOf: (method: MethodFigures) => readonly Group[],
): Table[] {
  if (methods.every((method) => groupsOf(method).length < 2)) return [];
  return [
    {
      title,
      heads: [
        ...['method', title.slice(3), 'questions'],
        ...['accuracy', 'right', 'wrong', 'declined', 'failed', 'apart', 'calls'],
      ],
      rows: methods.flatMap((method) =>
        groupsOf(method).map(({ name, questions, ...counts }) => [
          ...[method.method, name === '' ? 'not stated' : name, questions, ...countCells(counts)],
        ]),
      ),
    },
  ];
}

function reuseTable(methods: readonly MethodFigures[]): Table[] {
  const rows = methods.flatMap(({ method, reuse }) => {
    if (reuse === null) return [];
    const { searches, updates, reused, reuses } = reuse;
    return [
      [
        method,
        searches,
        updates,
        (updates / searches).toFixed(2),
        shareText(reused / updates),
        (reuses / updates).toFixed(2),
      ],
    ];
  });
  const heads = ['method', 'searches with updates', 'updates', 'of a search', 'reused', 'reuses of an update'];
  return [{ title: 'Reuse of grounding updates', heads, rows }];
}
