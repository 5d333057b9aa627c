/** How fresh an answer is, in words, for the terminal and the report. */
import type { AnswerRecord } from '../domain';
import { withFreshness } from '../record/freshness';
import { utc } from './printable';

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
  const searched = reused ? `, searched ${utc(endedAt)}` : '';
  const when = hasRows ? `${utc(asOf)}${searched}` : `${utc(endedAt)}${asOf > endedAt ? `, holds ${utc(asOf)}` : ''}`;
  return {
    label: hasRows ? 'As of' : 'Decided',
    when: clock === undefined ? when : `${when}; in its SQL "now" is ${clock}`,
    changes: [
      ...(rowsChanged && rowsBefore !== undefined
        ? [
            `Only the data${clock === undefined ? '' : ' or the clock'} changed since ${utc(rowsBefore)}: the same SQL gives other rows, and what was proved still holds.`,
          ]
        : []),
      ...(replacedBy === undefined
        ? []
        : [
            replacedBy.id === null
              ? `No longer holds (${replacedBy.reason}), and no later search has an answer: ask the question again.`
              : `No longer holds (${replacedBy.reason}): ${replacedBy.id} answers in its place.`,
          ]),
    ],
  };
}
