/**
 * Column descriptions as CSV, one file per table as BIRD keeps them (`original_column_name`, `column_description`,
 * `data_format`, `value_description`), or one file for all with a column `table`. Quoted fields may hold line breaks.
 */
import type { DocumentNote } from '../../domain';
import { DocumentationError } from './error';

interface Row {
  readonly line: number;
  readonly fields: readonly string[];
}

const NAMES = {
  table: ['table', 'table_name', 'original_table_name'],
  column: ['original_column_name', 'column', 'column_name'],
  readable: ['column_name'],
  description: ['column_description', 'description'],
  format: ['data_format'],
  values: ['value_description', 'values'],
} as const;
type Part = keyof typeof NAMES;

/** `file`: its name without folders; without a column `table` it names the table. */
export function notesOfCsv(file: string, text: string): DocumentNote[] {
  const [head, ...rows] = parseCsv(file, text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'));
  const names = (head?.fields ?? []).map((name) => name.trim().toLowerCase());
  const at = (part: Part): number => names.findIndex((name) => (NAMES[part] as readonly string[]).includes(name));
  const first = (part: Part): number => {
    const [wanted] = NAMES[part].map((name) => names.indexOf(name)).filter((index) => index >= 0);
    return wanted ?? -1;
  };
  if (head === undefined || first('column') < 0 || at('description') < 0) {
    throw new DocumentationError(
      file,
      head?.line ?? 1,
      'no column descriptions: the first line must name original_column_name (or column) and column_description',
    );
  }
  const ofFile = file.replace(/^.*[/\\]/, '').replace(/\.csv$/i, '');
  return rows.flatMap(({ line, fields }): DocumentNote[] => {
    const extra = fields.slice(names.length).filter((field) => field.trim() !== '');
    if (extra.length > 0)
      throw new DocumentationError(
        file,
        line,
        `${fields.length} fields where the first line has ${names.length}: put a field that holds the separator in quotes`,
      );
    const value = (index: number): string => (index < 0 ? '' : (fields[index] ?? '').trim());
    const column = value(first('column'));
    const readable = first('column') === at('readable') ? '' : value(at('readable'));
    const text = [
      value(at('description')) || readable,
      ...(value(at('format')) === '' ? [] : [`stated format: ${value(at('format'))}`]),
      ...(value(at('values')) === '' ? [] : [`values: ${value(at('values'))}`]),
    ].filter((part) => part !== '');
    if (column === '' || text.length === 0) return [];
    return [{ table: value(at('table')) || ofFile, column, text: text.join('; '), source: file }];
  });
}

/** Spreadsheets of some countries and clipboards write others than commas; the first line tells. */
function separatorOf(text: string): string {
  const [head = ''] = text.split('\n', 1);
  return [',', ';', '\t'].find((each) => head.includes(each)) ?? ',';
}

/** By RFC 4180; blank lines are left out. */
export function parseCsv(file: string, text: string): Row[] {
  const separator = separatorOf(text);
  const rows: Row[] = [];
  let fields: string[] = [];
  let field = '';
  let line = 1;
  let began = 1;
  let quotedAt: number | null = null;
  const endRow = (): void => {
    fields.push(field);
    if (fields.some((each) => each !== '')) rows.push({ line: began, fields });
    fields = [];
    field = '';
  };
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charAt(index);
    if (char === '\n') line += 1;
    if (quotedAt !== null) {
      if (char !== '"') field += char;
      else if (text.charAt(index + 1) === '"') {
        field += '"';
        index += 1;
      } else quotedAt = null;
    } else if (char === '"' && field === '') quotedAt = line;
    else if (char === separator) {
      fields.push(field);
      field = '';
    } else if (char === '\n') {
      endRow();
      began = line;
    } else if (char !== '\r') field += char;
  }
  if (quotedAt !== null)
    throw new DocumentationError(file, quotedAt, 'a quoted field begins here and never ends: close it with "');
  endRow();
  return rows;
}
