/**
 * The proof of an answer in a few short lines. They are part of the workflow's result, so that the Temporal UI shows them
 * without a worker and without the store. The full evidence is in the record.
 */
import type { AnswerRecord, Claim } from '../domain';
import {
  countedText,
  declineTexts,
  exceptionsText,
  notShownText,
  uncheckedAssumptions,
  withheldTexts,
} from './claim-text';
import { isAbsence, isSettled } from '../sql/claims';
import { cut } from './clip';
import { provedText } from './standing';

/** Few and short, because they stand in the history twice: in the results of the last step and of the workflow (D3). */
const LINES = 4;
const CHARS = 100;

type Explained = Pick<AnswerRecord, 'evidence' | 'claims' | 'openAssumptions' | 'coverage' | 'layer' | 'notUsed'>;

export function proofLines(record: Explained): string[] {
  const { claims, evidence } = record;
  const withheld = withheldTexts(record);
  const proved = claims === undefined ? [...withheld, ...stepLines(record)] : claimLines(claims, withheld);
  const told = [...proved, ...openLines(record)];
  const isPlain = claims?.length === 0 && evidence.length > 0 && told.length === withheld.length;
  const lines = isPlain ? [provedText(record), ...withheld] : told;
  const left = lines.length - LINES;
  const shown = left > 0 ? [...lines.slice(0, LINES), `and ${left} more`] : lines;
  return shown.map((line) => cut(line, CHARS));
}

function stepLines({ evidence }: Explained): string[] {
  return evidence
    .filter(({ state }) => state === 'proved')
    .map(({ operator, reading, rejected }) => {
      const others = rejected.length === 0 ? '' : `, ${rejected.length} rejected`;
      return `${operator} proved${others}: ${reading}`;
    });
}

/** What is not shown comes first: it must not be among the lines that are left out. */
function claimLines(claims: readonly Claim[], withheld: readonly string[]): string[] {
  const own = claims.filter((claim) => !isAbsence(claim));
  return [
    ...own.filter((claim) => !isSettled(claim)).map(notShownText),
    ...declineTexts({ claims: [...claims] }),
    ...withheld,
    ...own.filter(isSettled).map(settledText),
  ];
}

function settledText(claim: Claim): string {
  const { statement, state, rivals, entry } = claim;
  if (state === 'immaterial') return `makes no difference: ${statement}`;
  const refuted = rivals.filter(({ verdict }) => verdict === 'refuted').length;
  const others = refuted === 0 ? '' : `, ${refuted} ${refuted === 1 ? 'rival' : 'rivals'} refuted`;
  const proved = entry === undefined ? 'proved' : 'proved before and again';
  const counts = state === 'proved' ? `${proved}: ${countedText(claim) ?? ''}` : `holds for ${exceptionsText(claim)}`;
  return `${counts}${others}: ${statement}`;
}

function openLines(record: Explained): string[] {
  return uncheckedAssumptions(record).map(({ operator, kind, statement }) =>
    kind === 'open-by-wording' ? `open by wording: ${statement}` : `${operator ?? 'the answer'} assumed: ${statement}`,
  );
}
