/**
 * Random draws without state. A draw is a hash of the seed and its subject, so the same request always has the same outcome,
 * whatever the order of requests.
 */
import { createHash } from 'node:crypto';

export type Draw = (...about: readonly (string | number | boolean | null)[]) => number;

/** Draws are numbers from 0 to below 1. */
export function drawer(seed: number): Draw {
  return (...about) => Number.parseInt(hashOf([seed, ...about]).slice(0, 12), 16) / 2 ** 48;
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** One of the choices, with its weight as probability; null for the remaining probability. `draw` is from 0 to below 1. */
export function weighted<T>(draw: number, choices: readonly (readonly [T, number])[]): T | null {
  let left = draw;
  for (const [choice, weight] of choices) {
    if (left < weight) return choice;
    left -= weight;
  }
  return null;
}
