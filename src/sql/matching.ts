/**
 * Perfect matching of two equally large multisets of numeric vectors within a tolerance (rule S5). Tolerance is not
 * transitive, so rounding or a single sort would be wrong at the edges. Instead:
 *
 * 1. On one axis, the values compatible with a number form an interval, so a gap between neighbours splits the problem.
 * 2. A part in which all vectors are compatible matches in any order. A part that differs on one axis only matches in
 *    sorted order.
 * 3. The rest, several axes that overlap in chains, is rare and small. It is matched by augmenting paths.
 */
export type Vector = readonly number[];

/** Relative 1e-6, with an absolute floor so that the rounding error of a cancelled sum equals zero. */
export function closeNumbers(left: number, right: number): boolean {
  return Math.abs(left - right) <= Math.max(1e-6 * Math.max(Math.abs(left), Math.abs(right)), 1e-12);
}

export function canMatch(left: readonly Vector[], right: readonly Vector[]): boolean {
  if (left.length !== right.length) return false;
  const width = left[0]?.length ?? 0;
  return width === 0 || matchParts([{ left, right }], width);
}

interface Part {
  readonly left: readonly Vector[];
  readonly right: readonly Vector[];
}

/** Uses a stack instead of recursion: a part may be split as often as it has rows. */
function matchParts(parts: Part[], width: number): boolean {
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part.left.length !== part.right.length) return false;
    const split = splitOnce(part, width);
    if (split === null) {
      if (!matchConnected(part, width)) return false;
    } else parts.push(...split);
  }
  return true;
}

/** Splits on the first axis that has a gap; null if none has one. */
function splitOnce(part: Part, width: number): Part[] | null {
  for (let axis = 0; axis < width; axis += 1) {
    const cuts = gaps([...part.left, ...part.right].map((vector) => at(vector, axis)));
    if (cuts.length > 0) return divide(part, axis, cuts);
  }
  return null;
}

/** Lower ends of the gaps: values whose next larger neighbour is out of tolerance. */
function gaps(values: readonly number[]): number[] {
  const sorted = Float64Array.from(values).sort();
  const cuts: number[] = [];
  for (let index = 1; index < sorted.length; index += 1) {
    const [lower, upper] = [sorted[index - 1] ?? 0, sorted[index] ?? 0];
    if (!closeNumbers(lower, upper)) cuts.push(lower);
  }
  return cuts;
}

function divide(part: Part, axis: number, cuts: readonly number[]): Part[] {
  const pieces = Array.from({ length: cuts.length + 1 }, () => ({ left: [] as Vector[], right: [] as Vector[] }));
  for (const side of ['left', 'right'] as const) {
    for (const vector of part[side]) pieces[pieceOf(at(vector, axis), cuts)]?.[side].push(vector);
  }
  return pieces;
}

/** How many cuts are below the value (binary search). */
function pieceOf(value: number, cuts: readonly number[]): number {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cuts[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function matchConnected(part: Part, width: number): boolean {
  const spread = Array.from({ length: width }, (_, axis) => axis).filter((axis) => !allClose(part, axis));
  const [only, ...others] = spread;
  if (only === undefined) return true;
  if (others.length > 0) return matchByPaths(part);
  const right = sortedAxis(part.right, only);
  return sortedAxis(part.left, only).every((value, index) => closeNumbers(value, right[index] ?? Number.NaN));
}

function allClose(part: Part, axis: number): boolean {
  const all = sortedAxis([...part.left, ...part.right], axis);
  return closeNumbers(all[0] ?? 0, all.at(-1) ?? 0);
}

function sortedAxis(vectors: readonly Vector[], axis: number): Float64Array {
  return Float64Array.from(vectors.map((vector) => at(vector, axis))).sort();
}

/** Augmenting paths, breadth first, so that long chains need no deep call stack. */
function matchByPaths({ left, right }: Part): boolean {
  const ownerOf = new Array<number>(right.length).fill(-1);
  return left.every((_, start) => augment(start, left, right, ownerOf));
}

function augment(start: number, left: readonly Vector[], right: readonly Vector[], ownerOf: number[]): boolean {
  const reachedFrom = new Map<number, number>();
  const queue = [start];
  for (const from of queue) {
    for (let to = 0; to < right.length; to += 1) {
      if (reachedFrom.has(to) || !closeVectors(left[from] ?? [], right[to] ?? [])) continue;
      reachedFrom.set(to, from);
      const owner = ownerOf[to] ?? -1;
      if (owner < 0) {
        flip(to, start, reachedFrom, ownerOf);
        return true;
      }
      queue.push(owner);
    }
  }
  return false;
}

/** Walks the path back to its start and assigns every right vector on it to the left vector that reached it. */
function flip(end: number, start: number, reachedFrom: ReadonlyMap<number, number>, ownerOf: number[]): void {
  let to = end;
  for (;;) {
    const from = reachedFrom.get(to) ?? start;
    const previous = ownerOf.indexOf(from);
    ownerOf[to] = from;
    if (from === start) return;
    to = previous;
  }
}

function closeVectors(left: Vector, right: Vector): boolean {
  return left.every((value, axis) => closeNumbers(value, at(right, axis)));
}

function at(vector: Vector, axis: number): number {
  return vector[axis] ?? Number.NaN;
}
