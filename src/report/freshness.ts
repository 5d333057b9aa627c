/** How fresh an answer is, in words, for the terminal and the report. */
import type { AnswerRecord } from '../domain';
import { withFreshness } from '../steps/freshness';

/** `2026-11-22 09:30 UTC`. */
export function shortTime(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

/** The first line says when; the others, where there are any, what to make of it. */
export function freshnessLines(given: AnswerRecord): [string, ...string[]] {
  const { asOf, reused, rowsChanged, rowsBefore, replacedBy, clock, endedAt, status } = withFreshness(given);
  const searched = reused ? `, searched ${shortTime(endedAt)}` : '';
  const when =
    status === 'answered'
      ? `${shortTime(asOf)}${searched}`
      : `decided ${shortTime(endedAt)}${asOf > endedAt ? `, holds ${shortTime(asOf)}` : ''}`;
  return [
    clock === undefined ? when : `${when}; to its SQL now is ${clock}`,
    ...(rowsChanged && rowsBefore !== undefined
      ? [
          `Only the data${clock === undefined ? '' : ' or the clock'} changed since ${shortTime(rowsBefore)}: the same SQL gives other rows, and what was proved still holds.`,
        ]
      : []),
    ...(replacedBy === undefined
      ? []
      : [`No longer holds (${replacedBy.reason}): ${replacedBy.id} answers in its place.`]),
  ];
}
