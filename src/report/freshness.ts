/** How fresh an answer is, in words, for the terminal and the report. */
import type { AnswerRecord } from '../domain';
import { withFreshness } from '../record/freshness';

/** `2026-11-22 09:30 UTC`. */
export function shortTime(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

export interface Freshness {
  readonly label: 'As of' | 'Decided';
  /** When its rows were read; when it was decided, where it has none. */
  readonly when: string;
  /** What to make of it, one sentence each. */
  readonly changes: readonly string[];
}

export function freshnessOf(given: AnswerRecord): Freshness {
  const { asOf, reused, rowsChanged, rowsBefore, replacedBy, clock, endedAt, columns } = withFreshness(given);
  const hasRows = columns.length > 0;
  const searched = reused ? `, searched ${shortTime(endedAt)}` : '';
  const when = hasRows
    ? `${shortTime(asOf)}${searched}`
    : `${shortTime(endedAt)}${asOf > endedAt ? `, holds ${shortTime(asOf)}` : ''}`;
  return {
    label: hasRows ? 'As of' : 'Decided',
    when: clock === undefined ? when : `${when}; in its SQL "now" is ${clock}`,
    changes: [
      ...(rowsChanged && rowsBefore !== undefined
        ? [
            `Only the data${clock === undefined ? '' : ' or the clock'} changed since ${shortTime(rowsBefore)}: the same SQL gives other rows, and what was proved still holds.`,
          ]
        : []),
      ...(replacedBy === undefined
        ? []
        : [`No longer holds (${replacedBy.reason}): ${replacedBy.id} answers in its place.`]),
    ],
  };
}
