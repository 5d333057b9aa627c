/** Bytes for people, with three digits: `1.23 TB`. */
export function size(bytes: number): string {
  const power = Math.min(5, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'][power] ?? ''}`;
}
