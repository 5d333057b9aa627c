/**
 * A batch as it goes, on stderr. With a person watching: counts, pace, and a table of what is in flight, redrawn in
 * place; otherwise a line per question that ends.
 */
import type { Progress } from '../search/progress';
import { counted, cut, dollars, duration } from '../report/printable';
import type { Batch } from './batch-plan';
import type { ResultLine } from './batch-results';
import { percent } from './batch-summary';
import type { Io } from './io';
import { liveLines } from './follow';
import { outageText, type Outage } from './outages';
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
  /** `now`: it ended in this run; false: found in the store. */
  ended(line: ResultLine, now: boolean): void;
  inFlight(questions: readonly InFlight[]): void;
  /** What is being retried now, for the live lines; null: nothing. */
  retried(outage: Outage | null): void;
  note(line: string): void;
  stop(): void;
}

type DisplayIo = Pick<Io, 'err' | 'live' | 'columns' | 'now'>;
const ROWS = 10;
const REDRAW_MS = 250;

export function batchDisplay(batch: Batch, io: DisplayIo): BatchDisplay {
  const tally = new Tally(batch.questions.length, io.now());
  return io.live ? liveDisplay(batch, tally, io) : plainDisplay(tally, io);
}

function plainDisplay(tally: Tally, io: DisplayIo): BatchDisplay {
  return {
    live: false,
    rows: 0,
    ended: (line, now) => {
      tally.add(line, now);
      if (now) io.err(`${tally.done}/${tally.total} ${endedLine(line)}\n`);
    },
    inFlight: () => undefined,
    retried: () => undefined,
    note: (line) => io.err(`${line}\n`),
    stop: () => undefined,
  };
}

function liveDisplay(batch: Batch, tally: Tally, io: DisplayIo): BatchDisplay {
  const questions = new Map(batch.questions.map((question) => [question.input.searchId, question]));
  const since = new Map<string, number>();
  let current: readonly InFlight[] = [];
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
    const lines = [tally.text(io.now()), ...retried, ...table, ...rest, 'Ctrl-C stops; the same command continues'];
    return lines.map((line) => cutLine(line, io.columns - 1));
  });
  return {
    live: true,
    rows: ROWS,
    ended: (line, now) => {
      tally.add(line, now);
      current = current.filter(({ searchId }) => searchId !== line.searchId);
    },
    inFlight: (questionsNow) => {
      current = questionsNow;
      for (const { searchId } of questionsNow) if (!since.has(searchId)) since.set(searchId, io.now());
    },
    retried: (now) => {
      outage = now;
    },
    note,
    stop,
  };
}

class Tally {
  done = 0;
  private here = 0;
  private right = 0;
  private judged = 0;
  private apart = 0;
  private readonly usage = new Map<string, { calls: number; costUsd: number }>();

  constructor(
    readonly total: number,
    private readonly startedAtMs: number,
  ) {}

  add({ verdict, searchId, usage }: ResultLine, now: boolean): void {
    this.done += 1;
    if (now) this.here += 1;
    if (usage !== null) this.usage.set(searchId, { calls: usage.llmCalls, costUsd: usage.costUsd });
    if (verdict === 'infrastructure') this.apart += 1;
    if (verdict.startsWith('correct')) this.right += 1;
    if (verdict.startsWith('correct') || verdict.startsWith('wrong')) this.judged += 1;
  }

  text(nowMs: number): string {
    const elapsedMs = nowMs - this.startedAtMs;
    const left = this.total - this.done;
    const spent = [...this.usage.values()];
    return [
      `${this.done} of ${this.total}`,
      ...(this.judged === 0 ? [] : [`EX ${percent(this.right / this.judged)}`]),
      ...(this.apart === 0 ? [] : [counted(this.apart, 'infrastructure failure')]),
      counted(
        spent.reduce((sum, { calls }) => sum + calls, 0),
        'model call',
      ),
      dollars(spent.reduce((sum, { costUsd }) => sum + costUsd, 0)),
      duration(elapsedMs),
      ...(this.here === 0 || left === 0 ? [] : [`about ${duration((elapsedMs / this.here) * left)} left`]),
    ].join(', ');
  }
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
function cutLine(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}
