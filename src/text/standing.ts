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
  figuresText,
  notShownText,
  quotedShort,
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
  const { status, method, sql, claims, candidates } = record;
  if (status === 'unanswerable') {
    if (claims !== undefined) return restingStanding({ ...NOTHING, claims: claims.filter(isAbsence) });
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
  ];
}

function withoutCheck(record: Resting) {
  return uncheckedAssumptions(record).filter(({ kind }) => kind === 'assumption');
}

function isPartial({ coverage }: Resting): boolean {
  return coverage !== undefined && coverageText(coverage) !== null;
}

/**
 * The standing and what it is of, in words: `proved: "Device B stores milliseconds" (20 of 20 laps)`. What is quoted are
 * the model's words for the claim, which may say more than its check counted.
 */
export function provedText(record: Resting): string {
  const { claims, evidence, notUsed = [], usedWithoutCheck = [] } = record;
  const standing = restingStanding(record);
  const aside = [
    ...numbered(usedWithoutCheck.length, 'used without a check'),
    ...(notUsed.length === 0
      ? []
      : [`${counted(notUsed.length, 'rule or entry', 'rules or entries')} of this database not used`]),
    ...(standing !== 'unchecked' && isPartial(record) ? ['for a part of what is asked'] : []),
  ];
  if (claims === undefined) {
    const steps = evidence.length === 0 ? 'no reading was tested' : stepsText(evidence);
    const proved = evidence.find(({ state }) => state === 'proved');
    const named = proved === undefined ? steps : `${quotedShort(proved.reading)} (${steps})`;
    return `${standing}: ${[named, ...aside].join(', ')}`;
  }
  const of = (state: Claim['state']): readonly Claim[] => claims.filter((claim) => claim.state === state);
  const unchecked = withoutCheck(record).length;
  if (claims.length + unchecked === 0)
    return `unchecked: ${['nothing was claimed, so nothing was proved', ...aside].join(', ')}`;
  const [named, ...others] = of('proved').length > 0 ? of('proved') : of('exceptions');
  const rest = [
    ...numbered(
      of('exceptions').filter((claim) => claim !== named && !others.includes(claim)).length,
      'with exceptions',
    ),
    ...numbered(of('immaterial').length, of('immaterial').length === 1 ? 'makes no difference' : 'make no difference'),
    ...numbered(of('failed').length, 'failed'),
    ...numbered(of('open').length, 'open'),
    ...numbered(unchecked, 'without a check'),
    ...aside,
  ].join(', ');
  if (named === undefined) return `unchecked: 0 of ${counted(claims.length + unchecked, 'assumption')} proved, ${rest}`;
  const more = others.length === 0 ? '' : ` and ${counted(others.length, 'more claim')}`;
  return `${standing}: ${quotedShort(named.statement)} (${figuresText(named)})${more}${rest === '' ? '' : `; ${rest}`}`;
}

function stepsText(evidence: AnswerRecord['evidence']): string {
  const count = (state: AnswerRecord['evidence'][number]['state']): number =>
    evidence.filter((entry) => entry.state === state).length;
  const [proved, assumed, immaterial] = [count('proved'), count('assumed'), count('immaterial')];
  return [
    `${proved} of ${counted(evidence.length, 'step')} proved`,
    ...numbered(assumed, 'assumed'),
    ...numbered(immaterial, immaterial === 1 ? 'makes no difference' : 'make no difference'),
  ].join(', ');
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
