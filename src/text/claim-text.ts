/**
 * Claims in words, for people. A claim is named in the model's words, in quotation marks, beside what its check counted
 * (`20 of 20 laps`): the words may say more than that. Pure.
 */
import type { AnswerRecord, Claim, Evidence, OpenAssumption } from '../domain';
import { visibleLine, cut } from '../clip';
import { FEW_ROWS } from '../sql/agreement';
import { isAbsence, isSettled } from '../sql/claims';
import { counted, grouped, singular } from '../counted';
import { groupBy } from '../group-by';

type Explained = Pick<AnswerRecord, 'claims' | 'openAssumptions'>;
type Layered = Pick<AnswerRecord, 'layer'>;

/** The model's words for what one row is are cut here, so that they cannot pass for a sentence of the program. */
const ROWS_CHARS = 100;
const STATEMENT_CHARS = 300;
/** The most characters of a statement that stands inside a line. */
const SHORT_CHARS = 120;
/** Counts that one line lists. */
const LISTED = 3;

/** `412 of 420 trips`; of a claim that something is not stored, `0 of 340 visits have it recorded`; null: not counted. */
export function countedText({ operator, matching, examined, rows }: Claim): string | null {
  if (matching === null || examined === null) return null;
  const words = rows.trim() === '' ? 'rows' : cut(visibleLine(rows), ROWS_CHARS);
  const what = examined === 1 ? singular(words) : words;
  if (operator !== null) return `${grouped(matching)} of ${grouped(examined)} ${what}`;
  const recorded = examined - matching;
  return `${grouped(recorded)} of ${grouped(examined)} ${what} ${recorded === 1 ? 'has' : 'have'} it recorded`;
}

/** `412 of 420 trips, 8 exceptions`. */
export function exceptionsText(claim: Claim): string {
  const { matching, examined } = claim;
  const left = matching === null || examined === null ? 0 : examined - matching;
  return `${countedText(claim) ?? 'not counted'}, ${counted(left, 'exception')}`;
}

/** Assumptions of the answer that no claim says: an assumption that repeats a claim word for word is told by the claim. */
export function uncheckedAssumptions({ claims = [], openAssumptions }: Explained): OpenAssumption[] {
  const claimed = new Set(claims.map(({ statement }) => visibleLine(statement)));
  return openAssumptions.filter(({ kind, statement }) => kind !== 'assumption' || !claimed.has(visibleLine(statement)));
}

/** Whether claims say all there is of a step: it has some, or nothing was tested of it. */
export function isToldByClaims({ operator, probe }: Evidence, claims: readonly Claim[] | undefined): boolean {
  return claims !== undefined && (probe === null || claims.some((claim) => claim.operator === operator));
}

/** The counts of a claim, with the exceptions where it has some. */
export function figuresText(claim: Claim): string {
  if (claim.state === 'exceptions' && !isAbsence(claim)) return exceptionsText(claim);
  return countedText(claim) ?? 'not counted';
}

/** Figures that differ by less count as equal: a reader has to know by how much. */
function withinText({ within }: Claim): string {
  return within === undefined ? '' : `, within ${within}`;
}

/** Values that fit the rows as well as that of the SQL, and readings that an entry leaves open, which change the answer, a line for each. */
export function fitsTexts({ claims = [] }: Pick<AnswerRecord, 'claims'>): string[] {
  return claims.flatMap(({ fitsAsWell = [], rivals }) => [
    ...fitsAsWell.flatMap(({ literal, put, gives }) =>
      gives === null ? [] : visibleLine(`Fits the rows as well: ${put} in place of ${literal}; it would be: ${gives}.`),
    ),
    ...rivals.flatMap((rival) =>
      rival.gives === undefined
        ? []
        : visibleLine(`Another reading (${rivalText(rival)}): ${quoted(rival.reading)}; it would be: ${rival.gives}.`),
    ),
  ]);
}

/** What is proved, a line each: the model's words, whole, beside what its check counted. */
export function provedTexts({ claims, evidence }: Pick<AnswerRecord, 'claims' | 'evidence'>): string[] {
  const steps = evidence.map(({ state, reading }) => ({ state, text: quoted(reading, Infinity) }));
  const told = claims?.map((claim) => ({
    state: claim.state,
    text: `${quoted(claim.statement, Infinity)} (${countedText(claim) ?? ''}${withinText(claim)})`,
  }));
  return (told ?? steps).filter(({ state }) => state === 'proved').map(({ text }) => `Proved: ${text}`);
}

/** Caveats on claims and assumptions besides how many are proved, most serious first. */
export function claimCaveats(record: Explained): string[] {
  const { claims = [] } = record;
  return [
    ...claims.filter((claim) => !isSettled(claim)).map(notShownText),
    ...claims
      .filter(({ state }) => state === 'exceptions')
      .map((claim) => `Not without exception (${exceptionsText(claim)}): ${quoted(claim.statement)}`),
    ...uncheckedAssumptions(record)
      .filter(({ kind }) => kind === 'assumption')
      .map(({ statement }) => `Assumed: ${quoted(statement)}`),
    ...fitsTexts(record),
    ...provedBeforeTexts(claims),
  ];
}

/** `proved before, 2026-11-20 in q-…, counted again`; null: the claim repeats no entry of the layer. */
export function provedBeforeText({ entry, examined }: Claim): string | null {
  if (entry === undefined) return null;
  const few = examined !== null && examined < FEW_ROWS ? ' over few rows' : '';
  return `proved before${few}, ${originText(entry)}, counted again`;
}

