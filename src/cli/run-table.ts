/** A run as it goes, on a terminal: a line for each batch under way, and one for all of them. */
import { counted, dollars, duration } from '../report/printable';
import { paceOf, Tally, type BatchFigures } from './batch-figures';
import type { Batch } from './batch-plan';
import { cutLine, pausedLine, REDRAW_MS, type BatchDisplay, type DisplayIo } from './batch-table';
import { liveLines } from './follow';
import { outageText, type Outage } from '../app/outages';
import { textTable } from './table';

export interface RunDisplay {
  /** Of the batch at this position. */
  of(batch: number): BatchDisplay;
  note(line: string): void;
  stop(): void;
}

interface Line {
  readonly label: string;
  readonly batch: Batch;
  readonly tally: Tally;
  state: 'waiting' | 'under way' | 'over';
  isPaused: boolean;
  outage: Outage | null;
}

const HEAD = ['batch', 'done', 'running', 'failed', 'correct', 'calls', 'cost', 'a minute', 'left'];

export function runDisplay(
  batches: readonly { readonly label: string; readonly batch: Batch }[],
  io: DisplayIo,
): RunDisplay {
  const lines = batches.map(({ label, batch }): Line => ({
    ...{ label, batch, tally: new Tally(batch.questions.length, io.now()) },
    ...{ state: 'waiting', isPaused: false, outage: null },
  }));
  const startedAtMs = io.now();
  let here = 0;
  const { note, stop } = liveLines(io, REDRAW_MS, () => {
    const now = io.now();
    const under = lines.filter(({ state }) => state === 'under way');
    const over = lines.filter(({ state }) => state === 'over').length;
    const all = totalOf(lines.map(({ tally }) => tally.figures(now)));
    const total = { ...all, ...paceOf(here, now - startedAtMs, all.total - all.done) };
    const rows = [...under.map(({ label, tally }) => row(label, tally.figures(now))), row('all', total)];
    return [
      `${over} of ${counted(lines.length, 'batch', 'batches')} done`,
      ...textTable(HEAD, rows, { width: io.columns - 1 }).split('\n'),
      ...under.flatMap(({ isPaused, label, batch }) => (isPaused ? [`${label}: ${pausedLine(batch)}`] : [])),
      ...under.flatMap(({ outage, label }) => (outage === null ? [] : [`${label}: ${outageText(outage, now)}`])),
      'Ctrl-C stops; the same command continues',
    ].map((line) => cutLine(line, io.columns - 1));
  });
  const displayOf = (line: Line): BatchDisplay => ({
    ...{ live: true, rows: 0 },
    started: () => {
      line.state = 'under way';
      line.tally.begin(io.now());
    },
    ended: (result, now) => {
      line.tally.add(result, now);
      if (now) here += 1;
    },
    inFlight: (questions, paused = false) => {
      line.tally.running = questions.length;
      line.isPaused = paused;
    },
    retried: (outage) => (line.outage = outage),
    note: (text) => note(`${line.label}: ${text}`),
    stop: () => {
      line.state = 'over';
      line.tally.running = 0;
    },
  });
  const displays = lines.map(displayOf);
  return {
    of: (batch) => {
      const display = displays[batch];
      if (display === undefined) throw new TypeError(`no batch ${batch}`);
      return display;
    },
    note,
    stop,
  };
}

function row(label: string, figures: BatchFigures): (string | number)[] {
  const { total, done, running, failed, judged, correct, calls, costUsd, perMinute, secondsLeft } = figures;
  return [
    ...[label, `${done} of ${total}`, running ?? 0, failed, judged === 0 ? '' : `${correct} of ${judged}`, calls],
    ...[dollars(costUsd), perMinute?.toFixed(1) ?? '', secondsLeft === null ? '' : duration(1_000 * secondsLeft)],
  ];
}

function totalOf(all: readonly BatchFigures[]): BatchFigures {
  const sum = (key: 'total' | 'done' | 'failed' | 'judged' | 'correct' | 'calls' | 'costUsd'): number =>
    all.reduce((total, figures) => total + figures[key], 0);
  return {
    ...{
      total: sum('total'),
      done: sum('done'),
      running: all.reduce((total, { running }) => total + (running ?? 0), 0),
    },
    ...{ failed: sum('failed'), judged: sum('judged'), correct: sum('correct') },
    ...{ calls: sum('calls'), costUsd: sum('costUsd'), perMinute: null, secondsLeft: null },
  };
}
