/**
 * The answer in words, made from the record alone: a sentence, how far it is proved, and what else a reader must know. The
 * sentence is the model's with its places filled; if there is no usable one, the program writes its own. Pure, so that the
 * same functions also serve a record whose rows were fetched again.
 */
import { counted } from '../counted';
import type { AnswerRecord, OpenAssumption, ResultColumn, SqlValue } from '../domain';
import { coverageText } from '../sql/coverage';
import { asideTexts, claimCaveats, declineTexts, definedTexts, provedTexts, withheldTexts } from './claim-text';
import { cut, visible, visibleLine } from '../clip';
import { isToldWhole, valueText } from './result-text';
import { fillSentence, showsColumns, showsRows } from './sentence';
import { declineText, standingOf, standingText } from './standing';

type Answered = Pick<
  AnswerRecord,
  | 'sentence'
  | 'examined'
  | 'columns'
  | 'rows'
  | 'truncated'
  | 'ordered'
  | 'coverage'
  | 'evidence'
  | 'claims'
  | 'openAssumptions'
  | 'layer'
  | 'usedWithoutCheck'
  | 'defined'
  | 'notUsed'
  | 'notLookedAt'
>;

const SHOWN_COLUMNS = 6;
const NAME_CHARS = 40;
/** Rows that a text shows with the answer. Where they are all there, no sentence repeats one. */
export const SHOWN_ROWS = 20;

/** The answer as one sentence: the record's `answer`. */
export function headlineText(record: Answered): string {
  const sentence = filled(record);
  if (sentence === null) return rowsText(record);
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}

/**
 * What a reader must know with the sentence, a line each: how far it is proved, what is proved, what stored rows define, then
 * its doubts (`caveatTexts`).
 */
export function standingTexts(record: Answered): string[] {
  return [`${capital(standingText(record))}.`, ...provedTexts(record), ...definedTexts(record), ...caveatTexts(record)];
}

/** Whether the answer is one row whose every value the sentence says: no table has more. */
export function tellsRow(record: Answered & Pick<AnswerRecord, 'answer'>): boolean {
  const { rows, columns, sentence = '' } = record;
  const [row] = rows;
  if (row === undefined || isList(record) || statedText(record) !== headlineText(record)) return false;
  const isNamed = filled(record) === null ? columns.length <= SHOWN_COLUMNS : showsColumns(sentence, columns);
  return isNamed && columns.every(({ kind }, at) => isToldWhole(row[at] ?? null, kind));
}

/** The answer on one line; null if the record has none. */
export function statedText(record: Answered & Pick<AnswerRecord, 'answer'>): string | null {
  const { answer, columns } = record;
  if (answer !== null) return answer.trim().split('\n')[0] ?? '';
  return columns.length === 0 ? null : headlineText(record);
}

/**
 * Caveats that must be told with the sentence: how much it covers; claims that are not shown, or what speaks against
 * assumptions; what is left aside; what was proved before and holds no longer; the ends of a list; rows not fetched; other
 * readings that the question allows.
 */
export function caveatTexts(record: Answered): string[] {
  const { sentence = '', rows, truncated, coverage } = record;
  const partial = coverage === undefined ? null : coverageText(coverage);
  const summarised = filled(record) !== null && hasEnds(record) && !showsRows(sentence);
  return [
    ...(partial === null ? [] : [partial]),
    ...(record.claims === undefined ? record.evidence.flatMap(againstTexts) : []),
    ...claimCaveats(record),
    ...asideTexts(record),
    ...withheldTexts(record),
    ...(summarised ? [`${capital(endsText(record))}.`] : []),
    ...(truncated
      ? [`Only ${counted(rows.length, 'row')} ${rows.length === 1 ? 'was' : 'were'} fetched; the result has more.`]
      : []),
    ...record.openAssumptions.filter(({ kind }) => kind === 'open-by-wording').map(wordingText),
  ];
}

/** The reading of the question's words that was taken, and what another gives. */
export function wordingText(open: OpenAssumption): string {
  const other = otherReadingText(open);
  return `Read as: ${visibleLine(open.statement).replace(/\.$/, '')}.${other === null ? '' : ` ${other}`}`;
}

/** The answer and all that must be told with it, or why there is none: a line each. */
export function toldTexts(record: AnswerRecord): string[] {
  const { answer, sql } = record;
  return [
    answer ?? statedText(record),
    ...(sql === null || standingOf(record) === null ? [] : standingTexts(record)),
    ...reasonTexts(record),
    declineText(record),
    ...(sql === null ? [...withheldTexts(record), ...asideTexts(record)] : []),
  ]
    .filter((text) => text !== null)
    .map((text) => visible(text));
}

/** Why there is no answer, and the counts that show it. */
export function reasonTexts({ reason, claims }: Pick<AnswerRecord, 'reason' | 'claims'>): string[] {
  return [...(reason === null ? [] : [reason]), ...declineTexts({ claims })];
}

function filled(record: Answered): string | null {
  const { sentence, columns, rows, truncated, examined } = record;
  if (sentence === undefined || (isList(record) && showsRows(sentence) && !hasEnds(record))) return null;
  const text = fillSentence(sentence, { columns, rows, truncated, examined: examined?.count });
  return text === null ? null : capital(text.replace(/\.$/, ''));
}

/** The program's own sentence, for any result. */
function rowsText(record: Answered): string {
  const { rows, columns, truncated } = record;
  const [first] = rows;
  if (first === undefined) return 'No rows';
  if (!isList(record)) return columns.length === 1 ? capital(rowText(first, columns)) : rowText(first, columns);
  const size = `${truncated ? 'More than ' : ''}${counted(rows.length, 'row')}`;
  return hasEnds(record) ? `${size}: ${endsText(record)}` : size;
}

function isList({ rows, truncated }: Answered): boolean {
  return rows.length > 1 || truncated;
}

/** Whether its first and last row mean something, and say more than the rows beside them. */
function hasEnds({ rows, ordered = false }: Answered): boolean {
  return ordered && rows.length > SHOWN_ROWS;
}

function endsText({ rows, columns, truncated }: Answered): string {
  const last = truncated ? '' : `; last ${rowText(rows.at(-1) ?? [], columns)}`;
  return `first ${rowText(rows[0] ?? [], columns)}${last}`;
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

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The result of another reading, in words; null: it is not known. */
export function otherReadingText({ alternative }: OpenAssumption): string | null {
  return alternative && `Read as "${visibleLine(alternative.reading)}" it would be: ${visibleLine(alternative.gives)}.`;
}
