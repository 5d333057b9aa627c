/**
 * The rows of a CSV text, by one reader for the look at its first lines and for all of them. DuckDB's own leaves out lines behind
 * a quote that is not closed, without a word.
 *
 * 1. Each line is in one row, and blank lines outside of cells in none.
 * 2. A quote opens a cell at its beginning alone, and closes it only before a delimiter or the end of a line. One that is not
 *    closed so stays a character of its cell: it costs no other line.
 */
interface Quoted {
  readonly cells: readonly string[];
  /** Whether another reader of CSV may read the text otherwise. */
  readonly isOdd: boolean;
  /** Whether a quote opens a cell and does not close it. */
  readonly isOpen: boolean;
}

export class CsvRow {
  constructor(
    /** As it stands in the file. */
    readonly text: string,
    /** Its first line, from 1. */
    readonly line: number,
    /** How many cells it has. */
    readonly width: number,
    readonly quoted: Quoted | null,
    private readonly delimiter: string,
  ) {}

  /** Millions of rows are not asked for them. */
  get cells(): readonly string[] {
    return this.quoted?.cells ?? this.text.split(this.delimiter);
  }

  get lines(): number {
    return this.quoted === null ? 1 : this.text.split('\n').length;
  }
}

/** None of a text. */
export const NO_DELIMITER = '\u001f';
/** A quote that is not closed before is not closed at all. */
const MAX_CHARS = 16 * 1024 * 1024;
const [LINE_END, QUOTE] = [10, 34];

export class CsvRows {
  #rest = '';
  #line = 1;
  readonly #delimiter: string;

  /** Null: each line is one cell. */
  constructor(delimiter: string | null) {
    this.#delimiter = delimiter ?? NO_DELIMITER;
  }

  /** The rows that end in what was added, whose lines end in `\n` alone. `isEnd`: no more comes. */
  *add(text: string, isEnd: boolean): Generator<CsvRow> {
    const all = this.#rest + text;
    let from = 0;
    while (from < all.length) {
      const row = this.#rowAt(all, from, isEnd);
      if (row === null) break;
      if (row.width > 1 || row.text.trim() !== '') yield row;
      this.#line += row.lines;
      from += row.text.length + 1;
    }
    this.#rest = all.slice(from);
  }

  /** Null: its end is not there yet. */
  #rowAt(all: string, from: number, isEnd: boolean): CsvRow | null {
    const delimiter = this.#delimiter.charCodeAt(0);
    let [end, width, hasQuotes] = [from, 1, false];
    for (; end < all.length; end += 1) {
      const code = all.charCodeAt(end);
      if (code === LINE_END) break;
      if (code === delimiter) width += 1;
      else if (code === QUOTE) hasQuotes = true;
    }
    if (end === all.length && !isEnd) return null;
    if (hasQuotes) return this.#quotedRowAt(all, from, isEnd);
    return new CsvRow(all.slice(from, end), this.#line, width, null, this.#delimiter);
  }

  #quotedRowAt(all: string, from: number, isEnd: boolean): CsvRow | null {
    const cells: string[] = [];
    let [at, isOdd, isOpen] = [from, false, false];
    for (;;) {
      const opens = openingQuote(all, at);
      const closed = opens < 0 ? null : this.#quoted(all, opens, isEnd, all.length - from > MAX_CHARS);
      const lineEnd = all.indexOf('\n', at);
      if (closed === 'unknown' || (closed === null && lineEnd < 0 && !isEnd)) return null;
      const rest = all.slice(at, lineEnd < 0 ? all.length : lineEnd);
      const delimiter = rest.indexOf(this.#delimiter);
      const end = closed?.next ?? at + (delimiter < 0 ? rest.length : delimiter);
      const cell = closed?.cell ?? all.slice(at, end);
      isOdd ||= closed === null ? cell.includes('"') : closed.isPadded || opens > at;
      isOpen ||= closed === null && opens >= 0;
      cells.push(cell);
      if (all[end] !== this.#delimiter) {
        const quoted = { cells, isOdd, isOpen };
        return new CsvRow(all.slice(from, end), this.#line, cells.length, quoted, this.#delimiter);
      }
      at = end + 1;
    }
  }

  /** Null: the quote at `opens` does not close a cell. `isLong`: one that is not closed so far is not closed at all. */
  #quoted(all: string, opens: number, isEnd: boolean, isLong: boolean) {
    let closes = all.indexOf('"', opens + 1);
    while (closes >= 0 && all[closes + 1] === '"') closes = all.indexOf('"', closes + 2);
    let next = closes + 1;
    while (all[next] === ' ') next += 1;
    if (closes < 0) return isEnd || isLong ? null : 'unknown';
    if (next >= all.length && !isEnd) return 'unknown';
    if (next < all.length && all[next] !== this.#delimiter && all[next] !== '\n') return null;
    return { cell: all.slice(opens + 1, closes).replaceAll('""', '"'), next, isPadded: next > closes + 1 };
  }
}

/** After spaces; -1: the cell has none. */
function openingQuote(all: string, from: number): number {
  let at = from;
  while (all[at] === ' ') at += 1;
  return all[at] === '"' ? at : -1;
}
