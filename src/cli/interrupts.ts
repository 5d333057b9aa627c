/** Interrupts of a long command as values. */
import { EXIT } from './exit';
import type { Io } from './io';

export interface Interrupts {
  /** Aborts at the first one: the command stops in order. */
  readonly asked: AbortSignal;
  /** Aborts at the second one: it quits at once. */
  readonly quit: AbortSignal;
  readonly stopListening: () => void;
}

type Interruptible = Pick<Io, 'onInterrupt'>;

/** While it listens, an interrupt leaves no server behind and no answer unprinted; only the third one ends the process. */
export function watchInterrupts(io: Interruptible): Interrupts {
  const [asked, quit] = [new AbortController(), new AbortController()];
  let received = 0;
  const stopListening = io.onInterrupt(() => {
    received += 1;
    asked.abort();
    if (received > 1) quit.abort();
    if (received > 2) process.exit(EXIT.cancelled);
  });
  return { asked: asked.signal, quit: quit.signal, stopListening };
}

/** Work that the first interrupt cancels. */
export function untilInterrupted<T>(io: Interruptible, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { asked, stopListening } = watchInterrupts(io);
  return work(asked).finally(stopListening);
}

/** Work that the first interrupt asks to stop; the second ends the process. */
export function untilStopped(io: Interruptible, work: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const { asked, quit, stopListening } = watchInterrupts(io);
  quit.addEventListener('abort', () => process.exit(EXIT.failed));
  return work(asked).finally(stopListening);
}
