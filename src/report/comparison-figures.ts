/** The figures of a comparison as text: the same in a terminal and on a page. */
import type { ComparedMethod, Estimate } from '../questions';
import type { Standing } from '../domain';

/** `62.0 % [50.1, 73.4]`. */
export function accuracyText(accuracy: Estimate | null): string {
  if (accuracy === null) return '';
  const { value, low, high } = accuracy;
  return `${percentage(value)} % [${percentage(low)}, ${percentage(high)}]`;
}

/** `+4.0 [-2.0, +10.1]`, in percentage points unless `scale` is given; empty: there is none. */
export function differenceText(difference: Estimate | null, scale = 100): string {
  if (difference === null) return '';
  const { value, low, high } = difference;
  return `${signed(scale * value)} [${signed(scale * low)}, ${signed(scale * high)}]`;
}

/** The accuracy by the judge where one was asked for, else by execution. */
export function decided({ judged, perQuestion, difference }: ComparedMethod): {
  readonly accuracy: Estimate | null;
  readonly difference: Estimate | null;
} {
  return judged ?? { accuracy: perQuestion.accuracy, difference: difference?.accuracy ?? null };
}

export function shareText(share: number | null): string {
  return share === null ? '' : `${Math.round(100 * share)} %`;
}

/** How far one answer stands proved: the share only where it says more. */
export function standingText(standing: Standing | null, share: number | null): string {
  return standing === 'partly proved' ? `partly, ${shareText(share)}` : (standing ?? '');
}

type Judged = NonNullable<ComparedMethod['judged']>;
type Column = readonly [string, (judged: Judged) => string | number];

/** A judge's findings on a method, column by column. */
export const JUDGED = {
  counts: [
    ['right', ({ right }) => right],
    ['wrong', ({ wrong }) => wrong],
    ['declined', ({ declined }) => declined],
    ['apart', ({ apart }) => apart],
  ],
  scores: [
    ['accuracy', ({ accuracy }) => accuracyText(accuracy)],
    ['difference', ({ difference }) => differenceText(difference)],
  ],
  agreement: [
    ['agrees with execution', ({ agreement: { share, compared } }) => `${shareText(share)} of ${compared}`],
    ['kappa', ({ agreement: { kappa } }) => kappa?.toFixed(2) ?? ''],
  ],
} as const satisfies Readonly<Record<string, readonly Column[]>>;

export function judgedTable(methods: readonly ComparedMethod[], columns: readonly Column[]) {
  const rowOf = ({ method, judged }: ComparedMethod): (string | number)[] => [
    method,
    ...columns.map(([, of]) => (judged ? of(judged) : '')),
  ];
  return { heads: ['method', ...columns.map(([name]) => name)], rows: methods.map(rowOf) };
}

const percentage = (value: number): string => (100 * value).toFixed(1);

function signed(value: number): string {
  const text = value.toFixed(1);
  return Number(text) === 0 ? '0.0' : value > 0 ? `+${text}` : text;
}
