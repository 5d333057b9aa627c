/** Profiles as compact text for a prompt: one line per column under its table, columns with remarks before plain ones. */
import type { ColumnProfile } from '../domain';
import { fitting } from './fitting';

const VALUE_LENGTH = 40;

export function renderProfiles(profiles: readonly ColumnProfile[], maxChars: number): string {
  const tables = [...new Set(profiles.map(({ table }) => table))];
  const lines = profiles.map((profile) => ({ profile, line: lineOf(profile) }));
  const ranked = [...lines].sort((a, b) => Number(b.profile.remarks.length > 0) - Number(a.profile.remarks.length > 0));
  const kept = fitting(ranked, maxChars, ({ profile, line }, kept) => {
    const isFirst = ![...kept].some((each) => each.profile.table === profile.table);
    return line.length + 1 + (isFirst ? headingOf(profile).length + 1 : 0);
  });
  const blocks = tables.flatMap((table) => {
    const own = lines.filter((each) => each.profile.table === table);
    const shown = own.filter((each) => kept.has(each)).map(({ line }) => line);
    return shown.length === 0 || own[0] === undefined ? [] : [[headingOf(own[0].profile), ...shown].join('\n')];
  });
  const dropped = profiles.length - kept.size;
  return [...blocks, ...(dropped > 0 ? [`(${dropped} profiled columns are not shown)`] : [])].join('\n');
}

const headingOf = ({ table, examined }: ColumnProfile): string => withoutBreaks(`${table} (${examined} rows examined)`);

function lineOf({ column, examined, nulls, distinct, min, max, top, patterns, remarks }: ColumnProfile): string {
  const complete = distinct <= top.length;
  const facts = [
    `${distinct} distinct`,
    ...(nulls > 0 ? [`${nulls} of ${examined} NULL`] : []),
    ...(min !== null && max !== null && min !== max && !complete ? [`${cut(min)} to ${cut(max)}`] : []),
    ...(top.length > 0 && distinct > 1 && (complete || (top[0]?.count ?? 0) > 1)
      ? [
          `${complete ? 'values' : 'most often'} ${top.map(({ value, count }) => `${cut(value)} (${count})`).join(', ')}`,
        ]
      : []),
    ...(patterns.length > 0 && !complete
      ? [
          `formats ${patterns
            .slice(0, 4)
            .map(({ pattern, count }) => `${pattern} (${count})`)
            .join(', ')}`,
        ]
      : []),
  ];
  return withoutBreaks(`- ${column}: ${facts.join('; ')}${remarks.length > 0 ? `. ! ${remarks.join('. ! ')}` : ''}`);
}

/** A shortened value, quoted if a reader could not see where it ends. */
function cut(value: string): string {
  const shown = value.length > VALUE_LENGTH ? `${value.slice(0, VALUE_LENGTH - 1)}…` : value;
  return /^[^\s,;()'](?:[^,;()'\n\r]*[^\s,;()'])?$/.test(shown) ? shown : `'${shown}'`;
}

/** Removes line breaks, so that a value or JSON key cannot begin a new line of the prompt. */
const withoutBreaks = (text: string): string => text.replace(/[\n\r\t]+/g, ' ');
