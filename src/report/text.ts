/** A trace as text for a terminal: the tree of trajectories, and under each the attempts with what they showed. */
import type { AnswerRecord, Claim, HelperReport, SqlResult, SqlValue, WebObservation } from '../domain';
import { statedText } from '../text/answer-text';
import { keptText, provedBeforeText, uncheckedTexts, withheldTexts } from '../text/claim-text';
import { claimText } from '../sql/claims';
import { cell, counted, cut, dollars, noteText, tokensText, wrapped } from './printable';
import { searchTree, type AttemptNode, type TestNode, type TrajectoryNode, type TurnNode } from './tree';
import type { Trace } from './trace';
import { endedBecause, TURN_WORDS } from './words';

const WIDTH = 160;
const ROWS = 3;
/** Of a large schema, best first. */
const TABLES = 12;
const REPLY_LINES = 12;

export function renderTraceText(trace: Trace): string {
  const { record, input, state } = trace;
  const tree = searchTree(trace);
  const lines = [
    `${trace.searchId}  ${record?.status ?? 'running'}  ${cut(record?.question ?? input?.question.text ?? '', WIDTH)}`,
    `database ${cut(record?.database ?? input?.question.database ?? '?', 80)}, method ${record?.method ?? input?.settings.spec ?? '?'}`,
    ...schemaLines(trace),
    '',
    ...(tree.conversation.length === 0 ? [] : ['Conversation', ...tree.conversation.flatMap(turnLines), '']),
    ...tree.roots.flatMap((root) => trajectoryLines(root, '', '', trace)),
  ];
  if (tree.lookups.length > 0)
    lines.push('Lookups on the web', ...tree.lookups.flatMap((lookup) => attemptLines(lookup, '  ')));
  for (const attempt of tree.loose) lines.push(...attemptLines(attempt, '  '));
  for (const event of state?.events ?? []) {
    lines.push(`! iteration ${event.iteration}: ${event.kind} ${event.subject}: ${cut(event.detail, WIDTH)}`);
  }
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
  if (usage) {
    const possibly = usage.possiblyBilledCalls > 0 ? ` (and ${usage.possiblyBilledCalls} possibly billed)` : '';
    lines.push(
      '',
      `${counted(usage.llmCalls, 'model call')}${possibly}, ${tokensText(usage)}, ${dollars(usage.costUsd)}, ${counted(usage.sqlExecutions, 'SQL statement')}${usage.lookups === undefined ? '' : `, ${counted(usage.lookups, 'lookup')}`}`,
    );
  }
  if (record)
    lines.push(
      `Ended because ${endedBecause(record.endedBy)}: ${cut(statedText(record) ?? record.reason ?? record.status, WIDTH)}`,
    );
  return lines.join('\n');
}

/** The whole text is in `gate trace --json` and in the report. */
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

function turnLines({ id, action, said, candidate, claims, looks }: TurnNode): string[] {
  const made = candidate === null ? '' : ` · candidate ${candidate}`;
  return [
    `  ${id} ${TURN_WORDS[action]}${said === '' ? '' : `: ${cut(said, WIDTH)}`}${made}`,
    ...claims.flatMap(claimLines).map((line) => `    ${indented(line)}`),
    ...looks.flatMap(({ tests }) => tests.flatMap((test) => lookLines(test).map((line) => `    ${line}`))),
  ];
}

function claimLines(claim: Claim): string[] {
  const before = provedBeforeText(claim);
  return [...claimText(claim).split('\n'), ...(before === null ? [] : [`  ${before}`])];
}

/** `cut` takes blanks at the beginning away. */
function indented(line: string): string {
  return `${line.startsWith(' ') ? '  ' : ''}${cut(line, WIDTH)}`;
}

function lookLines({ why, probeSql, result }: TestNode): string[] {
  return [...(why === null ? [] : [cut(why, WIDTH)]), `  query    ${cut(probeSql, WIDTH)}`, ...resultLines(result)];
}