/** The number of claims that repeat entries of the layer, and where those come from, in one line. */
function provedBeforeTexts(claims: readonly Claim[]): string[] {
  const entries = claims.flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
  if (entries.length === 0) return [];
  const which = entries.length === 1 ? '1 assumption was' : `${entries.length} assumptions were`;
  return [`${which} proved before (${listed([...new Set(entries.map(originText))])}) and counted again.`];
}

function originText({ provedAt, searchId }: NonNullable<Claim['entry']>): string {
  return `${provedAt.slice(0, 10)} ${sourceText(searchId)}`;
}

/** The source of an entry, `from.searchId`, in words: no search proved what a person added or imported. */
export function sourceText(searchId: string): string {
  return searchId === 'add' || searchId === 'import' ? `by gate layer ${searchId}` : `in ${searchId}`;
}

/** Entries of the layer that concern the question and hold no longer, a line each. */
export function withheldTexts({ layer }: Layered): string[] {
  return (layer?.withheld ?? []).map(
    ({ statement, why }) => `No longer holds: ${quoted(statement)}; ${cut(visibleLine(why), STATEMENT_CHARS)}`,
  );
}

/**
 * Literals of the SQL that nothing shows or names, in one line; knowledge of the tables that it reads but leaves aside; the
 * columns that nobody looked at, in one line.
 */
export function asideTexts({
  usedWithoutCheck = [],
  notUsed = [],
  notLookedAt,
}: Pick<AnswerRecord, 'usedWithoutCheck' | 'notUsed' | 'notLookedAt'>): string[] {
  const { columns = [], more = 0 } = notLookedAt ?? {};
  const used = [...new Set(usedWithoutCheck.map(({ sql }) => cut(visibleLine(sql), SHORT_CHARS)))];
  const flags = columns.map(({ table, column, holds }) => visibleLine(`${table}.${column} (${holds})`));
  return [
    ...(used.length === 0 ? [] : [`Used without a check: ${used.join('; ')}`]),
    ...notUsed.map(({ statement }) => `Not used: ${quoted(statement)}`),
    ...(flags.length === 0 ? [] : [`Not looked at: ${flags.join(', ')}${more === 0 ? '' : `, and ${more} more`}`]),
  ];
}

/** What the literals of the SQL stand for by stored rows and documents, in one line. */
export function definedTexts({ defined = [] }: Pick<AnswerRecord, 'defined'>): string[] {
  const uses = [...groupBy(defined, ({ sql }) => sql)].map(([sql, own]) => {
    const rows = [...new Set(own.map(({ row }) => visibleLine(row)))];
    const more = rows.length > LISTED ? `; and ${rows.length - LISTED} more` : '';
    return `${cut(visibleLine(sql), SHORT_CHARS)} (${rows.slice(0, LISTED).join('; ')}${more})`;
  });
  return uses.length === 0 ? [] : [`Defined: ${uses.join('; ')}`];
}

/** Entries of the layer that concern the question and were not used, because their checks did not end in time. */
export function uncheckedTexts({ layer }: Layered): string[] {
  return (layer?.unchecked ?? []).map(
    ({ statement, why }) => `Not used: ${quoted(statement)}; ${cut(visibleLine(why), STATEMENT_CHARS)}`,
  );
}

/** The claims that the layer keeps of an answer: `"Device B stores milliseconds."; "…"; 2 more`; null: nothing. */
export function keptText({ layer }: Layered): string | null {
  const kept = layer?.kept ?? [];
  return kept.length === 0 ? null : listed(kept.map(({ statement }) => quoted(statement)));
}

/** `NOT shown: "All devices store seconds."; it holds for 10 of 20 (50 %) only`. */
export function notShownText({ statement, reason }: Claim): string {
  return `NOT shown: ${quoted(statement)}${reason === null ? '' : `; ${cut(visibleLine(reason), STATEMENT_CHARS)}`}`;
}

/** Why a stored answer is not good any more: the claim as it stands now. */
export function lostText(claim: Claim): string {
  const now = cut(visibleLine(claim.reason ?? countedText(claim) ?? 'not counted'), STATEMENT_CHARS);
  return `what ${claim.operator ?? 'it'} takes for granted no longer holds as it did: ${quoted(claim.statement)} (${now})`;
}

/** The counts behind a decline, a line for each claim: `0 of 340 visits have it recorded: "No visit has a diagnosis."` */
export function declineTexts({ claims = [] }: Pick<AnswerRecord, 'claims'>): string[] {
  return claims.filter(isAbsence).map((claim) => {
    if (!isSettled(claim)) return notShownText(claim);
    const { control } = claim;
    const beside = control === undefined ? '' : `, beside ${grouped(control)} with a comparable fact`;
    return `${countedText(claim) ?? ''}${beside}: ${quoted(claim.statement)}`;
  });
}

/** How a rival reading fared: `refuted, 10 of 20`. */
export function rivalText({ matching, examined, verdict }: Claim['rivals'][number]): string {
  const counts =
    matching === null || examined === null ? 'not counted' : `${grouped(matching)} of ${grouped(examined)}`;
  return `${RIVAL_WORDS[verdict]}, ${counts}`;
}

export const RIVAL_WORDS: Readonly<Record<Claim['rivals'][number]['verdict'], string>> = {
  refuted: 'refuted',
  'same-answer': 'gives the same answer',
  open: 'not refuted',
};

function listed(counts: readonly (string | null)[]): string {
  const known = counts.filter((each) => each !== null);
  const more = known.length - LISTED;
  return [...known.slice(0, LISTED), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

/** The model's words, so that nobody takes them for the program's. */
export function quoted(text: string, maxChars = STATEMENT_CHARS): string {
  return `"${cut(visibleLine(text), maxChars).replaceAll('"', "'")}"`;
}
