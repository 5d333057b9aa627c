/** Interrupts of a long command as values: the first asks it to stop in order, the second to quit at once. */
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { Engines } from '../workers/engines';
import { EXIT } from './exit';
import type { Io } from './io';

export { isOver, pause } from '../app/waiting';

export interface Interrupts {
  /** Resolves at the first one. */
  readonly first: Promise<void>;
  readonly second: Promise<void>;
  /** Aborts at the first one. */
  readonly stop: AbortSignal;
  /** Aborts at the second one. */
  readonly quit: AbortSignal;
  count(): number;
  stopListening(): void;
}

export function watchInterrupts(io: Pick<Io, 'onInterrupt'>): Interrupts {
  const [stop, quit] = [new AbortController(), new AbortController()];
  let received = 0;
  let onFirst = (): void => undefined;
  let onSecond = (): void => undefined;
  const first = new Promise<void>((resolve) => (onFirst = resolve));
  const second = new Promise<void>((resolve) => (onSecond = resolve));
  const stopListening = io.onInterrupt(() => {
    received += 1;
    if (received === 1) {
      stop.abort();
      onFirst();
    } else {
      quit.abort();
      onSecond();
    }
  });
  return { first, second, stop: stop.signal, quit: quit.signal, count: () => received, stopListening };
}

/** Interrupts of a run: the first asks it to pause in order, the second to quit, the third ends the process. */
export function watchStopping(io: Pick<Io, 'onInterrupt'>) {
  const asked = new AbortController();
  const quit = new AbortController();
  let received = 0;
  const stopListening = io.onInterrupt(() => {
    received += 1;
    asked.abort();
    if (received > 1) quit.abort();
    if (received > 2) process.exit(EXIT.cancelled);
  });
  return { asked: asked.signal, quit: quit.signal, stopListening };
}

/**
 * While a command opens and closes what it needs, an interrupt must not leave a server behind or an answer unprinted:
 * it is only counted. Whoever has no patience left quits with the third.
 */
export function holdInterrupts(io: Pick<Io, 'onInterrupt'>): { count(): number; release(): void } {
  let received = 0;
  const release = io.onInterrupt(() => {
    received += 1;
    if (received > 2) process.exit(EXIT.cancelled);
  });
  return { count: () => received, release };
}

/** Work that the first interrupt asks to stop; the second ends the process. */
export function untilStopped(io: Pick<Io, 'onInterrupt'>, work: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => {
    if (stop.signal.aborted) process.exit(EXIT.failed);
    stop.abort();
  });
  return work(stop.signal).finally(stopListening);
}

/** Work that an interrupt cancels. */
export function untilInterrupted<T>(
  io: Pick<Io, 'onInterrupt'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  return work(stop.signal).finally(stopListening);
}

/** Work on a database: opened for it, cancelled by an interrupt, and closed. */
export function onDatabase<T>(
  { config, database }: { readonly config: Config; readonly database: ResolvedDatabase },
  io: Pick<Io, 'onInterrupt'>,
  work: (open: { readonly engines: Engines; readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  return untilInterrupted(io, async (signal) => {
    // Engines load Temporal's packages, for their traces: not for commands that read the store.
    const { withEngines } = await import('../app/check-database');
    return withEngines(config, database, (engines) => work({ engines, signal }));
  });
}