function trajectoryLines(node: TrajectoryNode, lead: string, inner: string, trace: Trace): string[] {
  const { trajectory, changes, attempts, candidates, children } = node;
  const changed = changes
    .map(({ operator, from, to }) => `${operator} ${from === null ? '' : `${from} -> `}${to}`)
    .join(', ');
  const marks = [
    ...candidates.map(({ id }) => `candidate ${id}`),
    ...(trajectory.mergedInto === null ? [] : [`into ${trajectory.mergedInto}`]),
  ];
  const bottleneck = trajectory.bottleneck === null ? '' : `, bottleneck ${trajectory.bottleneck}`;
  const outline =
    trajectory.plan && trajectory.via.endsWith('plan') ? trace.plans[trajectory.plan.planId]?.outline : undefined;
  const body = children.length > 0 ? `${inner}│ ` : `${inner}  `;
  return [
    `${lead}${trajectory.id} [${trajectory.status}] iteration ${trajectory.iteration} ${trajectory.via}${changed && `: ${changed}`}${marks.map((mark) => ` · ${mark}`).join('')}`,
    ...(outline ? [`${body}${cut(outline, WIDTH)}`] : []),
    ...(trajectory.via === 'root'
      ? []
      : [
          `${body}progress ${Math.round(trajectory.progress * 100)} %, distance ${trajectory.distance}, potential ${trajectory.potential}${bottleneck}`,
        ]),
    ...attempts.flatMap((attempt) => attemptLines(attempt, body)),
    ...children.flatMap((child, index) => {
      const last = index === children.length - 1;
      return trajectoryLines(child, `${inner}${last ? '└ ' : '├ '}`, `${inner}${last ? '  ' : '│ '}`, trace);
    }),
  ];
}

function attemptLines(attempt: AttemptNode, indent: string): string[] {
  const note = attempt.note === null ? [] : [`${indent}${cut(attempt.note, WIDTH)}`];
  if (attempt.web !== null) note.push(...webLines(attempt.id, attempt.web).map((line) => indent + line));
  note.push(...attempt.helpers.flatMap((helper) => helperLines(attempt.id, helper).map((line) => indent + line)));
  return [...note, ...attempt.tests.flatMap((test) => testLines(attempt.id, test).map((line) => indent + line))];
}

function webLines(id: string, { tool, request, outcome, text, citations }: WebObservation): string[] {
  return [
    `attempt ${id}: ${tool} ${cut(request, WIDTH)}`,
    `  ${outcome}${citations.length > 0 ? ` (${counted(citations.length, 'source')})` : ''}: ${cut(text, WIDTH)}`,
  ];
}

function helperLines(id: string, { task, helper, outcome, text }: HelperReport): string[] {
  return [
    `attempt ${id}: subtask ${cut(task, WIDTH)}`,
    `  ${outcome}${helper === null ? '' : ` (${helper})`}: ${cut(text, WIDTH)}`,
  ];
}

function testLines(id: string, test: TestNode): string[] {
  return [
    `attempt ${id} on ${test.operator}${test.why === null ? '' : `: ${cut(test.why, WIDTH)}`}`,
    `  probe    ${cut(test.probeSql, WIDTH)}`,
    ...resultLines(test.result),
    ...test.hypotheses.flatMap((hypothesis) => {
      const verdict = hypothesis.verdict?.verdict ?? 'not judged';
      return [
        `  ${hypothesis.won ? '*' : ' '} ${hypothesis.id} ${verdict}: ${cut(hypothesis.mapping, WIDTH)}`,
        ...hypothesis.predicates.map(
          ({ sql, outcome, note }) => `      ${outcome}: ${cut(sql, WIDTH)}${note ? ` (${cut(note, 80)})` : ''}`,
        ),
        ...(hypothesis.agreement
          ? [`      agrees in ${hypothesis.agreement.matching} of ${counted(hypothesis.agreement.examined, 'row')}`]
          : []),
        ...hypothesis.notes.map((note) => `      ${cut(note, WIDTH)}`),
        ...(hypothesis.verdict?.reason ? [`      ${cut(hypothesis.verdict.reason, WIDTH)}`] : []),
        ...(hypothesis.verdict?.overruled
          ? [`      overruled by the data: ${cut(hypothesis.verdict.overruled, WIDTH)}`]
          : []),
      ];
    }),
    ...(test.materiality?.immaterial ? [`  immaterial: ${cut(test.materiality.reason, WIDTH)}`] : []),
    ...test.rejected.map((error) => `  SQL refused: ${cut(error, WIDTH)}`),
    ...(test.summary ? [`  learned  ${cut(test.summary, WIDTH)}`] : []),
  ];
}

function resultLines(result: SqlResult): string[] {
  switch (result.kind) {
    case 'rows':
      return [
        `  observed ${counted(result.rows.length, 'row')}${result.truncated ? ', cut' : ''}: ${result.columns.map(({ name }) => cut(name, 40)).join(' | ')}`,
        ...result.rows
          .slice(0, ROWS)
          .map((row) => `           ${cut(row.map((value: SqlValue) => cell(value)).join(' | '), WIDTH)}`),
      ];
    case 'sql-error':
      return [`  SQL error: ${cut(result.message, WIDTH)}`];
    case 'timeout':
      return [`  timeout after ${result.afterMs / 1000} s`];
    case 'refused':
      return [`  refused: ${cut(result.message, WIDTH)}`];
    default:
      return result satisfies never;
  }
}
