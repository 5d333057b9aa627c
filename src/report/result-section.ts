/**
 * The result: its chart, as many rows as a browser lays out at once without a pause, and all rows as a file. The file is a
 * data: link, so it needs no script.
 */
import type { AnswerRecord, SqlValue } from '../domain';
import { chartOf } from './chart';
import { markup, type Html, rowsTable } from './html';
import { counted } from './printable';
import { copyButton } from './style';
import { csvLine } from '../text/result-text';

const CELLS = 5_000;
const MOST_ROWS = 1_000;
/** A larger file is left out, because it would double the size of the page; `gate show --csv` writes it. */
const FILE_CHARS = 16_000_000;

export function resultBody(record: AnswerRecord): Html | null {
  const { columns, rows, truncated } = record;
  if (columns.length === 0) return null;
  const shown = Math.max(50, Math.min(MOST_ROWS, Math.floor(CELLS / columns.length)));
  const numeric = columns.map(({ kind }) => kind === 'number');
  const table = { columns: columns.map(({ name }) => name), rows, rowCount: rows.length, truncated, numeric };
  return markup`${chartOf(record)} ${rowsTable('Result', table, shown)} ${rows.length > 0 && fileLine(record)}`;
}

function fileLine({ id, columns, rows }: AnswerRecord): Html {
  const file = spreadsheetFile(
    columns.map(({ name }) => name),
    rows,
  );
  if (file.text.length > FILE_CHARS)
    return markup`<p class="soft">The result is too large for a file inside this page. <code>gate show ${id} --csv</code> writes all rows.</p>`;
  const address = `data:text/csv;charset=utf-8;base64,${Buffer.from(file.text, 'utf8').toString('base64')}`;
  return markup`<p class="actions">
      <a class="button" id="csv" href="${address}" download="${id}.csv">Download CSV</a>
      ${copyButton('csv', 'Copy rows')}
    </p>
    ${file.guarded > 0 && markup`<p class="soft small">In the file, ${counted(file.guarded, 'text')} that a spreadsheet would run as a formula ${file.guarded === 1 ? 'begins' : 'begin'} with an apostrophe.</p>`}`;
}

interface SpreadsheetFile {
  readonly text: string;
  /** Cells that got a leading '. */
  readonly guarded: number;
}

/**
 * A result as a CSV file for spreadsheets (RFC 4180: CRLF, quotes doubled; UTF-8 with its mark, which Excel needs).
 *
 * A spreadsheet runs a cell that begins with = + - @ or a control character as a formula, and what a cell holds comes from
 * a database that others write. Texts that begin so get a leading ' and stay text; numbers, also those that arrive as text,
 * stay as they are. `gate show --csv` writes the exact values, for programs.
 */
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
