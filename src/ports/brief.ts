/**
 * What steps are given and return becomes history (design D3), and much of it is `"immaterial":null` or `"facts":[]`: a
 * quarter of a short search. `brief` leaves out every field that has its usual value, `whole` puts it back.
 *
 * 1. `whole(shape, brief(shape, value))` is the value. Usage is an exception without effect: counters left out become 0.
 * 2. A value that an earlier version wrote is whole already, and `whole` leaves it as it is.
 * 3. Usual values are part of running searches. Never change one: it would change what their histories say.
 */
import { canonical } from '../domain/canonical';

declare const WHOLE: unique symbol;
/** Some fields of a `T`: nobody reads it before `whole` has made it one. */
export interface Brief<T> {
  readonly [WHOLE]?: T;
}

interface Fields {
  /** What a field has as a rule; compared after the fields within it have been left out. */
  readonly usual?: Readonly<Record<string, unknown>>;
  /** Shapes of the objects in a field, or of the items of its list. */
  readonly inner?: Readonly<Record<string, Shape>>;
}
/** A function where the value decides which it is. */
export type Shape = Fields | ((value: Readonly<Record<string, unknown>>) => Fields);

export function brief<T extends object>(shape: Shape, value: T): Brief<T> {
  return shortened(shape, value) as Brief<T>;
}

export function whole<T extends object>(shape: Shape, value: Brief<T>): T {
  return restored(shape, value) as T;
}

function shortened(shape: Shape, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => shortened(shape, item));
  if (!isRecord(value)) return value;
  const { usual = {}, inner = {} } = fieldsOf(shape, value);
  const all = Object.entries(value).map(([name, field]) => [name, shortened(inner[name] ?? PLAIN, field)] as const);
  return Object.fromEntries(all.filter(([name, field]) => !(name in usual) || !isSame(usual[name], field)));
}

function restored(shape: Shape, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => restored(shape, item));
  if (!isRecord(value)) return value;
  const { usual = {}, inner = {} } = fieldsOf(shape, value);
  const all = Object.entries({ ...usual, ...value });
  return Object.fromEntries(all.map(([name, field]) => [name, restored(inner[name] ?? PLAIN, field)]));
}

const PLAIN: Fields = {};

function fieldsOf(shape: Shape, value: Readonly<Record<string, unknown>>): Fields {
  return typeof shape === 'function' ? shape(value) : shape;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && canonical(a) === canonical(b));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
