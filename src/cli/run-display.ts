/**
 * A run as it goes, on stderr: with a person watching a live table, with one line for each batch under way;
 * otherwise lines at the start, as each question ends and every minute.
 */
import { outageLines, outageText, type Outage } from '../app/outages';
import { figuresText, paceOf, Tally, type RunFigures, type RunEvent, type ShownArm } from '../app/run/events';
import type { ResultLine } from '../questions';
import { counted, cut, dollars, duration } from '../report/printable';
import { liveLines } from './follow';
import type { Io } from './io';
import { textTable } from './table';

export interface RunDisplay {
  readonly tell: (event: RunEvent) => void;
  readonly stop: () => void;
}

type DisplayIo = Pick<Io, 'err' | 'live' | 'columns' | 'now'>;

export const runDisplay = (io: DisplayIo): RunDisplay => (io.live ? liveTable(io) : plainLines(io));

interface ArmState extends ShownArm {
  readonly tally: Tally;
  state: 'waiting' | 'under way' | 'over';
  isPaused: boolean;
  outage: Outage | null;
}

/** Takes in an event; the arm that it is of, as it is then. */
class Arms {
  all: readonly ArmState[] = [];

  constructor(private readonly now: () => number) {}

  take(event: RunEvent): ArmState | null {
    if (event.kind === 'planned')
      this.all = event.arms.map(({ label, batch }) => ({
        ...{ label, batch, tally: new Tally(batch.questions.length, this.now()) },
        ...{ state: 'waiting', isPaused: false, outage: null },
      }));
    const arm = event.kind === 'planned' || event.arm === null ? null : (this.all[event.arm] ?? null);
    if (arm === null) return null;
    switch (event.kind) {
      case 'started':
        arm.state = 'under way';
        arm.tally.begin(this.now());
        break;
      case 'ended':
        arm.tally.add(event.line, event.now);
        break;
      case 'in-flight':
        arm.isPaused = event.paused;
        arm.tally.running = event.searches.length;
        break;
      case 'retried':
        arm.outage = event.outage;
        break;
      case 'over':
        arm.state = 'over';
        arm.tally.running = 0;
        break;
      default:
    }
    return arm;
  }

  /** Its name, where it is not alone. */
  named({ label }: ArmState): string {
    return this.all.length === 1 ? '' : `${label}: `;
  }
}

const LINE_EVERY_MS = 60_000;
const pausedLine = ({ batch }: ShownArm): string => `paused: gate resume ${batch.batchId} goes on`;

function plainLines(io: DisplayIo): RunDisplay {
  const arms = new Arms(io.now);
  const outages = new Map<ArmState, ReturnType<typeof outageLines>>();
  const figures = (arm: ArmState): void =>
    io.err(`${arms.named(arm)}${arm.batch.batchId}: ${figuresText(arm.tally.figures(io.now()))}\n`);
  const timer = setInterval(() => {
    for (const arm of arms.all) if (arm.state === 'under way') figures(arm);
  }, LINE_EVERY_MS);
  return {
    tell: (event) => {
      const before = event.kind === 'in-flight' ? arms.all[event.arm]?.isPaused : false;
      const arm = arms.take(event);
      if (arm === null) {
        if (event.kind === 'note') io.err(`${event.text}\n`);
        return;
      }
      const note = (line: string): void => io.err(`${arms.named(arm)}${line}\n`);
      if (event.kind === 'note') note(event.text);
      else if (event.kind === 'started') figures(arm);
      else if (event.kind === 'in-flight' && arm.isPaused !== before) note(arm.isPaused ? pausedLine(arm) : 'goes on');
      else if (event.kind === 'retried') {
        const lines = outages.get(arm) ?? outageLines(note, io.now);
        outages.set(arm, lines);
        lines(event.outage);
      } else if (event.kind === 'ended' && event.now) {
        const { done, total } = arm.tally.figures(io.now());
        note(`${done}/${total} ${endedLine(event.line)}`);
      }
    },
    stop: () => clearInterval(timer),
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

const REDRAW_MS = 250;
const ARM_HEAD = ['batch', 'done', 'running', 'failed', 'correct', 'calls', 'cost', 'a minute', 'left'];

function liveTable(io: DisplayIo): RunDisplay {
  const arms = new Arms(io.now);
  const startedAtMs = io.now();
  let live: ReturnType<typeof liveLines> | null = null;
  const lines = (): string[] => {
    const now = io.now();
    const under = arms.all.filter(({ state }) => state === 'under way');
    const [only] = arms.all;
    return [
      ...(arms.all.length === 1 && only !== undefined ? [figuresText(only.tally.figures(now))] : armRows(now)),
      ...under.flatMap((arm) => (arm.isPaused ? [`${arms.named(arm)}${pausedLine(arm)}`] : [])),
      ...under.flatMap((arm) => (arm.outage === null ? [] : [`${arms.named(arm)}${outageText(arm.outage, now)}`])),
      'Ctrl-C stops; the same command continues',
    ].map((line) => cutLine(line, io.columns - 1));
  };
  const armRows = (now: number): string[] => {
    const under = arms.all.filter(({ state }) => state === 'under way');
    const over = arms.all.filter(({ state }) => state === 'over').length;
    const all = totalOf(arms.all.map(({ tally }) => tally.figures(now)));
    const here = arms.all.reduce((sum, { tally }) => sum + tally.here, 0);
    const total = { ...all, ...paceOf(here, now - startedAtMs, all.total - all.done) };
    const rows = [...under.map(({ label, tally }) => armRow(label, tally.figures(now))), armRow('all', total)];
    return [
      `${over} of ${counted(arms.all.length, 'batch', 'batches')} done`,
      ...textTable(ARM_HEAD, rows, { width: io.columns - 1 }).split('\n'),
    ];
  };
  return {
    tell: (event) => {
      const arm = arms.take(event);
      if (event.kind === 'planned') live ??= liveLines(io, REDRAW_MS, lines);
      if (event.kind !== 'note') return;
      const text = `${arm === null ? '' : arms.named(arm)}${event.text}`;
      if (live === null) io.err(`${text}\n`);
      else live.note(text);
    },
    stop: () => {
      live?.stop();
      live = null;
    },
  };
}

function armRow(label: string, figures: RunFigures): (string | number)[] {
  const { total, done, running, failed, judged, correct, calls, costUsd, perMinute, secondsLeft } = figures;
  return [
    ...[label, `${done} of ${total}`, running ?? 0, failed, judged === 0 ? '' : `${correct} of ${judged}`, calls],
    ...[dollars(costUsd), perMinute?.toFixed(1) ?? '', secondsLeft === null ? '' : duration(1_000 * secondsLeft)],
  ];
}

function totalOf(all: readonly RunFigures[]): RunFigures {
  const sum = (key: keyof RunFigures): number => all.reduce((total, figures) => total + (figures[key] ?? 0), 0);
  return {
    ...{ total: sum('total'), done: sum('done'), running: sum('running'), failed: sum('failed') },
    ...{ judged: sum('judged'), correct: sum('correct'), calls: sum('calls'), costUsd: sum('costUsd') },
    ...{ perMinute: null, secondsLeft: null },
  };
}

/** Like `cut`, but a table keeps its spaces. */
function cutLine(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}
