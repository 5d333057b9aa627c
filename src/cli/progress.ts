/**
 * Live progress on stderr. With a person watching, three lines redraw themselves; otherwise a line is printed when
 * there is news (iteration, bottleneck, or what was learned), and nothing in between.
 */
import { counted, cut, dollars, duration } from '../report/printable';
import type { Progress } from '../search/progress';
import type { Io } from './io';
import { liveLines } from './live-lines';
import { outageLines, outageText, type Outage } from './outages';

export interface ProgressDisplay {
  show(progress: Progress): void;
  /** What is being retried now; null: nothing. */
  retried(outage: Outage | null): void;
  /** A line that stays. */
  note(line: string): void;
  stop(): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const REDRAW_MS = 120;

export function progressDisplay(io: Pick<Io, 'err' | 'live' | 'columns' | 'now'>): ProgressDisplay {
  return io.live ? liveDisplay(io) : plainDisplay(io);
}

function plainDisplay(io: Pick<Io, 'err' | 'now'>): ProgressDisplay {
  let shown = '';
  const note = (line: string): void => io.err(`${line}\n`);
  const outages = outageLines(note, io.now);
  return {
    show: (progress) => {
      const news = `${progress.iteration}|${progress.bottleneck ?? ''}|${progress.learned ?? ''}`;
      if (news === shown) return;
      shown = news;
      const learned = progress.learned === null ? '' : `; learned: ${cut(progress.learned, 160)}`;
      io.err(`${stateLine(progress)}${learned} (${usageLine(progress)})\n`);
    },
    retried: (outage) => outages.seen(outage),
    note,
    stop: () => undefined,
  };
}

function liveDisplay(io: Pick<Io, 'err' | 'columns' | 'now'>): ProgressDisplay {
  const started = io.now();
  let current: Progress | null = null;
  let outage: Outage | null = null;
  let frame = 0;
  const { note, stop } = liveLines(io, REDRAW_MS, () =>
    [
      `${FRAMES[frame++ % FRAMES.length] ?? ''} ${current === null ? 'starting' : stateLine(current)}`,
      ...(current?.learned ? [`  learned: ${current.learned}`] : []),
      ...(outage === null ? [] : [`  ${outageText(outage, io.now())}`]),
      `  ${current === null ? '' : `${usageLine(current)}, `}${duration(io.now() - started)}; Ctrl-C ends with the best answer so far`,
    ].map((line) => cut(line, io.columns - 1)),
  );
  return {
    show: (progress) => {
      current = progress;
    },
    retried: (now) => {
      outage = now;
    },
    note,
    stop,
  };
}

function stateLine(progress: Progress): string {
  const parts = [
    `iteration ${progress.iteration} of ${progress.iterations}`,
    ...(progress.bottleneck === null ? [] : [`working on ${progress.bottleneck}`]),
    `${progress.open} of ${counted(progress.trajectories, 'trajectory', 'trajectories')} open`,
    counted(progress.candidates, 'candidate'),
  ];
  return parts.join(', ');
}

function usageLine({ usage }: Progress): string {
  return `${counted(usage.llmCalls, 'model call')}, ${dollars(usage.costUsd)}, ${counted(usage.sqlExecutions, 'SQL statement')}`;
}
