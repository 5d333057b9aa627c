/**
 * Decides the claims of a commit by the database's figures alone (S1 for claims): a claim and its rivals are counted over the
 * same rows. Rivals are judged by their counts first; one that these leave standing drops out if it gives the same answer.
 */
import type { Claim, SqlResult } from '../domain';
import { countOf, FLOOR, loses, standingOf, type Agreement } from './agreement';
import { counted, grouped, singular } from '../counted';

export interface RivalSeen {
  readonly reading: string;
  /** null: not counted. */
  readonly agreement: Agreement | null;
  /** Whether the whole plan gives the same answer under it; null if it was not run or cannot tell (rule S9). */
  readonly sameAnswer: boolean | null;
  /** Why what it would put instead cannot be run. */
  readonly fault?: string | null;
}

export interface ClaimSeen extends Pick<Claim, 'operator' | 'statement' | 'rows' | 'check'> {
  /** The counts of the claim itself, or why there are none. */
  readonly agreement: Agreement | string;
  readonly rivals: readonly RivalSeen[];
}

/** Whether a rival is still to be run through the whole plan: its counts do not refute it. */
export function stands(rival: Agreement | null, claim: Agreement): boolean {
  return rival === null || !loses(rival, claim);
}

export function decideClaim(seen: ClaimSeen): Claim {
  const { operator, statement, rows, check, agreement } = seen;
  const counts = typeof agreement === 'string' ? null : agreement;
  const rivals = seen.rivals.map((rival) => ({
    reading: rival.reading,
    matching: rival.agreement?.matching ?? null,
    examined: rival.agreement?.examined ?? null,
    verdict: counts === null ? ('open' as const) : verdictOf(rival, counts),
  }));
  const base = { operator, statement, rows, check, matching: null, examined: null, ...counts, rivals };
  return { ...base, ...decided(seen, rivals) };
}

function decided({ agreement, rivals: seen }: ClaimSeen, rivals: readonly Rival[]): Pick<Claim, 'state' | 'reason'> {
  if (typeof agreement === 'string') return { state: 'open', reason: agreement };
  const { matching, examined } = agreement;
  const standing = standingOf(agreement);
  const few = examined === 1 ? '1 row was' : `${examined} rows were`;
  if (standing === 'too-few')
    return { state: 'open', reason: `only ${few} examined, and fewer than ${FLOOR} show nothing` };
  if (standing === 'fails') return { state: 'failed', reason: `it holds for ${share(agreement)} only` };
  const at = rivals.findIndex(({ verdict }) => verdict === 'open');
  const left = rivals[at];
  if (left !== undefined) {
    const fault = seen[at]?.fault ?? null;
    const reason = `the rival "${left.reading}" ${whyLeft(left, agreement)}${fault === null ? '' : ` (${fault})`}`;
    return { state: 'open', reason };
  }
  // Also of those that the counts refute: whichever holds, the answer is this one.
  if (seen.every(({ sameAnswer }) => sameAnswer === true))
    return { state: 'immaterial', reason: 'every rival gives the same answer' };
  return standing === 'all'
    ? { state: 'proved', reason: null }
    : { state: 'exceptions', reason: `${examined - matching} of ${examined} are exceptions` };
}

type Rival = Claim['rivals'][number];

function verdictOf({ agreement, sameAnswer }: RivalSeen, claim: Agreement): Rival['verdict'] {
  if (!stands(agreement, claim)) return 'refuted';
  return sameAnswer === true ? 'same-answer' : 'open';
}

function whyLeft({ matching, examined }: Rival, claim: Agreement): string {
  if (matching === null || examined === null) return 'was not counted and gives another answer, or cannot be run';
  if (matching === examined && examined < claim.examined)
    return `leaves out ${counted(claim.examined - examined, 'row')}, all that it keeps match (${matching} of ${examined}), and it gives another answer, or cannot be run: count it in the check over the same rows, or compare with what tells which rows belong`;
  const as = matching * claim.examined === claim.matching * examined ? 'as many' : 'too many';
  return `matches ${as} of the rows (${matching} of ${examined}) and gives another answer, or cannot be run`;
}

/** The claim that these counts of its check decide. */
export function countedClaim(
  said: Pick<Claim, 'operator' | 'statement' | 'rows' | 'check'>,
  counts: readonly number[] | string,
  rivals: readonly Pick<RivalSeen, 'reading' | 'sameAnswer'>[],
): Claim {
  const seen = readClaim(counts, rivals.length);
  const counted = rivals.map((rival, at) => ({ ...rival, agreement: seen.rivals[at] ?? null }));
  return decideClaim({ ...said, agreement: seen.agreement, rivals: counted });
}

/** Whether the conversation may end with this claim; all others go back to the model with their figures. */
export function isSettled({ state }: Pick<Claim, 'state'>): boolean {
  return state === 'proved' || state === 'exceptions' || state === 'immaterial';
}

/** Whether it claims that something is not stored: what a decline rests on. */
export function isAbsence({ operator }: Pick<Claim, 'operator'>): boolean {
  return operator === null;
}

/** The counts in the program's words: `420 of 420 trips with both clocks`. */
export function countsText({ matching, examined, rows }: Pick<Claim, 'matching' | 'examined' | 'rows'>): string | null {
  if (matching === null || examined === null) return null;
  const what = rows.trim() === '' ? 'rows' : rows.trim();
  return `${grouped(matching)} of ${grouped(examined)} ${examined === 1 ? singular(what) : what}`;
}

