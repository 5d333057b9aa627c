/**
 * The model calls of this process that are in flight, and replies that could not be stored (design D2).
 *
 * 1. A step may be tried again while its first try still waits for the model, because its heartbeats were lost. The second
 *    try joins the call instead of paying for another. The call is cancelled when nobody waits for it any more.
 * 2. A reply that could not be stored is kept in memory: the next try stores it without another call.
 */
import type { ObjectStore } from '../ports';
import type { CallReply } from './contents';

export interface Flights {
  /** Joins the call with this key, or starts it. */
  ride(key: string, signal: AbortSignal, fly: (signal: AbortSignal) => Promise<CallReply>): Promise<CallReply>;
  /** Paid replies that are not stored yet, by the same keys. */
  readonly unstored: Map<string, CallReply>;
  /** Pauses before further attempts to store a reply. */
  readonly storeAgainAfterMs: readonly number[];
}

interface Flight {
  readonly landing: Promise<CallReply>;
  readonly controller: AbortController;
  riders: number;
}

/** Eleven seconds in total: longer than most outages of a store, shorter than a step's time beyond its model call. */
const STORE_AGAIN_AFTER_MS = [100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000, 2_000];

export function createFlights(storeAgainAfterMs: readonly number[] = STORE_AGAIN_AFTER_MS): Flights {
  const flights = new Map<string, Flight>();
  function takeOff(key: string, fly: (signal: AbortSignal) => Promise<CallReply>): Flight {
    const controller = new AbortController();
    const landing = fly(controller.signal);
    const flight: Flight = { landing, controller, riders: 0 };
    flights.set(key, flight);
    const forget = (): void => leave(key, flight);
    landing.then(forget, forget);
    return flight;
  }
  function leave(key: string, flight: Flight): void {
    if (flights.get(key) === flight) flights.delete(key);
  }
  return {
    unstored: new Map(),
    storeAgainAfterMs,
    async ride(key, signal, fly) {
      signal.throwIfAborted();
      const flight = flights.get(key) ?? takeOff(key, fly);
      flight.riders += 1;
      try {
        return await Promise.race([flight.landing, aborted(signal)]);
      } finally {
        flight.riders -= 1;
        if (flight.riders === 0) {
          leave(key, flight);
          flight.controller.abort(signal.reason);
        }
      }
    },
  };
}

const ofStores = new WeakMap<ObjectStore, Flights>();

/** One object for all steps on a store, because tries of a step share nothing else. */
export function flightsOf(store: ObjectStore): Flights {
  const flights = ofStores.get(store) ?? createFlights();
  ofStores.set(store, flights);
  return flights;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
