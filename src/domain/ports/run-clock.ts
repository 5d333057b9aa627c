/** Time for adapters and steps; injected, so that tests own it. */
export interface Clock {
  now(): number;
}
