/**
 * How far an answer stands proved, decided from its record alone. Every text, page, JSON and score asks here, so that none of
 * them takes silence for proof: an answer that claims nothing is unchecked. Pure.
 */
import { counted } from '../counted';
import type { AnswerRecord, Claim, Standing } from '../domain';
import { isAbsence, isSettled } from '../sql/claims';
import { coverageText } from '../sql/coverage';
import {
  countedText,
  declineTexts,
  exceptionsText,
  fitsTexts,
  notShownText,
  uncheckedAssumptions,
  withheldTexts,
} from './claim-text';
import { cut } from '../clip';

/** The evidence, claims and assumptions that an answer rests on. */
export type Resting = Pick<
  AnswerRecord,
  'evidence' | 'claims' | 'openAssumptions' | 'coverage' | 'notUsed' | 'usedWithoutCheck'
>;
export type Standable = Resting & Pick<AnswerRecord, 'status' | 'method' | 'sql' | 'candidates'>;

/** null: there is no answer. */
export function standingOf(record: Standable): Standing | null {
  const { status, method, sql, claims, candidates, openAssumptions } = record;
  if (status === 'unanswerable') {
    if (claims !== undefined) return restingStanding({ ...NOTHING, openAssumptions, claims: claims.filter(isAbsence) });
    return candidates.some(({ chosen, proved }) => chosen && proved) ? 'proved' : 'unchecked';
  }
  return sql === null || method === 'learn' ? null : restingStanding(record);
}

/** The warning about a decline that no count shows; null for any other record. */
export function declineText(record: Standable): string | null {
  const isUnchecked = record.status === 'unanswerable' && standingOf(record) === 'unchecked';
  return isUnchecked ? 'Unchecked: no count shows that it is not stored.' : null;
}

const NOTHING: Resting = { evidence: [], openAssumptions: [] };

/**
 * `proved`: something is proved, and nothing is left failed, open, assumed or aside. `unchecked`: the database proved nothing
 * of what it rests on.
 */
function restingStanding(record: Resting): Standing {
  const states = statesOf(record);
  if (!states.some((state) => state === 'proved' || state === 'exceptions')) return 'unchecked';
  return states.every(isShown) ? 'proved' : 'partly proved';
}

/** The share of an answer's claims or steps that is proved or makes no difference; null: there is no answer. */
export function provedShare(record: Standable): number | null {
  const standing = record.status === 'answered' ? standingOf(record) : null;
  if (standing === null) return null;
  const states = statesOf(record);
  return standing === 'unchecked' ? 0 : states.filter(isShown).length / states.length;
}

function isShown(state: string): boolean {
  return state === 'proved' || state === 'immaterial';
}

/** The states of an answer's claims where its record has them, else of its steps. */
function statesOf(record: Resting): string[] {
  const { claims, evidence, notUsed = [], usedWithoutCheck = [] } = record;
  return [
    ...(claims ?? evidence).map(({ state }) => state),
    ...[...(claims === undefined ? [] : withoutCheck(record)), ...usedWithoutCheck, ...notUsed].map(() => 'open'),
    ...(isPartial(record) ? ['open'] : []),
    ...fitsTexts(record).map(() => 'open'),
  ];
}

function withoutCheck(record: Resting) {
  return uncheckedAssumptions(record).filter(({ kind }) => kind === 'assumption');
}

function isPartial({ coverage }: Resting): boolean {
  return coverage !== undefined && coverageText(coverage) !== null;
}

/** The standing in one line: `proved`, or `3 of 5 proved` with what is not. */
export function standingText(record: Resting): string {
  const { claims, evidence, notUsed = [], usedWithoutCheck = [] } = record;
  const known = statesOf(record);
  const count = (state: string, states: readonly string[] = (claims ?? evidence).map((each) => each.state)): number =>
    states.filter((each) => each === state).length;
  const immaterial = count('immaterial');
  const fits = fitsTexts(record).length;
  const besides = [
    ...numbered(count('exceptions'), 'with exceptions'),
    ...numbered(count('failed'), 'failed'),
    ...numbered(count('open'), 'open'),
    ...numbered(claims === undefined ? count('assumed') : withoutCheck(record).length, 'assumed'),
    ...numbered(usedWithoutCheck.length, 'used without a check'),
    ...(notUsed.length === 0 ? [] : [`${counted(notUsed.length, 'rule')} of this database not used`]),
    ...(isPartial(record) ? ['for a part of what is asked'] : []),
    ...numbered(fits, fits === 1 ? 'value fits as well' : 'values fit as well'),
    ...numbered(immaterial, immaterial === 1 ? 'makes no difference' : 'make no difference'),
  ].join(', ');
  const standing = restingStanding(record);
  if ((claims ?? evidence).length === 0 && besides === '')
    return `unchecked: ${claims === undefined ? 'no reading was tested' : 'nothing was claimed, so nothing was proved'}`;
  const whole = known.length - immaterial;
  const share = standing === 'proved' ? 'proved' : `${count('proved')} of ${whole} proved`;
  const lead = standing === 'unchecked' ? 'unchecked: ' : '';
  return `${lead}${whole === 0 ? '' : share}${whole === 0 || besides === '' ? '' : '; '}${besides}`;
}

function numbered(count: number, what: string): string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}

/** Proof lines are few and short, because they stand in the history twice: in the results of the last step and of the workflow. */
const LINES = 4;
const CHARS = 100;

type Explained = Pick<AnswerRecord, 'evidence' | 'claims' | 'openAssumptions' | 'coverage' | 'layer' | 'notUsed'>;

/**
 * The proof of an answer in a few short lines. They are part of the workflow's result, so that the Temporal UI shows them
 * without a worker and without the store. The full evidence is in the record.
 */
export function proofLines(record: Explained): string[] {
  const { claims, evidence } = record;
  const withheld = withheldTexts(record);
  const proved = claims === undefined ? [...withheld, ...stepLines(record)] : claimLines(claims, withheld);
  const told = [...proved, ...openLines(record)];
  const isPlain = claims?.length === 0 && evidence.length > 0 && told.length === withheld.length;
  const lines = isPlain ? [standingText(record), ...withheld] : told;
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

/** Claims that are not shown come first: they must not be among the lines that are left out. */
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
