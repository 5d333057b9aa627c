/**
 * A result as a CSV file for spreadsheets (RFC 4180: CRLF, quotes doubled; UTF-8 with its mark, which Excel needs).
 *
 * A spreadsheet runs a cell that begins with = + - @ or a control character as a formula, and what a cell holds comes from
 * a database that others write. Texts that begin so get a leading ' and stay text; numbers, also those that arrive as text,
 * stay as they are. `gate result --csv` writes the exact values, for programs.
 */
import type { SqlValue } from '../domain';
import { csvLine } from '../text/csv';

export interface SpreadsheetFile {
  readonly text: string;
  /** Cells that got a leading '. */
  readonly guarded: number;
}

export function spreadsheetFile(columns: readonly string[], rows: readonly (readonly SqlValue[])[]): SpreadsheetFile {
  let guarded = 0;
  const safe = (value: SqlValue): SqlValue => {
    if (typeof value !== 'string' || !isFormula(value)) return value;
    guarded += 1;
    return `'${value}`;
  };
  const lines = [columns, ...rows].map((row) => `${csvLine(row.map(safe))}\r\n`);
  return { text: `\uFEFF${lines.join('')}`, guarded };
}

function isFormula(text: string): boolean {
  return /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/.test(text) && !/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text);
}