/** A claim with its figures in one line, as a model reads it. */
export function claimText(claim: Claim): string {
  const counts = countsText(claim);
  const rivals = claim.rivals.map(({ reading, matching, examined, verdict }) => {
    const counted = matching === null || examined === null ? 'not counted' : `${matching} of ${examined}`;
    return `  rival "${reading}": ${counted}, ${verdict.replace('-', ' ')}`;
  });
  return [
    `${LABEL[claim.state]}: ${claim.statement}${counts === null ? '' : ` (${counts})`}`,
    ...(claim.reason === null ? [] : [`  ${claim.reason}`]),
    ...rivals,
  ].join('\n');
}

const LABEL: Readonly<Record<Claim['state'], string>> = {
  proved: 'PROVED',
  exceptions: 'HOLDS WITH EXCEPTIONS',
  immaterial: 'MAKES NO DIFFERENCE',
  failed: 'FAILED',
  open: 'NOT ESTABLISHED',
};

/** The share from which on a fact counts as recorded, and a decline is contradicted. */
const RECORDED = 0.95;
/** Below this share the fact is recorded for a minority only. */
const MINORITY = 0.5;

/**
 * A claim that something is not stored: of so many that are asked about, how many have it recorded, and how many have a
 * comparable fact (the positive control).
 */
export function decideAbsence(
  claim: { readonly statement: string; readonly rows: string; readonly check: string },
  counts: { readonly asked: number; readonly recorded: number; readonly control: number | null } | string,
): Claim {
  const base = { operator: null, ...claim, rivals: [], matching: null, examined: null };
  if (typeof counts === 'string') return { ...base, state: 'open', reason: counts };
  const { asked, recorded, control } = counts;
  const found = { ...base, ...(control === null ? {} : { control }), matching: asked - recorded, examined: asked };
  const as = (state: Claim['state'], reason: string | null): Claim => ({ ...found, state, reason });
  const share = asked === 0 ? 0 : recorded / asked;
  const some = `${recorded} of ${asked} have it recorded`;
  if (share >= RECORDED) return as('failed', some);
  if (asked < FLOOR) return as('open', `only ${asked} are asked about, and fewer than ${FLOOR} show nothing`);
  if (!control) return as('open', 'the positive control found nothing, so the check may miss it');
  if (recorded === 0) return as('proved', null);
  return share < MINORITY ? as('exceptions', some) : as('open', `${some}, which is no minority`);
}

/** `stopped after 25000 ms; its dearest step is Nested Loop over a, b` */
export function stoppedText({ afterMs, dearest }: Extract<SqlResult, { kind: 'timeout' }>): string {
  return `stopped after ${afterMs} ms${dearest === undefined ? '' : `; its dearest step is ${dearest}`}`;
}

/** The counts in the single row of a result, or what is wrong with it. */
export function readCounts(result: SqlResult | undefined, least: number): readonly number[] | string {
  if (result === undefined) return 'it was not run';
  if (result.kind === 'timeout') return `it was ${stoppedText(result)}`;
  if (result.kind !== 'rows') return result.message;
  const [row, second] = result.rows;
  if (row === undefined) return 'the check gave no row';
  if (second !== undefined || result.truncated) return 'the check gave several rows';
  // Sums over no rows are NULL, and count as 0.
  const counts = row.map((value) => (value === null ? 0 : countOf(value)));
  if (row.length < least) return `the check gave ${counted(row.length, 'column')} instead of ${least}`;
  const wrong = counts.indexOf(null);
  return wrong < 0
    ? counts.filter((each) => each !== null)
    : `the check's column ${wrong + 1} is ${JSON.stringify(row[wrong] ?? null)}, not a count`;
}

/**
 * The counts of one claim, in the order of its check's columns: examined and matching; then a count for each rival over the
 * same rows, or both counts again for each. A text says why there are none.
 */
export function readClaim(
  counts: readonly number[] | string,
  rivals: number,
): { readonly agreement: Agreement | string; readonly rivals: readonly (Agreement | null)[] } {
  if (typeof counts === 'string') return { agreement: counts, rivals: [] };
  const [examined = 0, matching = 0, ...rest] = counts;
  const isRepeated = rivals > 0 && rest.length === 2 * rivals;
  const each = Array.from({ length: rivals }, (_, at) =>
    isRepeated
      ? repeatedCounts({ examined: rest[2 * at] ?? 0, matching: rest[2 * at + 1] ?? 0 }, examined)
      : { examined, matching: rest[at] ?? 0 },
  );
  return {
    agreement: impossible({ matching, examined }) ?? { matching, examined },
    rivals: each.map((agreement) => (impossible(agreement) === null ? agreement : null)),
  };
}

/**
 * Rows that the rival's SQL loses in a join do not match it either. But if all that it keeps match, it may leave the others
 * out on purpose, and nothing was counted that speaks against it.
 */
function repeatedCounts(rival: Agreement, examined: number): Agreement {
  return rival.matching === rival.examined ? rival : { ...rival, examined: Math.max(examined, rival.examined) };
}

function impossible({ matching, examined }: Agreement): string | null {
  return matching > examined ? `${matching} match but only ${examined} were examined: examined comes first` : null;
}

function share({ matching, examined }: Agreement): string {
  return `${matching} of ${examined} (${Math.floor((1000 * matching) / examined) / 10} %)`;
}
