/** Numbers as Python rounds and prints them. Scorers written in Python compare the texts. */

/** `round(value, places)`: an exact half goes to the even neighbour, where `toFixed` goes away from zero. */
export function pythonRound(value: number, places: number): number {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e16) return value;
  // Exact halves are odd multiples of a power of two.
  const parts = value * 2 ** (places + 1);
  if (Number.isInteger(parts) && parts % 2 !== 0) {
    const scale = 10 ** places;
    const below = Math.floor(value * scale);
    return (below % 2 === 0 ? below : below + 1) / scale;
  }
  const rounded = Number(value.toFixed(places));
  return rounded === 0 && value < 0 ? -0 : rounded;
}

/** `repr(float)`: a whole number keeps its `.0`; very small and very large ones have an exponent of two digits at least. */
export function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  if (value === 0 || (Number(exponent) >= -4 && Number(exponent) < 16))
    return Number.isInteger(value) ? `${String(value)}.0` : String(value);
  return `${digits}e${exponent.charAt(0)}${exponent.slice(1).padStart(2, '0')}`;
}
