/** CSV files into tables of texts, from which `column-types.ts` makes the table. Every line is in a row, or counted. */
import { counted } from '../../../counted';
import { cut, visibleLine } from '../../../clip';
import { identifier, literal } from '../../kit/engine';
import type { Query } from './column-types';
import { dialectOf, type CsvDialect } from './dialect';
import { convert, readText, type Text } from './encoding';
import type { ImportedTable } from './report';
import type { SourceFile } from './sources';

type Reject = ImportedTable['rejects'][number];

export interface Staged {
  readonly columns: readonly string[];
  readonly reading: ImportedTable['readings'][number];
  readonly rejected: number;
  readonly rejects: readonly Reject[];
  readonly notes: readonly string[];
}

export const MAX_REJECTS = 5;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Reads a file into the new table `stage`; null: the file has no line. `scratch`: where it may be written again as UTF-8. */
export async function stageCsv(query: Query, file: SourceFile, stage: string, scratch: string): Promise<Staged | null> {
  const text = await readText(file.path);
  const dialect = dialectOf(text.head, text.isWhole);
  if (text.head.trim() === '') return null;
  const read = async (path: string, lines: number): Promise<Lines & { readonly isUnquoted: boolean }> => {
    const again = (isQuoted: boolean) => attempt(query, path, dialect, stage, lines, isQuoted);
    const first = await again(true);
    if (!first.isBroken) return { ...first, isUnquoted: false };
    // Behind a quote that is not closed DuckDB leaves out lines, and not all of them become rejects.
    const second = await again(false);
    return second.count < first.count ? { ...second, isUnquoted: true } : { ...(await again(true)), isUnquoted: false };
  };
  const converted = async (): Promise<Awaited<ReturnType<typeof read>>> =>
    read(scratch, await convert(file.path, text, scratch, dialect.drop));
  const isReadable = !text.isForeign && dialect.drop === 0;
  const { count, rejects, isUnquoted } = isReadable
    ? await read(file.path, text.lines).catch((error: unknown) => {
        // Line ends of two kinds.
        if (!/invalid state/.test((error as Error).message)) throw error;
        return converted();
      })
    : await converted();
  const total = await totals(query, file.name, stage, dialect.columns);
  return {
    columns: dialect.columns,
    reading: readingOf(file, text, dialect),
    rejected: count + total.rejects.length,
    rejects: [...rejects.map((reject) => ({ file: file.name, ...reject })), ...total.rejects].slice(0, MAX_REJECTS),
    notes: [
      ...notesOf(file, text, dialect),
      ...(isUnquoted ? [`${file.name} has a quote that is not closed: each of its lines was taken as one row`] : []),
      ...total.notes,
    ],
  };
}

interface Lines {
  /** Of lines that are in no row. */
  readonly count: number;
  readonly rejects: readonly Omit<Reject, 'file'>[];
}

/** `lines`: how many the file has that are not blank. */
async function attempt(
  query: Query,
  path: string,
  dialect: CsvDialect,
  stage: string,
  lines: number,
  isQuoted: boolean,
) {
  await query(`CREATE OR REPLACE TABLE ${stage} AS ${readCsv(path, dialect, stage, isQuoted)}`);
  const { count, rejects, isBroken } = await rejectsOf(query, stage);
  const [[rows] = []] = await query(`SELECT count(*) FROM ${stage}`);
  let lost = lines - dialect.above - Number(rows) - count;
  if (lost > 0 && isQuoted) {
    const breaks = dialect.columns.map(
      (name) => `coalesce(length(${identifier(name)}) - length(replace(${identifier(name)}, chr(10), '')), 0)`,
    );
    const [[within] = []] = await query(`SELECT sum(${breaks.join(' + ')}) FROM ${stage}`);
    lost -= Number(within ?? 0);
  }
  if (lost <= 0) return { count, rejects, isBroken };
  const reason = `${counted(lost, 'line')} that could not be read`;
  return { count: count + lost, rejects: [...rejects, { line: null, reason, text: '' }], isBroken: true };
}

function readCsv(path: string, { delimiter, columns, skip }: CsvDialect, stage: string, isQuoted: boolean): string {
  const quote = isQuoted ? '"' : '';
  const options = [
    `auto_detect = false, header = false, skip = ${skip}, delim = '${delimiter ?? '\u001f'}', quote = '${quote}', escape = '${quote}'`,
    `columns = {${columns.map((name) => `${literal(name)}: 'VARCHAR'`).join(', ')}}`,
    `compression = '${/\.gz$/i.test(path) ? 'gzip' : 'none'}', max_line_size = ${MAX_LINE_BYTES}, hive_partitioning = false`,
    `store_rejects = true, rejects_limit = 0, rejects_table = '${stage}_errors', rejects_scan = '${stage}_scans'`,
  ];
  const cells = columns
    .map(identifier)
    .map(
      (name) =>
        `CASE WHEN ${name} LIKE '"%"' THEN nullif(replace(substr(${name}, 2, length(${name}) - 2), '""', '"'), '') ELSE ${name} END AS ${name}`,
    );
  return `SELECT ${isQuoted ? '*' : cells.join(', ')} FROM read_csv(${pathLiteral(path)}, ${options.join(', ')})`;
}

