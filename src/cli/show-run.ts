/** What `gate show` prints. */
import { openApp } from '../app/app';
import { GateError } from '../app/errors';
import { outageText } from '../app/outages';
import { knowledge, standing, type Knowledge, type Plans, type SearchStatus } from '../app/read';
import { difference, tokensBy, traceOf, writeReport } from '../app/report';
import type { CandidateView, OperatorView } from '../domain';
import { renderDiffText, renderTraceText, tokensTable } from '../report';
import { counted, cut, dollars, statementsText, visible } from '../report/printable';
import { STATE_WORDS, STEP_STATES } from '../report/words';
import { EXIT, type ExitCode } from './exit';
import { eventPrinter } from './follow';
import { watchInterrupts } from './interrupts';
import type { Io } from './io';
import { printAnswer } from './print-answer';
import { textTable } from './table';

export interface ShowFlags {
  readonly wait?: boolean;
  readonly sql?: boolean;
  readonly csv?: boolean;
  readonly plan?: boolean;
  readonly trace?: boolean;
  readonly tokens?: boolean;
  readonly report?: string;
  readonly diff?: string;
  readonly json?: boolean;
}

export async function runShow(wanted: string, flags: ShowFlags, io: Io): Promise<ExitCode> {
  const printer = eventPrinter(io);
  const app = openApp(io, printer.onEvent);
  const print = (value: unknown, text: string): ExitCode => {
    io.out(`${flags.json ? JSON.stringify(value, null, 2) : text}\n`);
    return EXIT.ok;
  };
  if (flags.diff !== undefined) {
    const diff = await difference(wanted, flags.diff, app);
    return print(diff, renderDiffText(diff));
  }
  if (flags.report !== undefined) {
    const report = await writeReport(wanted, app, { out: flags.report });
    return print({ report }, report);
  }
  if (flags.tokens) {
    const tokens = await tokensBy(wanted, app);
    const { heads, rows } = tokensTable(tokens);
    return print(tokens, `Tokens in by part, and out\n${textTable(heads, rows, { width: io.columns, indent: '  ' })}`);
  }
  if (flags.trace) {
    const trace = await traceOf(wanted, app);
    return print(trace, renderTraceText(trace));
  }
  if (flags.plan) {
    const known = await knowledge(wanted, app);
    const { plan, updates, facts, candidates } = known;
    const parts = [
      planText(plan, io.columns),
      provedText('Updates', updates, io.columns),
      provedText('Facts', facts, io.columns),
      candidatesText(candidates, io.columns),
    ];
    return print(known, parts.join('\n\n'));
  }
  const interrupts = watchInterrupts(io);
  // An interrupt ends the waiting; the search is not this command's own.
  const patience = flags.wait ? { leave: interrupts.asked } : undefined;
  const status = await standing(wanted, app, patience).finally(() => {
    printer.stop();
    interrupts.stopListening();
  });
  const { record, ...rest } = status;
  if (record !== null) return printAnswer(app, { ...status, record }, io, flags);
  if (flags.wait || flags.sql || flags.csv) throw new GateError(`${status.id} has no result: ${whyNot(status)}`);
  return print(rest, statusText(status, io.now()));
}

function whyNot({ id, status, next }: SearchStatus): string {
  if (status === 'running' || status === 'paused') return `it still runs; add --wait, or look with gate show ${id}`;
  if (status === 'waiting') return 'its batch has not begun it';
  return status === 'unknown' ? 'it may still run' : `it was interrupted; ${next ?? ''}`;
}

function statusText(status: SearchStatus, nowMs: number): string {
  const { usage, doing, learned, reason, ui, traceId, next } = status;
  return [
    `${status.id}  ${status.status}  ${status.question ?? ''}`,
    reason === null ? null : visible(reason),
    doing,
    learned === null ? null : `learned: ${learned}`,
    usage === null
      ? null
      : `${counted(usage.llmCalls, 'model call')}, ${dollars(usage.costUsd)}, ${statementsText(usage)}`,
    ...status.outages.map((outage) => outageText(outage, nowMs)),
    ui === null ? null : `UI ${ui}`,
    traceId === null ? null : `trace ${traceId}`,
    next,
  ]
    .filter((line) => line !== null)
    .join('\n');
}

function planText(plans: Plans, width: number): string {
  const made = plans.filter(({ plan }) => plan !== null);
  const newest = made.at(-1);
  if (!newest?.plan) return 'No plan yet';
  const others = made.length === 1 ? '' : ` (the newest of ${made.length}; --json shows all)`;
  const rows = newest.plan.operators.map((operator) => [
    operator.name,
    stateOf(operator),
    operator.updateId ?? '',
    operator.intent,
  ]);
  return `Plan of ${newest.trajectory}${others}\n${textTable(['operator', 'state', 'update', 'intent'], rows, { width, indent: '  ', whole: 3 })}`;
}

function stateOf({ state, risk, immaterial }: OperatorView): string {
  if (immaterial !== null) return STATE_WORDS.immaterial.says;
  const { says } = STEP_STATES[state];
  return state === 'assumed' ? `${says}, risk ${Math.round(risk * 100)} %` : says;
}

function provedText(title: string, proved: Knowledge['facts'] | Knowledge['updates'], width: number): string {
  if (proved.length === 0) return `No ${title.toLowerCase()} yet`;
  const rows = proved.map(({ id, status, says }) => [id, status, cut(says, 200)]);
  return `${title}\n${textTable(['id', 'status', 'says'], rows, { width, indent: '  ', whole: 2 })}`;
}

function candidatesText(candidates: readonly CandidateView[], width: number): string {
  if (candidates.length === 0) return 'No candidates yet';
  const rows = candidates.map((candidate) => [
    candidate.id,
    candidate.status,
    candidate.kind === 'rows' ? candidate.outcome : candidate.kind,
    candidate.rowCount,
    candidate.resultClass === candidate.id ? '' : candidate.resultClass,
    `${Math.round(candidate.openRisk * 100)} %`,
    candidate.trajectory,
  ]);
  const head = ['id', 'status', 'outcome', 'rows', 'equal to', 'open risk', 'trajectory'];
  return `Candidates\n${textTable(head, rows, { width, indent: '  ', whole: 2 })}`;
}
