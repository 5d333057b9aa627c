/**
 * The answer in words, made from the record alone: a sentence, how far it is proved, and what else a reader must know. The
 * sentence is the model's with its places filled; if there is no usable one, the program writes its own. Pure, so that the
 * same functions also serve a record whose rows were fetched again.
 */
import type { AnswerRecord, OpenAssumption, ResultColumn, SqlValue } from '../domain';
import { visibleLine } from './visible';
import { claimCaveats, claimsProvedText, declineTexts, uncheckedAssumptions, withheldTexts } from './claim-text';
import { coverageText } from '../sql/coverage';
import { cut } from './clip';
import { fillSentence, showsRows } from './sentence';
import { valueText } from './value-text';
import { counted, grouped } from '../counted';

type Answered = Pick<
  AnswerRecord,
  | 'sentence'
  | 'examined'
  | 'columns'
  | 'rows'
  | 'truncated'
  | 'coverage'
  | 'evidence'
  | 'claims'
  | 'openAssumptions'
  | 'layer'
>;
type Explained = Pick<AnswerRecord, 'evidence' | 'claims' | 'openAssumptions'>;

const SHOWN_COLUMNS = 6;
const NAME_CHARS = 40;
/** A single column with at most this many rows is listed completely. */
const LISTED_ROWS = 5;

/** The text stored in the record's `answer`. */
export function answerText(record: Answered): string {
  const sentence = headlineText(record);
  const isClosed = /[?!]$/.test(sentence);
  const proved = provedText(record);
  const first = isClosed ? `${sentence} ${capital(proved)}.` : `${sentence.replace(/\.$/, '')}; ${proved}.`;
  return [first, ...caveatTexts(record)].join('\n');
}

/** The answer as one sentence. */
export function headlineText(record: Answered): string {
  return filled(record) ?? rowsText(record);
}

/** The stored answer on one line, without the part about proof; null if the record has none. */
export function statedText(record: Answered & Pick<AnswerRecord, 'answer'>): string | null {
  const { answer, columns } = record;
  if (answer === null) return columns.length === 0 ? null : headlineText(record);
  const [first = ''] = answer.trim().split('\n');
  const proofs = [provedText(record), stepsText(record)];
  const ends = proofs.flatMap((proof) => [`; ${proof}.`, ` ${capital(proof)}.`]);
  const end = ends.find((each) => first.endsWith(each));
  return end === undefined ? first : first.slice(0, -end.length);
}

/**
 * How far it is proved, counted by the program and not taken from the model: by the claims where there are any recorded
 * (`proved: 20 of 20 laps`), else by the steps (`1 of 3 steps proved, 2 assumed`).
 */
export function provedText(record: Explained): string {
  return record.claims === undefined ? stepsText(record) : claimsProvedText(record.claims, record.openAssumptions);
}

/**
 * How much of an answer is proved: of its claims and assumptions, else of its steps, the share that is proved or makes no
 * difference. null: it gives no answer.
 */
export function provedShare(record: Explained & Pick<AnswerRecord, 'status'>): number | null {
  const { status, claims, evidence } = record;
  if (status !== 'answered') return null;
  const unchecked = uncheckedAssumptions(record).filter(({ kind }) => kind === 'assumption');
  const states = claims === undefined ? evidence : [...claims, ...unchecked.map(() => ({ state: 'open' }))];
  if (states.length === 0) return claims === undefined ? 0 : 1;
  return states.filter(({ state }) => state === 'proved' || state === 'immaterial').length / states.length;
}

function stepsText({ evidence }: Pick<AnswerRecord, 'evidence'>): string {
  const count = (state: AnswerRecord['evidence'][number]['state']): number =>
    evidence.filter((entry) => entry.state === state).length;
  const [proved, assumed, immaterial] = [count('proved'), count('assumed'), count('immaterial')];
  const all = evidence.length;
  if (all === 0) return 'not proved';
  return [
    `${proved} of ${counted(all, 'step')} proved`,
    ...(assumed > 0 ? [`${assumed} assumed`] : []),
    ...(immaterial > 0 ? [`${immaterial} ${immaterial === 1 ? 'makes' : 'make'} no difference`] : []),
  ].join(', ');
}

