/** The final record for a person: answer, SQL, rows, the evidence for every assumption, what stays open, usage. */
import type { AnswerRecord, Claim, Evidence, SteeringNote } from '../domain';
import { cell, counted, cut, duration, noteText, usageText, visible, wrapped } from '../report/printable';
import {
  asOfText,
  CLAIM_WORDS,
  endedBecause,
  filesText,
  OPEN_WORDS,
  replacedTexts,
  STATE_WORDS,
} from '../report/words';
import { otherReadingText, SHOWN_ROWS, standingTexts, tellsRow, toldTexts } from '../text/answer-text';
import { standingOf } from '../text/standing';
import { figuresText, isToldByClaims, keptText, provedBeforeText, quoted, rivalText } from '../text/claim-text';
import { isAbsence } from '../sql/claims';
import { formattedSql } from '../report/sql-section';
import { textTable } from './table';

const OBSERVED_ROWS = 3;
/** The most lines of a reading, a probe or a reason; the report has the whole text. */
const TEXT_LINES = 4;

export interface Places {
  readonly report: string | null;
  readonly ui: string | null;
  /** Of its trace (docs/telemetry.md). */
  readonly traceId?: string | null;
  /** The database as commands name it. */
  readonly db?: string;
}

/** What `--json` prints: the record, and where its report and the Temporal UI are. */
export function answerJson(record: AnswerRecord, places: Places): string {
  const standing = standingOf(record);
  const { report, ui, traceId = null } = places;
  const told = record.sql === null || standing === null ? [] : standingTexts(record);
  return `${JSON.stringify({ ...record, standing, told, report, ui, traceId }, null, 2)}\n`;
}

export function answerText(record: AnswerRecord, places: Places, width: number): string {
  // The headline of a decline has its claims.
  const claims = (record.claims ?? []).filter((claim) => !isAbsence(claim));
  const evidence = record.evidence.filter((entry) => !isToldByClaims(entry, record.claims));
  // The headline has what an answer rests on.
  const open = record.sql === null ? record.openAssumptions : [];
  const kept = keptText(record);
  const files = filesText(record);
  const sections = [
    headline(record),
    ...(record.after === undefined ? [] : [footLines('After', followsText(record), width).join('\n')]),
    ...replacedTexts(record).map((line) => wrapped(line, width, TEXT_LINES).join('\n')),
    ...(record.sql === null ? [] : [`SQL\n${indented(formattedSql(record.sql))}`]),
    ...(record.columns.length === 0 || tellsRow(record) ? [] : [rowsText(record, width)]),
    ...(claims.length === 0 ? [] : [`Claims\n${claims.map((claim) => claimText(claim, width)).join('\n')}`]),
    ...(evidence.length === 0 ? [] : [`Evidence\n${evidence.map((entry) => evidenceText(entry, width)).join('\n')}`]),
    ...(open.length === 0 ? [] : [openText(open, width)]),
    ...(record.layer?.open === undefined
      ? []
      : [openQuestionsText(record.layer.open, places.db ?? record.database, width)]),
    ...(record.sources === undefined ? [] : [sourcesText(record.sources, width)]),
    ...(record.failedLookups === undefined ? [] : [failedText(record.failedLookups, width)]),
    ...(record.steering === undefined ? [] : [saidText(record.steering, width)]),
    ...(record.givenUp === undefined ? [] : [givenUpText(record.givenUp, width)]),
    [
      usedText(record),
      `Ended   because ${endedBecause(record.endedBy)}`,
      ...footLines('As of', asOfText(record), width),
      ...(files === null ? [] : footLines('Files', files, width)),
      ...(kept === null ? [] : footLines('Kept', `for later questions: ${kept}`, width)),
      ...(places.report ? [`Report  ${places.report}`] : []),
      ...(places.ui ? [`UI      ${places.ui}`] : []),
      ...(places.traceId ? [`Trace   ${places.traceId}`] : []),
    ].join('\n'),
  ];
  return `${sections.join('\n\n')}\n`;
}

function followsText({ after = '', understoodAs }: AnswerRecord): string {
  return `${after}${understoodAs === undefined ? '' : `, understood as: ${understoodAs}`}`;
}

/** What no data can decide, with the command that answers each. */
export function openQuestionsText(
  questions: readonly { readonly questionId: string; readonly text: string }[],
  db: string,
  width: number,
): string {
  const lines = questions.flatMap(({ questionId, text }) => [
    ...wrapped(visible(text), width - 2, TEXT_LINES).map((line) => `  ${line}`),
    `    gate layer answer ${questionId.slice(0, 7)} "…" --db ${db}`,
  ]);
  return ['To be decided by a person', ...lines].join('\n');
}

const WORDS: Readonly<Record<AnswerRecord['status'], string>> = {
  answered: 'Answer',
  unanswerable: 'Unanswerable',
  abstained: 'No answer (abstained)',
  cancelled: 'Cancelled',
  failed: 'Failed',
};

function headline(record: AnswerRecord): string {
  return `${WORDS[record.status]}  ${toldTexts(record).join('\n') || 'none'}`;
}

function rowsText({ columns, rows, truncated, ordered = false }: AnswerRecord, width: number): string {
  const shown = rows.slice(0, SHOWN_ROWS);
  const total = `${truncated ? 'more than ' : ''}${counted(rows.length, 'row')}`;
  const title =
    shown.length < rows.length ? `Rows (${ordered ? 'first ' : ''}${shown.length} of ${total})` : `Rows (${total})`;
  return `${title}\n${textTable(
    columns.map(({ name }) => name),
    shown,
    { width, indent: '  ' },
  )}`;
}

