/** CSV files into tables of texts, from which `column-types.ts` makes the table. Every line is in a row, or counted. */
import { counted } from '../../../counted';
import { cut, visibleLine } from '../../../clip';
import { identifier, literal } from '../../kit/engine';
import type { Query } from './column-types';
import { CsvRows, NO_DELIMITER, type CsvRow } from './csv-rows';
import { dialectOf, isComment, isRuler, type CsvDialect } from './dialect';
import { piecesOf, writeText, type Text } from './encoding';
import { MAX_REJECTS, type ImportedTable, type Reject } from './report';

/** What one file of a table became. */
export type Staged = Pick<ImportedTable, 'rejected' | 'rejects' | 'notes'> & {
  readonly columns: readonly string[];
  /** Of a CSV file alone, as is the delimiter. */
  readonly reading?: string;
  readonly delimiter?: string | null;
  /** Of a JSON file alone: the member whose objects are its rows. */
  readonly list?: string | null;
};

/** DuckDB takes sixteen times the longest row as a buffer. */
const LINE_BYTES = 2 * 1024 * 1024;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Reads a file into the new table `stage`. `scratch`: where its rows are written, each with the same number of cells. */
export async function stageCsv(query: Query, file: string, text: Text, scratch: string): Promise<Staged> {
  const dialect = dialectOf(text.head, text.isWhole);
  const written = await writeRows(file, text, dialect, scratch);
  await query(`CREATE TABLE stage AS ${readCsv(scratch, dialect, written.longest)}`);
  const [[rows] = []] = await query(`SELECT count(*) FROM stage`);
  if (Number(rows) !== written.rows) throw new Error(`${rows} of ${written.rows} rows of ${file} were read`);
  const kept = await keptOf(query, dialect.columns, written.last);
  const totals = written.last.slice(kept).map((row) => rejectOf(file, row, 'a total at the end'));
  const sums = written.sums + kept;
  return {
    columns: dialect.columns,
    delimiter: dialect.delimiter,
    reading: readingOf(text, dialect),
    rejected: written.rejected + totals.length,
    rejects: [...written.rejects, ...totals].slice(0, MAX_REJECTS),
    notes: [
      ...notesOf(text, dialect),
      ...written.notes,
      ...(sums === 0 ? [] : [`${counted(sums, 'row')} kept that may be a total of others`]),
    ],
  };
}

/** `last`: the last rows, if they read like totals. They are not written. `sums`: how many others do. */
async function writeRows(file: string, text: Text, dialect: CsvDialect, to: string) {
  const { isEscaped, columns } = dialect;
  const delimiter = dialect.delimiter ?? NO_DELIMITER;
  const reader = new CsvRows(dialect.delimiter);
  const rejects: Reject[] = [];
  const last: CsvRow[] = [];
  let [rows, rejected, open, sums, longest] = [0, 0, 0, 0, LINE_BYTES];
  const lines: string[] = [];
  const write = (row: CsvRow): void => {
    const line = row.quoted?.isOdd === true ? row.cells.map(quoted).join(delimiter) : row.text;
    const bytes = line.length * 3 > LINE_BYTES ? Buffer.byteLength(line) + 1 : 0;
    const reason = reasonOf(row, dialect, bytes);
    if (reason === null) {
      rows += 1;
      longest = Math.max(longest, bytes);
      lines.push(line);
      return;
    }
    rejected += row.lines;
    if (rejects.length < MAX_REJECTS) rejects.push(rejectOf(file, row, reason));
  };
  const add = (piece: string, isEnd: boolean): string => {
    for (const row of reader.add(piece, isEnd)) {
      if (row.line < dialect.start && !isRuler(row.text)) continue;
      if (row.quoted?.isOpen === true) open += 1;
      const isLast = row.width === columns.length && isTotal(row);
      if (isLast) last.push(row);
      for (const earlier of last.splice(0, isLast ? last.length - MAX_TOTALS : last.length)) {
        sums += 1;
        write(earlier);
      }
      if (!isLast) write(row);
    }
    return lines.length === 0 ? '' : `${lines.splice(0).join('\n')}\n`;
  };
  const all = async function* (): AsyncGenerator<string> {
    for await (const piece of piecesOf(text, isEscaped)) yield add(piece, false);
    yield add('', true);
  };
  await writeText(to, all());
  const notes = open === 0 ? [] : [`${counted(open, 'row')} with a quote that is not closed, taken for a character`];
  return { rows, rejected, rejects, notes, longest, last, sums };
}

function rejectOf(file: string, { line, text }: CsvRow, reason: string): Reject {
  return { file, line, reason, text: cut(visibleLine(cut(text, 200)), 60) };
}