/**
 * What must be told with the sentence: how much it covers, what is not shown of what it claims, or what speaks against what
 * it assumes, what was proved before and holds no longer, the rows of a list, rows not fetched, other readings that the question allows.
 */
export function caveatTexts(record: Answered): string[] {
  const { sentence = '', rows, truncated, coverage } = record;
  const partial = coverage === undefined ? null : coverageText(coverage);
  const summarised = filled(record) !== null && rows.length > 1 && !showsRows(sentence);
  return [
    ...(partial === null ? [] : [partial]),
    ...(record.claims === undefined ? record.evidence.flatMap(againstTexts) : claimCaveats(record)),
    ...withheldTexts(record),
    ...(summarised ? [`${capital(listText(record))}.`] : []),
    ...(truncated
      ? [
          `Only the first ${rows.length === 1 ? 'row was' : `${grouped(rows.length)} rows were`} fetched; the result has more.`,
        ]
      : []),
    ...record.openAssumptions.filter(({ kind }) => kind === 'open-by-wording').map(wordingText),
  ];
}

/** Why there is no answer, and the counts that show it. */
export function reasonTexts({ reason, claims }: Pick<AnswerRecord, 'reason' | 'claims'>): string[] {
  return [...(reason === null ? [] : [reason]), ...declineTexts({ claims })];
}

function filled({ sentence, columns, rows, truncated, examined }: Answered): string | null {
  if (sentence === undefined) return null;
  const text = fillSentence(sentence, { columns, rows, truncated, examined: examined?.count });
  return text === null ? null : capital(text.replace(/\.$/, ''));
}

/** The program's own sentence, for any result. */
function rowsText(record: Answered): string {
  const { rows, columns, truncated } = record;
  const [first] = rows;
  if (first === undefined) return 'No rows';
  if (rows.length > 1 || truncated)
    return `${truncated ? 'More than ' : ''}${counted(rows.length, 'row')}: ${listText(record)}`;
  return columns.length === 1 ? capital(rowText(first, columns)) : rowText(first, columns);
}

function listText({ rows, columns, truncated }: Answered): string {
  const last = rows.at(-1) ?? [];
  if (columns.length === 1 && rows.length <= LISTED_ROWS && !truncated)
    return rows.map((row) => rowText(row, columns)).join(', ');
  return `first ${rowText(rows[0] ?? [], columns)}${truncated ? '' : `; last ${rowText(last, columns)}`}`;
}

function rowText(row: readonly SqlValue[], columns: readonly ResultColumn[]): string {
  const value = ({ kind }: ResultColumn, at: number): string => valueText(row[at] ?? null, kind);
  const [only] = columns;
  if (columns.length === 1 && only !== undefined) return value(only, 0);
  const cells = columns
    .slice(0, SHOWN_COLUMNS)
    .map((column, at) => `${cut(visibleLine(column.name), NAME_CHARS)} ${value(column, at)}`);
  const more = columns.length - cells.length;
  return [...cells, ...(more > 0 ? [counted(more, 'more column')] : [])].join(', ');
}

function againstTexts({ reading, against = [] }: AnswerRecord['evidence'][number]): string[] {
  return against.map(
    (text) => `Assumed all the same: ${visibleLine(reading).replace(/\.$/, '')} (${visibleLine(text)}).`,
  );
}

function wordingText({ statement, alternative }: OpenAssumption): string {
  const taken = `Read as: ${visibleLine(statement)}.`;
  if (alternative === null) return taken;
  return `${taken} Read as "${visibleLine(alternative.reading)}" it would be: ${visibleLine(alternative.gives)}.`;
}

/** Removes line breaks, so that a name or reading cannot pass for a line of its own. */
function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