function evidenceText(entry: Evidence, width: number): string {
  const line = (label: string, text: string): string => `    ${label.padEnd(9)} ${cut(text, width - 14)}`;
  const paragraph = (label: string, text: string): string[] =>
    wrapped(text, width - 14, TEXT_LINES).map((part, at) => line(at === 0 ? label : '', part));
  const state = STATE_WORDS[entry.state].says;
  const lines = [
    `  ${entry.operator}  ${state}  ${cut(entry.intent, width - entry.operator.length - state.length - 6)}`,
  ];
  lines.push(...paragraph('kept', entry.reading));
  if (entry.probe !== null) lines.push(...paragraph('probe', entry.probe));
  if (entry.observed !== null) {
    const { columns, rows, rowCount } = entry.observed;
    lines.push(line('observed', columns.join(' | ')));
    for (const row of rows.slice(0, OBSERVED_ROWS)) lines.push(line('', row.map(cell).join(' | ')));
    if (rowCount > OBSERVED_ROWS) lines.push(line('', `… ${counted(rowCount - OBSERVED_ROWS, 'more row')}`));
  }
  for (const { reading, verdict, reason } of entry.rejected)
    lines.push(...paragraph('rejected', `${reading} (${verdict}: ${reason})`));
  for (const text of entry.against ?? []) lines.push(...paragraph('against', text));
  for (const url of entry.sources ?? []) lines.push(line('cites', url));
  if (entry.reusedFrom !== null) lines.push(line('reused', `from ${entry.reusedFrom}`));
  return lines.join('\n');
}

function claimText(claim: Claim, width: number): string {
  const { operator, state, statement, reason, rivals } = claim;
  const paragraph = (label: string, text: string): string[] =>
    wrapped(text, width - 14, TEXT_LINES).map((part, at) => `    ${(at === 0 ? label : '').padEnd(9)} ${part}`);
  const because = state === 'failed' || state === 'open' ? reason : null;
  const before = provedBeforeText(claim);
  const name = operator ?? '';
  const { says } = CLAIM_WORDS[state];
  const whole = `${says}: ${quoted(statement, Infinity)}`;
  const isShort = whole.length <= width - name.length - 4;
  return [
    `  ${name}  ${isShort ? whole : says}`,
    ...(isShort ? [] : paragraph('claimed', statement)),
    ...paragraph('counted', figuresText(claim)),
    ...(because === null ? [] : paragraph('because', because)),
    ...(before === null ? [] : paragraph('known', before)),
    ...rivals.flatMap((rival) => paragraph('rival', `${rival.reading} (${rivalText(rival)})`)),
  ].join('\n');
}

function openText(assumptions: AnswerRecord['openAssumptions'], width: number): string {
  const lines = assumptions.flatMap((open) => {
    const where = open.operator === null ? '' : `${open.operator}: `;
    const other = otherReadingText(open);
    return bullet([`${where}${open.statement} (${OPEN_WORDS[open.kind]})`, ...(other === null ? [] : [other])], width);
  });
  return `Open assumptions\n${lines.join('\n')}`;
}

function sourcesText(sources: NonNullable<AnswerRecord['sources']>, width: number): string {
  const lines = sources.map(({ url, title, fetchedAt, lookup }) => {
    const named = `${lookup === undefined ? '' : `[${lookup}] `}${url}${title === null ? '' : `  ${title}`}  (${fetchedAt.slice(0, 16).replace('T', ' ')} UTC)`;
    return `  - ${cut(named, width - 4)}`;
  });
  return `Sources\n${lines.join('\n')}`;
}

function failedText(failed: NonNullable<AnswerRecord['failedLookups']>, width: number): string {
  const lines = failed.map(({ request, reason }) => `  - ${cut(request, 60)}: ${cut(reason, width - 4)}`);
  return `Web lookups that failed\n${lines.join('\n')}`;
}

/** Steps may be given up while others give an answer; both are shown. */
function givenUpText(givenUp: NonNullable<AnswerRecord['givenUp']>, width: number): string {
  const lines = givenUp.flatMap(({ step, cause }) => bullet([`${step}: ${cause}`], width));
  return `Steps given up, because the model's replies could not be used (gate show --trace shows the last one)\n${lines.join('\n')}`;
}

function saidText(steering: readonly SteeringNote[], width: number): string {
  const lines = steering.flatMap((note) => bullet([noteText(note)], width));
  return `Steering\n${lines.join('\n')}`;
}

function usedText({ usage, method, startedAt, endedAt }: AnswerRecord): string {
  const wallMs = Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
  return `Usage   ${usageText(usage)}, ${duration(wallMs)}; method ${method}`;
}

function footLines(label: string, text: string, width: number): string[] {
  return wrapped(text, width - 8, TEXT_LINES).map((part, at) => `${(at === 0 ? label : '').padEnd(8)}${part}`);
}

function bullet(texts: readonly string[], width: number): string[] {
  const lines = texts.flatMap((text) => wrapped(text, width - 4, TEXT_LINES));
  return lines.map((line, at) => `${at === 0 ? '  - ' : '    '}${line}`);
}

function indented(text: string): string {
  return visible(text)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
