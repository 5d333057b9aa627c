/**
 * Aborts with the first of the signals, and with its reason. `AbortSignal.any` alone does not hold them: Node 20 collects one of
 * `AbortSignal.timeout` that nobody else holds, and then its time limit never comes.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  for (const signal of signals) signal.addEventListener('abort', hold, { once: true });
  // eslint-disable-next-line no-restricted-properties -- they are held
  return AbortSignal.any([...signals]);
}

/** One that is listened to is held. The same function counts once for a signal, however often it is given. */
const hold = (): void => undefined;
