/** What the parts of a `Gate` share. */
import { anySignal } from '../any-signal';
import type { App } from '../app/app';
import { gateError } from '../app/errors';
import type { Surroundings } from '../app/surroundings';

export interface Inside {
  /** Throws once the `Gate` is closed. */
  readonly at: () => Surroundings;
  readonly app: (onEvent?: App['onEvent']) => App;
  readonly closing: AbortSignal;
  /** Keeps Temporal up until the `Gate` is closed. */
  readonly hold: (app: App) => void;
  /** Is waited for when the `Gate` is closed. */
  readonly follow: (over: Promise<unknown>) => void;
}

/** How work that takes long ends before its time. */
export interface Stopping {
  /** Ends a question with its best answer so far; a batch begins no further question. */
  readonly stop?: AbortSignal;
  /** Ends the waiting at once, with code `cancelled`. What was paid is kept: asked again, it goes on. */
  readonly leave?: AbortSignal;
}

export function either(given: AbortSignal | undefined, closing: AbortSignal): AbortSignal {
  return anySignal(given === undefined ? [closing] : [given, closing]);
}

/** Whatever is thrown becomes a `GateError`. */
export async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw gateError(error);
  }
}
