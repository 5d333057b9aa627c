/** What the documents of a JSON column hold: each path with how many documents have it, its types, formats or values. */
import { add, ranked } from './counted';
import { formatOf } from './formats';
import { pieceOf, type ProfilePiece } from './piece';
import type { RowColumn } from './table-rows';
import { list } from './words';

const MAX_PATHS = 40;
/** A path with so few values shows them. */
const FEW = 6;

interface Path {
  documents: number;
  readonly types: Map<string, number>;
  readonly values: Map<string, number>;
  /** Of its numbers. */
  low: number;
  high: number;
}

export function jsonPieces(column: RowColumn, withValues: boolean): ProfilePiece[] {
  const paths = new Map<string, Path>();
  const shapes = new Map<string, number>();
  let [documents, broken] = [0, 0];
  for (const value of column.values) {
    if (value === null || value === '') continue;
    const parsed = parse(String(value));
    if (typeof parsed !== 'object' || parsed === null) {
      broken += 1;
      continue;
    }
    documents += 1;
    const seen = new Set<string>();
    visit('$', parsed, paths, seen);
    for (const path of seen) (paths.get(path) as Path).documents += 1;
    add(shapes, [...seen].sort().join(' '));
  }
  if (documents === 0) return [];
  const shown = [...paths].slice(0, MAX_PATHS).map(([path, each]) => pathText(path, each, documents, withValues));
  const of = shapes.size === 1 ? 'one shape' : `${shapes.size} shapes`;
  const rest = paths.size > MAX_PATHS ? `; and ${paths.size - MAX_PATHS} more paths` : '';
  const text = `JSON of ${of} in ${documents}${broken > 0 ? ` (${broken} are not JSON)` : ''}: ${shown.join('; ')}${rest}`;
  return [pieceOf(column.name, 'json', text)];
}

function pathText(
  path: string,
  { documents, types, values, low, high }: Path,
  all: number,
  withValues: boolean,
): string {
  const share = documents === all ? ':' : ` (${documents}):`;
  const few = withValues && values.size <= FEW && values.size > 0;
  const range = withValues && high > low ? ` ${low} to ${high}` : '';
  const what = few ? counted(values) : `${counted(types)}${range}`;
  return `${path}${share} ${what}`;
}

function visit(path: string, value: unknown, paths: Map<string, Path>, seen: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 50)) visit(`${path}[]`, item, paths, seen);
    return;
  }
  if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) visit(`${path}.${key}`, child, paths, seen);
    return;
  }
  const at = paths.get(path) ?? { documents: 0, types: new Map(), values: new Map(), low: Infinity, high: -Infinity };
  paths.set(path, at);
  seen.add(path);
  add(at.types, typeName(value));
  if (typeof value === 'number') [at.low, at.high] = [Math.min(at.low, value), Math.max(at.high, value)];
  if (at.values.size <= FEW) add(at.values, String(value).slice(0, 24));
}

function typeName(value: unknown): string {
  if (typeof value === 'string') return value === '' ? "''" : formatOf(value).slice(0, 24);
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return value === null ? 'null' : typeof value;
}

function counted(counts: ReadonlyMap<string, number>): string {
  const all = ranked(counts);
  const [only] = all;
  return all.length === 1 && only !== undefined ? only.value : list(all, 4);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // counted as broken
  }
}
