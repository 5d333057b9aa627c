/**
 * What must hold for a search that met a fault (design §4), checked against the same search without it and against the
 * ledger of the model server. Each broken promise is one line.
 */
import type { LedgerReport } from '../../simulated-model';
import type { Trace } from './trace';

export interface Checked {
  readonly broken: readonly string[];
  /** Completions beyond the first for one call. */
  readonly paidAgain: number;
  readonly calls: number;
}

export interface Allowed {
  /** Calls of one question that may be paid again. */
  readonly mayPayAgain: number;
  /** The search was ended by the fault and asked again: the state in which it ended is a checkpoint more. */
  readonly askedAgain: boolean;
}

export function checkSearch(calm: Trace, met: Trace, ledger: LedgerReport, allowed: Allowed): Checked {
  const { mayPayAgain } = allowed;
  const paid = met.calls.map(({ contentHash }) => ledger.contents[contentHash]?.billed ?? 0);
  const paidAgain = sum(paid.map((times) => Math.max(0, times - 1)));
  return {
    broken: [
      ...sameAnswer(calm, met),
      ...sameContents(calm, met, allowed),
      ...ledgerAgrees(calm, met, sum(paid)),
      ...(paidAgain > mayPayAgain
        ? [`${String(paidAgain)} calls paid again, at most ${String(mayPayAgain)} allowed`]
        : []),
    ],
    paidAgain,
    calls: met.calls.length,
  };
}

/** Requests that no search of the batch can account for. */
export function strayRequests(traces: readonly Trace[], ledger: LedgerReport): string[] {
  const known = new Set(traces.flatMap(({ calls }) => calls.map(({ contentHash }) => contentHash)));
  const stray = Object.entries(ledger.contents).filter(([hash]) => !known.has(hash));
  return stray.map(([, { role, billed }]) => `a request for ${role} (billed ${String(billed)} times) is in no journal`);
}

function sameAnswer(calm: Trace, met: Trace): string[] {
  if (met.record === null || calm.record === null) return ['the search has no final record'];
  const answer = ({ status, endedBy, sql, rows, evidence }: NonNullable<Trace['record']>): object => ({
    status,
    endedBy,
    sql,
    rows,
    evidence: evidence.map(({ operator, state, updateId }) => [operator, state, updateId]),
  });
  const [expected, got] = [answer(calm.record), answer(met.record)].map((each) => JSON.stringify(each));
  return expected === got ? [] : [`another answer: ${cut(got)} instead of ${cut(expected)}`];
}

/** Nothing lost, nothing doubled, nothing changed: plans, updates, facts, candidates, checkpoints, journal, result. */
function sameContents(calm: Trace, met: Trace, { askedAgain }: Allowed): string[] {
  const lost = [...calm.objects.keys()].filter((name) => !met.objects.has(name));
  const added = [...met.objects.keys()].filter(
    (name) => !calm.objects.has(name) && !(askedAgain && name.startsWith('checkpoint/')),
  );
  const changed = [...met.objects].filter(([name, text]) => calm.objects.has(name) && calm.objects.get(name) !== text);
  return [
    ...met.damaged.map((name) => `damaged: ${name}`),
    ...(lost.length > 0 ? [`lost: ${some(lost)}`] : []),
    ...(added.length > 0 ? [`added: ${some(added)}`] : []),
    ...changed
      .slice(0, 2)
      .map(([name, text]) => `changed: ${name}: ${firstDifference(calm.objects.get(name) ?? '', text)}`),
  ];
}

function ledgerAgrees(calm: Trace, met: Trace, billed: number): string[] {
  if (met.record === null || calm.record === null) return [];
  const { usage } = met.record;
  const confirmed = met.calls.flatMap(({ reply }) => (reply === null ? [] : [reply.reply]));
  const claims: readonly (readonly [string, number, number])[] = [
    ['confirmed calls', usage.llmCalls, confirmed.length],
    ['confirmed calls of the calm run', usage.llmCalls, calm.record.usage.llmCalls],
    ['prompt tokens', usage.promptTokens, sum(confirmed.map(({ promptTokens }) => promptTokens))],
    ['completion tokens', usage.completionTokens, sum(confirmed.map(({ completionTokens }) => completionTokens))],
  ];
  const most = usage.llmCalls + usage.possiblyBilledCalls;
  return [
    ...claims.flatMap(([what, says, is]) =>
      says === is ? [] : [`${what}: the record says ${String(says)}, there are ${String(is)}`],
    ),
    ...(billed < usage.llmCalls || billed > most
      ? [
          `the server billed ${String(billed)}, the record has ${String(usage.llmCalls)} confirmed and ${String(usage.possiblyBilledCalls)} possibly billed`,
        ]
      : []),
  ];
}

function firstDifference(before: string, after: string): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  const from = Math.max(0, at - 40);
  return `…${before.slice(from, at + 60)}… became …${after.slice(from, at + 60)}…`;
}

function some(names: readonly string[]): string {
  return names.slice(0, 4).join(', ') + (names.length > 4 ? ` and ${String(names.length - 4)} more` : '');
}

function cut(text = ''): string {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
