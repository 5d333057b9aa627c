/**
 * A batch as it goes, on stderr. With a person watching: counts, pace, and a table of what is in flight, redrawn in
 * place; otherwise a line at the start, one per question that ends and one every minute; or the same as events.
 */
import type { Progress } from '../search/progress';
import { counted, cut, dollars, duration } from '../report/printable';
import type { NewEvent } from './batch-events';
import { figuresText, Tally } from './batch-figures';
import type { Batch } from './batch-plan';
import type { ResultLine } from './batch-results';
import type { Io } from './io';
import { liveLines } from './follow';
import { outageText, type Outage } from '../app/outages';
import { textTable } from './table';

export interface InFlight {
  readonly searchId: string;
  /** Null: not known, or nobody looks at it. */
  readonly progress: Progress | null;
}

export interface BatchDisplay {
  readonly live: boolean;
  /** How many questions in flight are shown. */
  readonly rows: number;
  /** What was answered before is known: the rest is asked now. */
  started(): void;
  /** `now`: it ended in this run; false: found in the store. */
  ended(line: ResultLine, now: boolean): void;
  inFlight(questions: readonly InFlight[], paused?: boolean): void;
  /** What is being retried now, for the live lines; null: nothing. */
  retried(outage: Outage | null): void;
  note(line: string): void;
  stop(): void;
}

export type DisplayIo = Pick<Io, 'err' | 'live' | 'columns' | 'now' | 'emit'>;
const ROWS = 10;
export const REDRAW_MS = 250;
const LINE_EVERY_MS = 60_000;
const EVENT_EVERY_MS = 10_000;

export function batchDisplay(batch: Batch, io: DisplayIo): BatchDisplay {
  const tally = new Tally(batch.questions.length, io.now());
  if (io.emit !== undefined) return eventDisplay(batch, tally, io, io.emit);
  return io.live ? liveDisplay(batch, tally, io) : plainDisplay(batch, tally, io);
}

export const pausedLine = ({ batchId }: Batch): string => `paused: gate batch resume ${batchId} goes on`;

function plainDisplay(batch: Batch, tally: Tally, io: DisplayIo): BatchDisplay {
  const note = (line: string): void => io.err(`${line}\n`);
  const told = { paused: false };
  const figures = (): string => figuresText(tally.figures(io.now()));
  let timer: NodeJS.Timeout | undefined;
  return {
    ...{ live: false, rows: 0, note },
    started: () => {
      tally.begin(io.now());
      note(`${batch.batchId}: ${figures()}`);
      timer = setInterval(() => note(`${batch.batchId}: ${figures()}`), LINE_EVERY_MS);
    },
    ended: (line, now) => {
      tally.add(line, now);
      const { done, total } = tally.figures(io.now());
      if (now) note(`${done}/${total} ${endedLine(line)}`);
    },
    inFlight: (questions, paused = false) => {
      tally.running = questions.length;
      if (paused !== told.paused) note(paused ? pausedLine(batch) : 'goes on');
      told.paused = paused;
    },
    retried: () => undefined,
    stop: () => clearInterval(timer),
  };
}

function eventDisplay(batch: Batch, tally: Tally, io: DisplayIo, emit: (event: NewEvent) => void): BatchDisplay {
  const { batchId, name } = batch;
  const figures = () => tally.figures(io.now());
  const told = { paused: false };
  const progress = (): void => emit({ event: 'progress', paused: told.paused, ...figures() });
  let timer: NodeJS.Timeout | undefined;
  return {
    ...{ live: false, rows: 0, retried: () => undefined },
    started: () => {
      tally.begin(io.now());
      emit({ event: 'started', batchId, name, ...figures() });
      timer = setInterval(progress, EVENT_EVERY_MS);
    },
    ended: (line, now) => {
      tally.add(line, now);
      const { id, searchId, database, status, verdict, error, usage, wallMs } = line;
      const [calls, costUsd] = [usage?.llmCalls ?? null, usage?.costUsd ?? null];
      if (now) emit({ event: 'ended', id, searchId, database, status, verdict, error, calls, costUsd, wallMs });
    },
    inFlight: (questions, paused = false) => {
      tally.running = questions.length;
      if (paused === told.paused) return;
      told.paused = paused;
      progress();
    },
    note: (text) => io.err(text),
    stop: () => {
      clearInterval(timer);
      emit({ event: 'stopped', ...figures() });
    },
  };
}

function liveDisplay(batch: Batch, tally: Tally, io: DisplayIo): BatchDisplay {
  const questions = new Map(batch.questions.map((question) => [question.input.searchId, question]));
  const since = new Map<string, number>();
  let current: readonly InFlight[] = [];
  let isPaused = false;
  let outage: Outage | null = null;
  const row = ({ searchId, progress }: InFlight): (string | number)[] => {
    const question = questions.get(searchId);
    return [
      question?.item.id ?? searchId,
      question?.item.database ?? question?.database.name ?? '',
      duration(io.now() - (since.get(searchId) ?? io.now())),
      progress?.iteration ?? '',
      progress?.usage.llmCalls ?? '',
      progress?.bottleneck ?? '',
      question?.item.question ?? '',
    ];
  };
  const { note, stop } = liveLines(io, REDRAW_MS, () => {
    const shown = current.slice(0, ROWS);
    const head = ['question', 'database', 'for', 'iteration', 'calls', 'working on', 'text'];
    const table = shown.length === 0 ? [] : textTable(head, shown.map(row), { width: io.columns - 1 }).split('\n');
    const rest = current.length > shown.length ? [`… and ${current.length - shown.length} more in flight`] : [];
    const retried = outage === null ? [] : [outageText(outage, io.now())];
    const figures = figuresText(tally.figures(io.now()));
    const state = isPaused ? [pausedLine(batch)] : [];
    const lines = [figures, ...state, ...retried, ...table, ...rest, 'Ctrl-C stops; the same command continues'];
    return lines.map((line) => cutLine(line, io.columns - 1));
  });
  return {
    live: true,
    rows: ROWS,
    started: () => tally.begin(io.now()),
    ended: (line, now) => {
      tally.add(line, now);
      current = current.filter(({ searchId }) => searchId !== line.searchId);
    },
    inFlight: (questionsNow, paused = false) => {
      current = questionsNow;
      isPaused = paused;
      tally.running = current.length;
      for (const { searchId } of questionsNow) if (!since.has(searchId)) since.set(searchId, io.now());
    },
    retried: (now) => {
      outage = now;
    },
    note,
    stop,
  };
}

function endedLine({ id, verdict, status, usage, wallMs, error }: ResultLine): string {
  const figures = [
    ...(usage === null ? [] : [counted(usage.llmCalls, 'call'), dollars(usage.costUsd)]),
    ...(wallMs === null ? [] : [duration(wallMs)]),
  ].join(', ');
  const what = verdict === 'no-gold' ? status : verdict;
  return `${cut(id, 60)} ${what}${figures === '' ? '' : ` (${figures})`}${error === null ? '' : `: ${cut(error, 160)}`}`;
}

/** Like `cut`, but a table keeps its spaces. */
export function cutLine(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}
