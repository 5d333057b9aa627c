/** Events of a use case on standard error: notices, live progress, outages that are being retried. */
import type { AppEvent } from '../app/app';
import { outageLines, outageText, type Outage } from '../app/outages';
import { counted, cut, dollars, duration } from '../report/printable';
import { progressText, type Progress } from '../search/progress';
import type { Io } from './io';

export interface EventPrinter {
  readonly onEvent: (event: AppEvent) => void;
  /** What redraws itself goes. */
  stop(): void;
}

/** `attended`: a person waits for the search. */
export function eventPrinter(
  io: Pick<Io, 'err' | 'live' | 'columns' | 'now'>,
  { debug = false, attended = true }: { readonly debug?: boolean; readonly attended?: boolean } = {},
): EventPrinter {
  let display: ProgressDisplay | null = null;
  const note = (line: string): void => (display === null ? io.err(`${line}\n`) : display.note(line));
  const stop = (): void => {
    display?.stop();
    display = null;
  };
  return {
    stop,
    onEvent(event) {
      switch (event.kind) {
        case 'note':
          note(event.text);
          return;
        case 'log':
          if (debug) note(event.text);
          return;
        case 'begun': {
          const { url, staysUp, decoding } = event.ui;
          if (url !== null) io.err(`Temporal UI ${url}${staysUp ? '' : ' (while this runs; gate dev keeps it up)'}\n`);
          io.err(decoding);
          if (attended) display = progressDisplay(io);
          return;
        }
        case 'progress':
          display ??= progressDisplay(io);
          display.show(event.progress);
          return;
        case 'retrying':
          return display?.retried(event.outage);
        case 'stopping': {
          note('ending with the best answer so far; interrupt again to quit at once');
          return;
        }
        case 'answer':
          stop();
          return;
        default:
          return event satisfies never;
      }
    },
  };
}

interface ProgressDisplay {
  show(progress: Progress): void;
  /** What is being retried now; null: nothing. */
  retried(outage: Outage | null): void;
  /** A line that stays. */
  note(line: string): void;
  stop(): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const REDRAW_MS = 120;

/** A wait is told once it is this long. */
const TOLD_FROM_MS = 1_000;
/** Off a terminal, what has not changed is told again after this time. */
const AGAIN_MS = 10_000;

/**
 * Live progress on stderr: what is waited for and how long, and what is done. With a person watching, it redraws itself;
 * otherwise a line is printed when something changes, and every ten seconds.
 */
export function progressDisplay(io: Pick<Io, 'err' | 'live' | 'columns' | 'now'>): ProgressDisplay {
  return io.live ? liveDisplay(io) : plainDisplay(io);
}

function plainDisplay(io: Pick<Io, 'err' | 'now'>): ProgressDisplay {
  let shown = { news: '', at: io.now() };
  const note = (line: string): void => io.err(`${line}\n`);
  const outages = outageLines(note, io.now);
  return {
    show: (progress) => {
      const at = io.now();
      const waiting = (progress.waiting ?? []).filter(({ sinceMs }) => at - sinceMs >= TOLD_FROM_MS);
      // Between two steps nothing is waited for: that is no news.
      if (waiting.length === 0 && at - shown.at < AGAIN_MS) return;
      const news = JSON.stringify([waiting, progressText({ ...progress, waiting: [] }, at), progress.learned]);
      if (news === shown.news && at - shown.at < AGAIN_MS) return;
      shown = { news, at };
      const learned = progress.learned === null ? '' : `; learned: ${cut(progress.learned, 160)}`;
      io.err(`${progressText({ ...progress, waiting }, at)}${learned} (${usageLine(progress)})\n`);
    },
    retried: outages,
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
      `${FRAMES[frame++ % FRAMES.length] ?? ''} ${current === null ? 'starting' : progressText(current, io.now())}`,
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

function usageLine({ usage }: Progress): string {
  return `${counted(usage.llmCalls, 'model call')}, ${dollars(usage.costUsd)}`;
}

interface LiveLines {
  /** A line that stays. */
  readonly note: (line: string) => void;
  readonly stop: () => void;
}

/**
 * Lines at the bottom of a terminal that redraw themselves in place, with others that stay printed above them.
 *
 * `lines` have to fit the width of the terminal, or the next drawing starts too low.
 */
export function liveLines(io: Pick<Io, 'err'>, everyMs: number, lines: () => readonly string[]): LiveLines {
  let height = 0;
  // From the first column: an interrupt has left `^C` where the cursor was.
  const erase = (): string => (height === 0 ? '' : `\r\u001b[${height}A\u001b[0J`);
  const draw = (above = ''): void => {
    const drawn = lines();
    io.err(`${erase()}${above}${drawn.join('\n')}\n`);
    height = drawn.length;
  };
  const timer = setInterval(draw, everyMs);
  draw();
  return {
    note: (line) => draw(`${line}\n`),
    stop: () => {
      clearInterval(timer);
      io.err(erase());
      height = 0;
    },
  };
}
