/** Describes the JSON in a text column: keys per nested path, formats of their values, and how many shapes there are. */
import { cut } from '../preview';
import { formatOf } from './formats';

const MAX_PATHS = 40;
const MAX_SHAPES = 5;
/** Limits for one shape, for one path with its formats, and for the list of further paths. */
const SHAPE_CHARS = 400;
const PATH_CHARS = 200;
const NAMES_CHARS = 4_000;

/** Plain statements about the sampled texts; empty when they are not JSON objects or arrays. */
export function jsonRemarks(texts: readonly string[]): string[] {
  const shapes = new Map<string, number>();
  const formats = new Map<string, Map<string, number>>();
  let parsed = 0;
  for (const text of texts) {
    const value = parse(text);
    if (value === undefined || typeof value !== 'object' || value === null) continue;
    parsed += 1;
    count(shapes, shapeOf(value));
    visit('$', value, formats);
  }
  if (parsed === 0) return [];
  const broken = texts.length - parsed;
  const ranked = byCount(shapes);
  const shown = ranked.slice(0, MAX_SHAPES).map(([shape, times]) => `${cut(shape, SHAPE_CHARS)} (${times})`);
  return [
    ...(broken > 0 ? [`${broken} of ${texts.length} values are not JSON objects or arrays`] : []),
    ranked.length === 1
      ? `JSON of one shape: ${cut(ranked[0]?.[0] ?? '', SHAPE_CHARS)}`
      : `JSON of ${ranked.length} shapes (versions?): ${shown.join(', ')}`,
    ...[...formats].slice(0, MAX_PATHS).map(([path, seen]) => {
      const list = byCount(seen)
        .slice(0, 6)
        .map(([format, times]) => `${format} (${times})`);
      return cut(`${path}: ${list.join(', ')}${seen.size > 6 ? ', …' : ''}`, PATH_CHARS);
    }),
    ...more([...formats.keys()].slice(MAX_PATHS)),
  ];
}

/** The names of the remaining paths: a model cannot use a key that it does not see. */
function more(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  return [`${paths.length} more paths: ${cut(paths.join(', '), NAMES_CHARS)}`];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // counted as broken
  }
}

/** Keys, nested, in code-unit order: `{laps:[{gap,time}],v}`. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].sort().slice(0, 3).join('|')}]`;
  if (typeof value !== 'object' || value === null) return '';
  const keys = Object.entries(value).map(([key, child]) => {
    const inner = shapeOf(child);
    return inner === '' ? key : `${key}:${inner}`;
  });
  return `{${keys.sort().join(',')}}`;
}

function visit(path: string, value: unknown, formats: Map<string, Map<string, number>>): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(`${path}[]`, item, formats);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) visit(`${path}.${key}`, child, formats);
  } else {
    const seen = formats.get(path) ?? new Map<string, number>();
    formats.set(path, seen);
    count(seen, describe(value));
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `"${formatOf(value)}"`;
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return value === null ? 'null' : typeof value;
}

const count = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
const byCount = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
