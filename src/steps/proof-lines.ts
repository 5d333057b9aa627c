/**
 * The proof of an answer in a few short lines. They are part of the workflow's result, so that the Temporal UI shows them
 * without a worker and without the store. The full evidence is in the record.
 */
import type { AnswerRecord } from '../domain';
import { cut } from '../search/preview';

/** Few and short, because they stand in the history twice: in the results of the last step and of the workflow (D3). */
const LINES = 4;
const CHARS = 100;

export function proofLines({
  evidence,
  openAssumptions,
}: Pick<AnswerRecord, 'evidence' | 'openAssumptions'>): string[] {
  const proved = evidence
    .filter(({ state }) => state === 'proved')
    .map(({ operator, reading, rejected }) => {
      const others = rejected.length === 0 ? '' : `, ${rejected.length} rejected`;
      return `${operator} proved${others}: ${reading}`;
    });
  const open = openAssumptions.map(({ operator, kind, statement }) =>
    kind === 'open-by-wording' ? `open by wording: ${statement}` : `${operator ?? 'the answer'} assumed: ${statement}`,
  );
  const lines = [...proved, ...open];
  const left = lines.length - LINES;
  const shown = left > 0 ? [...lines.slice(0, LINES), `and ${left} more`] : lines;
  return shown.map((line) => cut(line, CHARS));
}