function reasonOf({ width, text }: CsvRow, dialect: CsvDialect, bytes: number): string | null {
  const { columns, header, groups, isSure } = dialect;
  if (bytes > MAX_LINE_BYTES) return 'a line that is too long';
  if (isSure && (text === header?.text || text === groups?.text)) return 'the header again';
  if (isRuler(text)) return 'a line of dashes';
  if (width === columns.length) return null;
  if (isComment(text)) return 'a comment';
  return width < columns.length ? 'too few cells' : 'too many cells';
}

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;

function readCsv(path: string, { delimiter, columns }: CsvDialect, longest: number): string {
  const options = [
    `auto_detect = false, header = false, delim = '${delimiter ?? NO_DELIMITER}', quote = '"', escape = '"', new_line = '\\n'`,
    `columns = {${columns.map((name) => `${literal(name)}: 'VARCHAR'`).join(', ')}}`,
    `compression = 'none', max_line_size = ${longest}, hive_partitioning = false`,
  ];
  return `FROM read_csv(${pathLiteral(path)}, ${options.join(', ')})`;
}

function readingOf({ encoding }: Text, { delimiter, isEscaped, header, groups }: CsvDialect): string {
  return [
    encoding.startsWith('Windows')
      ? `taken for ${encoding}, because it is no UTF-8 (save it as that if letters look wrong)`
      : encoding,
    ...(delimiter === null ? [] : [`delimiter ${delimiter === '\t' ? 'tab' : delimiter}`]),
    ...(isEscaped ? ['\\" for a quote in a cell, \\\\ for \\'] : []),
    ...(header === null
      ? []
      : [groups === null ? `header in line ${header.line}` : `header in lines ${groups.line} and ${header.line}`]),
  ].join(', ');
}

function notesOf({ damaged }: Text, dialect: CsvDialect): string[] {
  const { isUnread, above, under, header, columns } = dialect;
  const hasRowNames = header !== null && header.width < columns.length && columns[0] === 'column_1';
  const leftOut = (where: string, lines: readonly CsvRow[]): string[] => {
    const texts = lines.map(({ text }) => `'${cut(visibleLine(text), 200)}'`);
    return lines.length > 0
      ? [`${counted(lines.length, 'line')} ${where} left out: ${cut(texts.join(', '), 400)}`]
      : [];
  };
  return [
    ...leftOut('above the table', above),
    ...leftOut('under the header', under),
    ...(header === null ? [`no header: columns are named column_1 to column_${columns.length}`] : []),
    ...(hasRowNames ? ['the header has no name for the first column, taken for names of rows'] : []),
    ...(isUnread
      ? ['no delimiter gives most lines the same number of cells, so each line is one: save it with a delimiter']
      : []),
    ...(damaged > 0 ? [`${counted(damaged, 'character')} not in UTF-8, replaced`] : []),
  ];
}

/** The path itself, where it has characters of patterns too. */
export const pathLiteral = (path: string): string => literal(path.replace(/[*?[]/g, '[$&]'));

const TOTAL =
  /^[\s"';,|]*(?:grand |sub|over)?(?:(totals?|summe|gesamt|gesamtsumme|gesamtergebnis|insgesamt|zwischensumme|somme|suma|totale|totalt|razem|celkem|итого|всего|合計|总计)|sum|average|mean|durchschnitt|mittelwert|moyenne)(?![\p{L}\p{N}_])/iu;
const ALONE = /^( g[eé]n[eé]ral)?[ "':]*([\t;,|]|$)/i;
const MAX_TOTALS = 3;

/** Names begin with such words too (`Total Energies`, `Average Joe`): those of totals, which the pattern captures, need an empty cell. */
function isTotal(row: CsvRow): boolean {
  const [begin, total] = TOTAL.exec(row.text) ?? [];
  if (begin === undefined) return false;
  const isEmptySomewhere = total !== undefined && row.cells.some((cell) => cell.trim() === '');
  return isEmptySomewhere || ALONE.test(row.text.slice(begin.length));
}

/**
 * How many of the last rows, which read like totals, are kept, and told. One is left out, and counted, where it leaves a cell
 * empty that every other row fills.
 */
async function keptOf(query: Query, columns: readonly string[], last: readonly CsvRow[]): Promise<number> {
  const filled = columns.map((name) => `count(*) > 0 AND count(*) = count(${identifier(name)})`);
  const [isFilled = []] = last.length === 0 ? [] : await query(`SELECT ${filled.join(', ')} FROM stage`);
  const kept = last.findLastIndex(
    ({ cells }) => !cells.some((cell, index) => cell.trim() === '' && isFilled[index] === 'true'),
  );
  for (const { cells } of last.slice(0, kept + 1))
    await query(`INSERT INTO stage VALUES (${cells.map((cell) => `nullif(${literal(cell)}, '')`).join(', ')})`);
  return kept + 1;
}
