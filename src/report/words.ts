/**
 * Plain words for the names that the program uses inside: why a search ended, what a state means. The report and the terminal
 * share them, so that no reader meets an internal name without its meaning.
 */
import type { AnswerRecord, BudgetName, Claim, EndedBy, Evidence, OperatorView, Trajectory, Verdict } from '../domain';
import { isCutShort as endedEarly } from '../domain/control-view';
import { utc } from './printable';
import type { Trace } from './trace';

/** How a word is coloured. */
export type Tone = 'good' | 'bad' | 'warn' | 'calm';

export interface Worded {
  readonly says: string;
  readonly tone: Tone;
}

const BUDGETS: Readonly<Record<BudgetName, string>> = {
  llmCalls: 'model calls',
  tokens: 'tokens',
  costUsd: 'cost',
  wallMs: 'time',
  sqlExecutions: 'SQL statements',
  sqlMs: 'time in SQL statements',
  sqlRows: 'rows fetched',
  sqlBytes: 'bytes billed by the database',
};

/** Completes “The search ended because …”. */
export function endedBecause(endedBy: EndedBy): string {
  switch (endedBy) {
    case 'agreement':
      return 'independent derivations gave the same result';
    case 'settled':
      return 'no result spoke against it';
    case 'candidates':
      return 'it had as many candidates as its settings allow';
    case 'exhausted':
      return 'nothing was left to try';
    case 'iterations':
      return 'it had used all its rounds';
    case 'cancel':
      return 'somebody cancelled it';
    case 'stop':
      return 'somebody told it to answer with what it had';
    case 'finished':
      return 'the model said that it was done';
    case 'unusable':
      return 'the model gave no usable reply';
    case 'error':
      return 'a step failed';
    default:
      return `its limit on ${BUDGETS[endedBy.slice('budget:'.length) as BudgetName]} was reached`;
  }
}

/** Ended before it was done: what it answers is the best it had. */
export function isCutShort({ endedBy, status }: AnswerRecord): boolean {
  return status !== 'failed' && endedEarly(endedBy);
}

export const STATUS_WORDS: Readonly<Record<AnswerRecord['status'] | 'running', Worded>> = {
  answered: { says: 'Answered', tone: 'good' },
  unanswerable: { says: 'Cannot be answered from this data', tone: 'warn' },
  abstained: { says: 'No answer', tone: 'warn' },
  cancelled: { says: 'Cancelled', tone: 'warn' },
  failed: { says: 'Failed', tone: 'bad' },
  running: { says: 'Still running', tone: 'calm' },
};

export const STATE_WORDS: Readonly<Record<Evidence['state'], Worded & { because: string }>> = {
  proved: { says: 'proved', tone: 'good', because: 'the data supported this reading and spoke against its rivals' },
  assumed: { says: 'assumed', tone: 'warn', because: 'no test has shown that this is right' },
  immaterial: { says: 'makes no difference', tone: 'calm', because: 'every reading tried gives the same answer' },
};

export const CLAIM_WORDS: Readonly<Record<Claim['state'], Worded>> = {
  proved: { says: 'proved', tone: 'good' },
  exceptions: { says: 'holds with exceptions', tone: 'warn' },
  immaterial: { says: 'makes no difference', tone: 'calm' },
  failed: { says: 'not shown', tone: 'bad' },
  open: { says: 'not shown', tone: 'warn' },
};

/** How a reading fared; `none`: nobody judged it. */
export const VERDICT_WORDS: Readonly<Record<Verdict | 'immaterial' | 'none', Worded>> = {
  supported: { says: 'supported', tone: 'good' },
  refuted: { says: 'refuted', tone: 'bad' },
  open: { says: 'open', tone: 'warn' },
  immaterial: { says: 'makes no difference', tone: 'calm' },
  none: { says: 'not judged', tone: 'calm' },
};

export const TURN_WORDS: Readonly<Record<'look' | 'commit' | 'unanswerable', string>> = {
  look: 'looked',
  commit: 'committed',
  unanswerable: 'declined',
};

export const OPEN_WORDS: Readonly<Record<AnswerRecord['openAssumptions'][number]['kind'], string>> = {
  'open-by-wording': 'the question allows two readings',
  assumption: 'assumed',
};

export const STEP_STATES: Readonly<Record<OperatorView['state'], Worded>> = {
  grounded: { says: 'proved', tone: 'good' },
  assumed: { says: 'assumed', tone: 'warn' },
  unresolved: { says: 'not written yet', tone: 'bad' },
};

export const BRANCH_STATES: Readonly<Record<Trajectory['status'], Worded>> = {
  open: { says: 'open', tone: 'calm' },
  replan: { says: 'needs another plan', tone: 'warn' },
  complete: { says: 'complete', tone: 'good' },
  merged: { says: 'merged', tone: 'calm' },
  exhausted: { says: 'gave nothing new', tone: 'bad' },
  impossible: { says: 'says it cannot be answered', tone: 'warn' },
};

/** The model that answered, or the recording that stood in for one. */
export function modelText({ record, input }: Pick<Trace, 'record' | 'input'>): string | null {
  const models = [...new Set(Object.values(record?.models ?? input?.settings.models ?? {}))];
  if (models.length === 0) return null;
  if (input?.namespace.startsWith('replay-'))
    return models[0] === 'hand-written'
      ? 'no model: its replies were written by hand and replayed'
      : `replies of ${models.join(', ')}, replayed from a recording`;
  return `model ${models.join(', ')}`;
}

export function procedureText({ record, input }: Pick<Trace, 'record' | 'input'>): string {
  const method = record?.method ?? input?.settings.spec ?? '';
  if (/^(react|redel|reforce)\b/.test(method))
    return `The model queried the database by itself (method “${method}”); no reading was proved.`;
  if (record?.claims !== undefined)
    return record.sql === null
      ? 'The model looked at the data, then declined; the database counted what it claims is not stored.'
      : 'The model looked at the data, then gave the SQL with what it takes for granted; the database counted each such claim beside its rivals.';
  if (method.startsWith('paper'))
    return `Every doubtful step was tested (method “${method}”: the model judges what its own tests show).`;
  const more = method.startsWith('thorough') ? ' with more plans and attempts' : '';
  return `Doubtful steps were tested against the data${more} (method “${method}”); the database decides which reading holds.`;
}

/** One line for each table of data files. */
export function filesText({ files }: AnswerRecord): string | null {
  if (files === undefined) return null;
  return `written ${utc(files.asOf)}; ${files.tables.map(({ name, text }) => `${name}: ${text}`).join('; ')}`;
}

/** When the rows of an answer were read, and what "now" was to its SQL. */
export function asOfText({ asOf, endedAt, clock }: AnswerRecord): string {
  const searched = asOf > endedAt ? `, searched ${utc(endedAt)}` : '';
  return `${utc(asOf)}${searched}${clock === undefined ? '' : `; in its SQL "now" is ${clock}`}`;
}

/** Why an answer that was asked for again no longer held; empty if it holds. */
export function replacedTexts({ replacedBy }: AnswerRecord): readonly string[] {
  return replacedBy === undefined ? [] : [`No longer holds (${replacedBy.reason}): ${replacedBy.id} takes its place.`];
}
