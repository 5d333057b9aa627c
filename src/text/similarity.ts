/**
 * How alike two texts are, from 0 to 100: twice their longest common subsequence in the sum of their lengths (the normalised
 * indel similarity, which rapidfuzz calls `ratio`).
 */
export function similarity(one: string, other: string): number {
  const [a, b] = [Array.from(one), Array.from(other)];
  if (a.length + b.length === 0) return 100;
  let lengths = new Uint32Array(b.length + 1);
  for (const character of a) {
    const next = new Uint32Array(b.length + 1);
    b.forEach((each, at) => {
      next[at + 1] = each === character ? at0(lengths, at) + 1 : Math.max(at0(lengths, at + 1), at0(next, at));
    });
    lengths = next;
  }
  return (200 * at0(lengths, b.length)) / (a.length + b.length);
}

function at0(lengths: Uint32Array, index: number): number {
  return lengths[index] ?? 0;
}
