/**
 * HTML that cannot be broken by what it shows: every value put into a `markup` template is escaped, unless it is itself
 * the result of one. Control and direction-override characters become visible, so that a cell cannot rearrange a page. Badges,
 * tables and results are the parts that several sections share.
 */
import type { SqlResult, SqlValue } from '../domain';
import { clip } from '../clip';
import { cell, counted, visible } from './printable';
import type { Tone } from './words';

export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | null | undefined | false | readonly Part[];

export function markup(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let text = strings[0] ?? '';
  values.forEach((value, index) => (text += show(value) + (strings[index + 1] ?? '')));
  return new Html(text);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** A fragment identifier for anything: letters, digits, `_`, `-` and `.`; the rest as code points. */
export function anchor(kind: string, id: string): string {
  return `${kind}-${id.replace(/[^A-Za-z0-9_.-]/gu, (character) => `_${(character.codePointAt(0) ?? 0).toString(16)}`)}`;
}

function show(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'object') return part.map(show).join('');
  return escapeHtml(String(part));
}

export function badge(text: string, tone: Tone): Html {
  return markup`<span class="badge ${tone}">${text}</span>`;
}

const CELL = 400;

/** `heads` and `cells`: complete elements. */
export function table(label: string, heads: readonly Html[], rows: readonly Html[]): Html {
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${heads}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

export function head(text: string): Html {
  return markup`<th scope="col">${text}</th>`;
}

/** A block that a click opens. */
export function details(summary: string | Html, body: Html): Html {
  return markup`<details>
    <summary>${summary}</summary>
    ${body}
  </details>`;
}

export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
  /** All rows there were; the table shows the first `shown`. */
  readonly rowCount: number;
  /** The cap of the engine was reached: there were more than `rowCount`. */
  readonly truncated?: boolean;
  /** Columns of numbers, where that is known: their heads stand over them. */
  readonly numeric?: readonly boolean[];
}

export function rowsTable(
  label: string,
  { columns, rows, rowCount, truncated, numeric = [] }: Rows,
  shown: number,
): Html {
  if (columns.length === 0) return markup`<p class="soft">${label}: no columns</p>`;
  const first = rows.slice(0, shown);
  const total = `${truncated ? 'more than ' : ''}${counted(rowCount, 'row')}`;
  const caption =
    first.length < rowCount ? `${label}: first ${counted(first.length, 'row')} of ${total}` : `${label}: ${total}`;
  return markup`<p class="caption" aria-hidden="true">${caption}</p>
    ${table(
      caption,
      columns.map((name, at) => markup`<th scope="col"${numeric[at] && NUMERIC}>${name}</th>`),
      first.map((row) => markup`<tr>${row.map((value, at) => tableCell(value, numeric[at] ?? false))}</tr>`),
    )}`;
}

const NUMERIC = markup` class="num"`;

function tableCell(value: SqlValue, isNumber: boolean): Html {
  if (value === null) return markup`<td class="null">NULL</td>`;
  const text = cell(value);
  if (typeof value === 'number' || (isNumber && /^[-+\d.eE]{1,60}$/.test(text)))
    return markup`<td class="num">${text}</td>`;
  if (text.length <= CELL) return markup`<td>${text}</td>`;
  const start = clip(text, CELL);
  const more = markup`<span class="soft">… ${counted(text.length - start.length, 'more character')}</span>`;
  return markup`<td>${[start, more]}</td>`;
}

export function resultOf(label: string, result: SqlResult, shown: number): Html {
  switch (result.kind) {
    case 'rows': {
      const { columns, rows, truncated } = result;
      return rowsTable(
        label,
        {
          columns: columns.map(({ name }) => name),
          numeric: columns.map(({ kind }) => kind === 'number'),
          rows,
          rowCount: rows.length,
          truncated,
        },
        shown,
      );
    }
    case 'sql-error':
      return markup`<p>${badge('SQL error', 'bad')} ${result.message}</p>`;
    case 'timeout':
      return markup`<p>${badge('timeout', 'bad')} no result within ${result.afterMs / 1000} s</p>`;
    case 'refused':
      return markup`<p>${badge('refused', 'bad')} ${result.message}</p>`;
    default:
      return result satisfies never;
  }
}
