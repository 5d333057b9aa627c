/**
 * How a CSV file is written: delimiter, header and the lines above it. DuckDB's own sniffer takes a file with one ragged line or
 * with a footnote for a single column, the first of three lines of titles for the header, and years for data.
 */
import { unique } from './sources';

export interface CsvDialect {
  /** Null: the lines are one column. */
  readonly delimiter: string | null;
  readonly columns: readonly string[];
  /** From 1; null: no header. */
  readonly headerLine: number | null;
  /** Before the header, or before the first row. */
  readonly skipped: readonly string[];
  /** Lines to leave out when it is written again: DuckDB misreads titles with quotes. */
  readonly drop: number;
  /** Lines before the first row then, where one with quoted line breaks counts once. */
  readonly skip: number;
  /** Those that are not blank, with each line break, of what is not left out. */
  readonly above: number;
}

interface Line {
  readonly cells: readonly string[];
  /** Of its first character, from 1. */
  readonly line: number;
  /** How many lines are above, where one with quoted line breaks counts once. */
  readonly above: number;
  /** Where the next one begins. */
  readonly next: number;
  readonly hasQuotes: boolean;
}

/** In the order in which one is taken that explains the lines as well as another: decimals are written with commas. */
const DELIMITERS = ['\t', ';', '|', ','];
const MAX_LINES = 2000;

/** `isWhole`: the text is all of the file. */
export function dialectOf(text: string, isWhole: boolean): CsvDialect {
  const read = DELIMITERS.map((delimiter) => ({ delimiter, ...consistency(linesOf(text, delimiter, isWhole)) }));
  const [best] = read
    .filter(({ width, share }) => width > 1 && share >= 0.5)
    .sort((a, b) => b.share - a.share || b.width - a.width);
  const lines = best?.lines ?? linesOf(text, null, isWhole);
  const width = best?.width ?? 1;
  const first = firstOf(lines, width);
  const header = lines[first];
  const isHeader =
    header !== undefined &&
    looksLikeHeader(
      header.cells,
      lines.slice(first + 1).map(({ cells }) => cells),
    );
  const names = isHeader
    ? header.cells.map((cell) => cell.replace(/\s+/g, ' ').trim())
    : Array.from({ length: width }, () => '');
  const skipped = lines.slice(0, first).map(({ cells }) => cells.join(best?.delimiter ?? '').trim());
  const drop = header !== undefined && lines.slice(0, first).some(({ hasQuotes }) => hasQuotes) ? header.line - 1 : 0;
  const end = header === undefined ? 0 : (isHeader ? header.next : header.line) - 1;
  return {
    delimiter: best?.delimiter ?? null,
    columns: unique(names.map((name, index) => name || `column_${index + 1}`)),
    headerLine: isHeader ? header.line : null,
    skipped,
    drop,
    skip: (drop > 0 ? 0 : (header?.above ?? 0)) + (isHeader ? 1 : 0),
    above: text
      .split('\n', end)
      .slice(drop)
      .filter((line) => line.trim() !== '').length,
  };
}

function consistency(lines: readonly Line[]) {
  const counts = new Map<number, number>();
  for (const { cells } of lines) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [width = 1, count = 0] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? [];
  return { lines, width, share: count / Math.max(1, lines.length) };
}

/** Lines that are not blank; the last is left out where the text may end within it. */
function linesOf(text: string, delimiter: string | null, isWhole: boolean): Line[] {
  const lines: Line[] = [];
  let cells: string[] = [];
  let [cell, line, began, above] = ['', 1, 1, 0];
  let isQuoted = false;
  let hasQuotes = false;
  const end = (): void => {
    cells.push(cell);
    if (cells.length > 1 || cell.trim() !== '') lines.push({ cells, line: began, next: line, above, hasQuotes });
    above += 1;
    [cells, cell, began, hasQuotes] = [[], '', line, false];
  };
  for (let at = 0; at < text.length && lines.length < MAX_LINES; at += 1) {
    const character = text.charAt(at);
    const isEnd = character === '\n' || (character === '\r' && text.charAt(at + 1) !== '\n');
    if (isEnd) line += 1;
    hasQuotes ||= character === '"';
    if (isQuoted) {
      const isDoubled = character === '"' && text.charAt(at + 1) === '"';
      if (isDoubled) at += 1;
      if (isDoubled || character !== '"') cell += character;
      else isQuoted = false;
    } else if (character === '"' && cell.trim() === '') {
      isQuoted = true;
      cell = '';
    } else if (character === delimiter) {
      cells.push(cell);
      cell = '';
    } else if (isEnd) end();
    else if (character !== '\r') cell += character;
  }
  if (isWhole && (cell !== '' || cells.length > 0) && lines.length < MAX_LINES) {
    line += 1;
    end();
  }
  return lines;
}

const NUMBER = /^[-+]?[0-9][0-9.,' ]*([eE][-+]?[0-9]+)?%?$/;
const DATE = /^[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}\b/;
const isValue = (cell: string): boolean => NUMBER.test(cell.trim()) || DATE.test(cell.trim());

/** The first line of the table: titles above it have other widths, or fill its first cells alone. */
function firstOf(lines: readonly Line[], width: number): number {
  const start = Math.max(
    0,
    lines.findIndex(({ cells }) => cells.length === width),
  );
  for (let at = start; at < Math.min(lines.length, start + 20); at += 1) {
    const cells = lines[at]?.cells ?? [];
    const filled = cells.filter((cell) => cell.trim() !== '');
    if (filled.length === cells.length) return at > start && !looksLikeHeader(cells, []) ? start : at;
    const isTitle =
      cells.slice(0, filled.length).every((cell) => cell.trim() !== '') &&
      (filled.length <= width / 2 || filled.some(isValue));
    if (!isTitle) return start;
  }
  return start;
}

/** A header has no value; years in a row may be names (`country,2019,2020`). */
function looksLikeHeader(cells: readonly string[], below: readonly (readonly string[])[]): boolean {
  const values = cells.filter(isValue).map((cell) => cell.trim());
  const areYears =
    values.length > 1 &&
    values.length < cells.length &&
    values.every((cell, n) => /^(19|20)\d\d$/.test(cell) && (n === 0 || Number(cell) === Number(values[n - 1]) + 1));
  if (values.length > 0 && !areYears) return false;
  // What comes again below is a value too.
  return (
    cells.length === 1 ||
    !below.slice(0, 50).some((row) => row.length === cells.length && row.every((cell, n) => cell === cells[n]))
  );
}
