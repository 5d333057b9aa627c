/**
 * Chance without state: a draw is a hash of the seed and of what it is about, so the same request always meets the same
 * fate, whatever came before it and in whatever order requests arrive.
 */
import { createHash } from 'node:crypto';

export type Draw = (...about: readonly (string | number | boolean | null)[]) => number;

/** From 0 up to, not including, 1. */
export function drawer(seed: number): Draw {
  return (...about) => Number.parseInt(hashOf([seed, ...about]).slice(0, 12), 16) / 2 ** 48;
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** One of the choices, each as likely as its weight says; `draw` is from 0 up to 1. */
export function weighted<T>(draw: number, choices: readonly (readonly [T, number])[]): T | null {
  let left = draw;
  for (const [choice, weight] of choices) {
    if (left < weight) return choice;
    left -= weight;
  }
  return null;
}
