/** A trace as text for a terminal. */
import type { AnswerRecord, SqlResult, SqlValue } from '../domain';
import { statedText } from '../text/answer-text';
import { keptText, uncheckedTexts, withheldTexts } from '../text/claim-text';
import { cell, counted, cut, dollars, noteText, usageText, wrapped } from './printable';
import { searchOutline, type Entry } from './search-outline';
import type { Trace } from './trace';
import { endedBecause } from './words';

const WIDTH = 160;
const ROWS = 3;
/** The most tables that are named of a large schema. */
const TABLES = 12;
const REPLY_LINES = 12;

export function renderTraceText(trace: Trace): string {
  const { record, input, state } = trace;
  const lines = [
    `${trace.searchId}  ${record?.status ?? 'running'}  ${cut(record?.question ?? input?.question.text ?? '', WIDTH)}`,
    `database ${cut(record?.database ?? input?.question.database ?? '?', 80)}, method ${record?.method ?? input?.settings.spec ?? '?'}`,
    ...schemaLines(trace),
    ...searchOutline(trace).flatMap(({ title, entries }) => [
      '',
      title,
      ...entries.flatMap((each) => entryLines(each)),
    ]),
  ];
  lines.push(...replyLines(trace));
  const candidates = state?.candidates ?? [];
  if (candidates.length > 0) lines.push('', 'Candidates');
  for (const candidate of candidates) {
    const equal = candidate.resultClass === candidate.id ? 'a result of its own' : `equal to ${candidate.resultClass}`;
    const standing =
      candidate.status === 'withdrawn' ? ', withdrawn' : candidate.openRisk > 0 ? ', rests on assumptions' : '';
    lines.push(
      `  ${candidate.id} from ${candidate.trajectory}: ${candidate.kind === 'rows' ? `${candidate.outcome}, ${counted(candidate.rowCount, 'row')}, ${equal}` : 'unanswerable'}${standing}`,
    );
  }
  const children = record?.children ?? [];
  if (children.length > 0) lines.push('', 'Searches that it started');
  for (const { id, method, status, llmCalls, costUsd, question } of children)
    lines.push(
      `  ${id} ${method}: ${status}, ${counted(llmCalls, 'model call')}, ${dollars(costUsd)}  ${cut(question, 80)}`,
    );
  const sources = record?.sources ?? [];
  if (sources.length > 0) lines.push('', 'Sources', ...sources.map((source) => `  ${sourceText(source)}`));
  const notes = record?.steering ?? [];
  if (notes.length > 0) lines.push('', 'Steering', ...notes.map((note) => `  ${cut(noteText(note), WIDTH)}`));
  lines.push(...layerLines(record));
  const usage = record?.usage ?? state?.usage;
  if (usage) lines.push('', usageText(usage));
  if (record)
    lines.push(
      `Ended because ${endedBecause(record.endedBy)}: ${cut(statedText(record) ?? record.reason ?? record.status, WIDTH)}`,
    );
  return lines.join('\n');
}

/** The whole text is in `gate show --trace --json` and in the report. */
function replyLines({ lastBadReply: reply }: Trace): string[] {
  if (reply === undefined) return [];
  const { id, model, finishReason, completionTokens, text } = reply;
  return [
    '',
    `Last reply of the model: ${id} (${cut(model, 80)}, finish reason ${cut(finishReason, 40)}, ${counted(completionTokens, 'output token')})`,
    ...wrapped(text.trim() === '' ? '(empty)' : text, WIDTH, REPLY_LINES).map((line) => `  ${line}`),
  ];
}

function schemaLines({ shownTables }: Trace): string[] {
  if (shownTables === undefined) return [];
  const { shown, tables } = shownTables;
  const listed = shown.slice(0, TABLES).map((each) => cut(each, 100));
  const more = shown.length > listed.length ? [`… ${shown.length - listed.length} more`] : [];
  const which = `columns of ${shown.length} of ${counted(tables, 'table')} shown, ranked by the question's words`;
  return [`schema: ${which}: ${[...listed, ...more].join(', ')}`];
}

function layerLines(record: AnswerRecord | null): string[] {
  if (record === null) return [];
  const kept = keptText(record);
  const told = [
    ...withheldTexts(record),
    ...uncheckedTexts(record),
    ...(kept === null ? [] : [`Kept for later questions: ${kept}`]),
  ];
  return told.length === 0 ? [] : ['', ...told.map((line) => cut(line, 2 * WIDTH))];
}

function sourceText({ url, fetchedAt, lookup }: NonNullable<AnswerRecord['sources']>[number]): string {
  return `${lookup === undefined ? '' : `[${lookup}] `}${cut(url, WIDTH)} (${fetchedAt})`;
}

function entryLines(entry: Entry, lead = '  ', inner = '  '): string[] {
  const { text, marks = [], sql, result, quoted, below = [], branches = [] } = entry;
  const marked = marks.map(({ says }) => ` · ${cut(says, 80)}`).join('');
  const body = `${inner}${branches.length > 0 ? '│ ' : '  '}`;
  const details = [
    ...(sql === undefined ? [] : [`query    ${cut(sql, WIDTH)}`]),
    ...(result === undefined ? [] : resultLines(result)),
    ...(quoted === undefined ? [] : [cut(quoted, WIDTH)]),
    ...below.flatMap((each) => entryLines(each, '', '')),
  ];
  return [
    ...(text === '' ? [] : [`${lead}${cut(text, 2 * WIDTH)}${marked}`]),
    ...details.map((line) => body + line),
    ...branches.flatMap((branch, at) => {
      const [fork, side] = at === branches.length - 1 ? ['└ ', '  '] : ['├ ', '│ '];
      return entryLines(branch, inner + fork, inner + side);
    }),
  ];
}

function resultLines(result: SqlResult): string[] {
  switch (result.kind) {
    case 'rows':
      return [
        `observed ${counted(result.rows.length, 'row')}${result.truncated ? ', cut' : ''}: ${result.columns.map(({ name }) => cut(name, 40)).join(' | ')}`,
        ...result.rows
          .slice(0, ROWS)
          .map((row) => `         ${cut(row.map((value: SqlValue) => cell(value)).join(' | '), WIDTH)}`),
      ];
    case 'sql-error':
      return [`SQL error: ${cut(result.message, WIDTH)}`];
    case 'timeout':
      return [`timeout after ${result.afterMs / 1000} s`];
    case 'refused':
      return [`refused: ${cut(result.message, WIDTH)}`];
    default:
      return result satisfies never;
  }
}
