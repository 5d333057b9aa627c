/**
 * Where to doubt an answer, most serious first: what an analyst checks before passing a figure on. A view-model; the page
 * shows it right below the answer.
 */
import type { AnswerRecord } from '../domain';
import {
  asideTexts,
  exceptionsText,
  notShownText,
  uncheckedAssumptions,
  uncheckedTexts,
  withheldTexts,
} from '../text/claim-text';
import { otherReadingText } from '../text/answer-text';
import { isAbsence, isSettled } from '../sql/claims';
import { coverageText } from '../sql/coverage';
import { claimAnchor } from './proof-sections';
import { capital, counted, cut } from './printable';
import { endedBecause, isCutShort, OPEN_WORDS } from './words';

export interface Doubt {
  readonly text: string;
  /** Another reading and its result: the change that the doubt would make. */
  readonly more: string | null;
  readonly label: string;
  /** Where the report says more. */
  readonly to: { readonly kind: string; readonly id: string } | null;
}

export function doubtsOf(record: AnswerRecord): Doubt[] {
  const { columns, rows, truncated, coverage, steering = [], failedLookups = [] } = record;
  const partial = coverage === undefined ? null : coverageText(coverage);
  const all = [
    isCutShort(record) &&
      columns.length > 0 &&
      doubt(
        `This is the best answer so far: ${endedBecause(record.endedBy)} before the search was done.`,
        'ended early',
      ),
    partial !== null && doubt(partial, 'partial', page('coverage')),
    truncated &&
      doubt(
        `The result was cut at a limit: ${counted(rows.length, 'row')} are here, the query has more.`,
        'incomplete',
      ),
    ...claimDoubts(record),
    ...asideTexts(record).map((text) => doubt(sentence(text), 'left aside')),
    ...withheldTexts(record).map((text) => doubt(sentence(text), 'changed')),
    ...uncheckedTexts(record).map((text) => doubt(sentence(text), 'not checked')),
    ...openDoubts(record),
    ...disagreeing(record),
    ...untested(record),
    steering.length > 0 &&
      doubt(`People steered this search (${counted(steering.length, 'remark')}).`, 'steered', page('steering')),
    failedLookups.length > 0 &&
      doubt(`${counted(failedLookups.length, 'web lookup')} failed.`, 'incomplete', page('sources')),
  ];
  return all.filter((each) => each !== false);
}

/** Claims that the data do not show, then those that hold with exceptions. A decline has its counts above. */
function claimDoubts({ claims = [] }: AnswerRecord): Doubt[] {
  const numbered = claims.map((claim, at) => ({ claim, to: page(claimAnchor(at + 1)) }));
  const own = numbered.filter(({ claim }) => !isAbsence(claim));
  const open = own.filter(({ claim }) => !isSettled(claim));
  const excepted = own.filter(({ claim }) => claim.state === 'exceptions');
  return [
    ...open.map(({ claim, to }) => doubt(sentence(notShownText(claim)), 'not shown', to)),
    ...excepted.map(({ claim, to }) =>
      doubt(`It holds for ${exceptionsText(claim)}: “${claim.statement}”`, 'exceptions', to),
    ),
  ];
}

function openDoubts(record: AnswerRecord): Doubt[] {
  const known = new Set(record.evidence.map(({ operator }) => operator));
  return uncheckedAssumptions(record)
    .sort((a, b) => (b.risk ?? 1) - (a.risk ?? 1))
    .map((open) => ({
      text: sentence(open.statement),
      more: otherReadingText(open),
      label: OPEN_WORDS[open.kind],
      to: open.operator !== null && known.has(open.operator) ? { kind: 'operator', id: open.operator } : null,
    }));
}

/**
 * Steps that nothing has shown to be right, beyond the assumptions that are listed. With claims, a step that claims nothing
 * assumes nothing.
 */
function untested({ evidence, openAssumptions, claims }: AnswerRecord): Doubt[] {
  if (claims !== undefined) return [];
  const listed = new Set(openAssumptions.map(({ operator }) => operator));
  return evidence
    .filter(({ state, operator }) => state === 'assumed' && !listed.has(operator))
    .map(({ intent, operator }) => doubt(sentence(intent), 'not tested', { kind: 'operator', id: operator }));
}

function disagreeing({ candidates }: AnswerRecord): Doubt[] {
  const chosen = candidates.find((candidate) => candidate.chosen);
  if (chosen === undefined) return [];
  const others = candidates.filter(
    ({ id, kind, outcome }) =>
      id !== chosen.id &&
      outcome !== 'withdrawn' &&
      (kind === 'unanswerable' || outcome === 'rows') &&
      !chosen.agreesWith.includes(id),
  );
  if (others.length === 0) return [];
  const gave = others
    .slice(0, 3)
    .map(({ kind, preview }) => (kind === 'unanswerable' ? 'cannot be answered' : cut(preview, 60)));
  const results = `${gave.join('; ')}${others.length > 3 ? '; …' : ''}`;
  const text = `${counted(others.length, 'other derivation')} gave another result: ${results}`;
  return [doubt(text, 'disputed', page('candidates'))];
}

function doubt(text: string, label: string, to: Doubt['to'] = null): Doubt {
  return { text, more: null, label, to };
}

function page(id: string): Doubt['to'] {
  return { kind: '', id };
}

function sentence(text: string): string {
  const whole = capital(text.trim());
  return `${whole}${/[.!?…]$/.test(whole) ? '' : '.'}`;
}