function readingOf({ name }: SourceFile, { encoding }: Text, dialect: CsvDialect): Staged['reading'] {
  const { delimiter, headerLine, skipped } = dialect;
  return { files: [name], encoding, delimiter, quote: '"', headerLine, skippedLines: skipped.length };
}

function notesOf({ name }: SourceFile, { damaged }: Text, { skipped, headerLine, columns }: CsvDialect): string[] {
  const texts = skipped.map((line) => `'${cut(visibleLine(line), 60)}'`);
  return [
    ...(skipped.length > 0
      ? [`${name}: ${counted(skipped.length, 'line')} above the table left out: ${cut(texts.join(', '), 300)}`]
      : []),
    ...(headerLine === null
      ? [`${name} has no header: its columns are named column_1 to column_${columns.length}`]
      : []),
    ...(damaged > 0 ? [`${name}: ${counted(damaged, 'character')} not in UTF-8, replaced`] : []),
  ];
}

const REASONS: Readonly<Record<string, string>> = {
  'MISSING COLUMNS': 'too few cells',
  'TOO MANY COLUMNS': 'too many cells',
  'UNQUOTED VALUE': 'a quote that is not closed, or text after it',
  'LINE SIZE OVER MAXIMUM': 'a line that is too long',
  'INVALID ENCODING': 'characters that are no UTF-8',
};

/** A line may have several errors, and a quote that is not closed takes the lines that follow along. */
async function rejectsOf(query: Query, stage: string): Promise<Lines & { readonly isBroken: boolean }> {
  const lines = `(SELECT line, min(error_type) AS reason, any_value(trim(csv_line, chr(10) || chr(13) || ' ')) AS text FROM ${stage}_errors GROUP BY line)`;
  const real = `FROM ${lines} WHERE text <> ''`;
  const breaks = `length(text) - length(replace(text, chr(10), ''))`;
  const [[count, most] = []] = await query(`SELECT sum(1 + ${breaks}), max(${breaks}) ${real}`);
  const first = await query(`SELECT line, reason, text ${real} ORDER BY line LIMIT ${MAX_REJECTS}`);
  await query(`DROP TABLE ${stage}_errors`);
  await query(`DROP TABLE ${stage}_scans`);
  const rejects = first.map(([line, reason, text]) => ({
    line: Number(line),
    reason: REASONS[reason ?? ''] ?? (reason ?? '').toLowerCase(),
    text: cut(visibleLine(text ?? ''), 60),
  }));
  return { count: Number(count ?? 0), rejects, isBroken: Number(most ?? 0) > 0 };
}

const TOTAL = /^(grand |sub|over)?(totals?|sum|summe|gesamt|gesamtsumme|insgesamt|zwischensumme|somme|suma|totale)\b/i;
const MAX_TOTALS = 3;

/**
 * Last rows that are sums of those above. One is taken out, and counted, where it leaves a cell empty that every other row
 * fills; a row that only reads like a total stays, and is told.
 */
async function totals(query: Query, file: string, stage: string, columns: readonly string[]) {
  const rejects: Reject[] = [];
  const notes: string[] = [];
  while (rejects.length < MAX_TOTALS) {
    const [last] = await query(
      `SELECT rowid, ${columns.map(identifier).join(', ')} FROM ${stage} ORDER BY rowid DESC LIMIT 1`,
    );
    const [row, ...cells] = last ?? [];
    const text = cells.flatMap((cell) => cell ?? []).join(' ');
    if (!TOTAL.test(text.trim())) break;
    const empty = columns
      .filter((_, index) => cells[index] === null)
      .map((name) => `count(*) = count(${identifier(name)})`);
    const [[isTotal] = []] =
      empty.length === 0
        ? []
        : await query(`SELECT count(*) > 0 AND (${empty.join(' OR ')}) FROM ${stage} WHERE rowid < ${row}`);
    if (isTotal !== 'true') {
      notes.push(`${file}: the last row reads like a total and is kept: '${cut(visibleLine(text), 60)}'`);
      break;
    }
    await query(`DELETE FROM ${stage} WHERE rowid = ${row}`);
    rejects.push({ file, line: null, reason: 'a total at the end', text: cut(visibleLine(text), 60) });
  }
  return { rejects, notes };
}

/** The path itself, where it has characters of patterns too. */
export const pathLiteral = (path: string): string => literal(path.replace(/[*?[]/g, '[$&]'));
