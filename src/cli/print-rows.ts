/**
 * `--csv`: the rows of a result and nothing else on standard output; what a reader of the rows must know goes to standard
 * error. The values are exact: a program reads them. The file of a report guards texts that a spreadsheet would run.
 */
import type { AnswerRecord } from '../domain';
import { capital, counted, visible } from '../report/printable';
import { provedText } from '../text/answer-text';
import { coverageText } from '../sql/coverage';
import type { Io } from './io';
import { csv } from './table';

export function printRows(record: AnswerRecord, io: Pick<Io, 'out' | 'err'>): void {
  const { id, status, columns, rows, truncated, coverage, reason } = record;
  const why = reason === null ? '' : `: ${visible(reason).replace(/\s+/g, ' ')}`;
  if (columns.length === 0) {
    io.err(`no rows, ${status}${why}\n`);
    return;
  }
  io.out(
    csv(
      columns.map(({ name }) => name),
      rows,
    ),
  );
  if (status !== 'answered') io.err(`${capital(`${status}${why}`)}; these are the rows of the best candidate\n`);
  if (truncated) io.err(`cut after ${counted(rows.length, 'row')}: the query has more\n`);
  const partial = coverage === undefined ? null : coverageText(coverage);
  if (partial !== null) io.err(`${partial}\n`);
  io.err(`${provedText(record)}; gate result ${id} shows the evidence\n`);
}
