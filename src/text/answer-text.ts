/**
 * The answer in words, made from the record alone: a sentence, how far it is proved, and what else a reader must know. The
 * sentence is the model's with its places filled; if there is no usable one, the program writes its own. Pure, so that the
 * same functions also serve a record whose rows were fetched again.
 */
import type { AnswerRecord, OpenAssumption, ResultColumn, SqlValue } from '../domain';
import { visibleLine } from './visible';
import { asideTexts, claimCaveats, declineTexts, withheldTexts } from './claim-text';
import { provedText } from './standing';
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
  | 'notUsed'
  | 'notLookedAt'
>;

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
  const proof = provedText(record);
  const ends = [`; ${proof}.`, ` ${capital(proof)}.`];
  const end = ends.find((each) => first.endsWith(each));
  return end === undefined ? first : first.slice(0, -end.length);
}

/**
 * What must be told with the sentence: how much it covers, what is not shown of what it claims, or what speaks against what
 * it assumes, what it leaves aside, what was proved before and holds no longer, the rows of a list, rows not fetched, other readings that the question allows.
 */
export function caveatTexts(record: Answered): string[] {
  const { sentence = '', rows, truncated, coverage } = record;
  const partial = coverage === undefined ? null : coverageText(coverage);
  const summarised = filled(record) !== null && rows.length > 1 && !showsRows(sentence);
  return [
    ...(partial === null ? [] : [partial]),
    ...(record.claims === undefined ? record.evidence.flatMap(againstTexts) : claimCaveats(record)),
    ...asideTexts(record),
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
