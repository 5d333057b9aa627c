/** Column profiles as a model reads them: one line per column, remarks first, cut at a budget of characters. */
import type { ColumnProfile } from '../domain';
import { cut } from '../search/preview';

/** Null when there is nothing to show. What carries a remark comes before what does not, and both in table order. */
export function profileText(profiles: readonly ColumnProfile[], maxChars: number): string | null {
  if (profiles.length === 0) return null;
  const ranked = [...profiles.filter(hasRemark), ...profiles.filter((profile) => !hasRemark(profile))];
  const lines: string[] = [];
  let length = 0;
  for (const profile of ranked) {
    const line = profileLine(profile);
    if (length + line.length > maxChars) break;
    lines.push(line);
    length += line.length + 1;
  }
  const missing = ranked.length - lines.length;
  return [...lines, ...(missing > 0 ? [`(${missing} more columns not shown)`] : [])].join('\n');
}

function hasRemark(profile: ColumnProfile): boolean {
  return profile.remarks.length > 0;
}

function profileLine(profile: ColumnProfile): string {
  const parts = [
    `${profile.examined} rows`,
    `${profile.distinct} distinct`,
    ...(profile.nulls > 0 ? [`${profile.nulls} NULL`] : []),
    ...(profile.min === null ? [] : [`${cut(profile.min, 40)} .. ${cut(profile.max ?? '', 40)}`]),
    ...list(
      'top',
      profile.top.slice(0, 6).map(({ value, count }) => `${cut(value, 40)} (${count})`),
    ),
    ...list(
      'patterns',
      profile.patterns.slice(0, 5).map(({ pattern, count }) => `${cut(pattern, 40)} (${count})`),
    ),
    ...profile.remarks.map((remark) => `NOTE ${remark}`),
  ];
  return `${profile.table}.${profile.column}: ${parts.join('; ')}`;
}

function list(label: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${label} ${items.join(', ')}`];
}
