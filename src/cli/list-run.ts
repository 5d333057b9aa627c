/** What `gate list` prints. It loads nothing of a search and its report. */
import { openApp } from '../app/app';
import { searches, type SearchRow } from '../app/search-list';
import { cut, wrapped } from '../report/printable';
import { eventPrinter } from './follow';
import type { Io } from './io';
import { textTable } from './table';

/** Width of the table when it is not printed on a terminal. */
const PIPED_WIDTH = 200;
/** Narrower terminals have no room for columns of texts. */
const TABLE_WIDTH = 120;

export async function runList(limit: number, json = false, io: Io): Promise<void> {
  const app = openApp(io, eventPrinter(io).onEvent);
  const rows = await searches(app, limit);
  if (json) io.out(`${JSON.stringify(rows, null, 2)}\n`);
  else if (rows.length === 0) io.err('no question was asked yet; begin with: gate ask "…" --db …\n');
  else io.out(`${listText(rows, io.outIsTerminal ? io.columns : PIPED_WIDTH)}\n`);
}

function listText(rows: readonly SearchRow[], width: number): string {
  const isWide = width >= TABLE_WIDTH;
  const cells = rows.map(({ id, status, startedAt, database, question, after, answer }) => [
    id,
    status,
    startedAt.slice(0, 16).replace('T', ' '),
    cut(database, 20),
    ...(isWide ? [cut(chained(question, after), 60), cut(answer ?? '', 60)] : []),
  ]);
  const heads = ['id', 'status', 'asked (UTC)', 'database', 'question', 'answer'];
  const table = textTable(heads.slice(0, cells[0]?.length), cells, { width, whole: 3 });
  if (isWide) return table;
  // In a narrow terminal, question and answer stand on lines of their own.
  const [head = '', rule = '', ...lines] = table.split('\n');
  const below = ({ question, after, answer }: SearchRow): string[] => [
    ...wrapped(chained(question, after), width - 2, 2).map((line) => `  ${line}`),
    ...(answer === null ? [] : [`  ${cut(answer, width - 2)}`]),
  ];
  return [head, rule, ...lines.flatMap((line, at) => [line, ...rows.slice(at, at + 1).flatMap(below)])].join('\n');
}

/** A question that follows another stands behind its id. */
function chained(question: string, after: string | undefined): string {
  return after === undefined ? question : `(after ${after.slice(0, 8)}) ${question}`;
}
