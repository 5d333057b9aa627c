/**
 * Other readings that the question's words allow, beside the rows of the answer: where a reading gives the same rows but for
 * the value in the last column, that value is a column of its own. Pure.
 */
import type { AnswerRecord, Excerpt, OpenAssumption, SqlValue } from '../domain';
import { visibleLine } from './visible';
import { grouped } from '../counted';

type Answered = Pick<AnswerRecord, 'columns' | 'rows' | 'truncated' | 'openAssumptions'>;

interface Beside {
  readonly of: OpenAssumption;
  /** What the column is called in words. */
  readonly label: string;
  readonly values: readonly SqlValue[];
  /** Rows whose value is another one. */
  readonly differing: number;
}

/** The rows as they are shown, with a column for each reading that has one. */
export function withOtherReadings<Record extends Answered>(record: Record): Record {
  const beside = besideRows(record).filter(({ differing }) => differing > 0);
  const measure = record.columns.at(-1);
  if (beside.length === 0 || measure === undefined) return record;
  return {
    ...record,
    columns: [...record.columns, ...beside.map(({ label }) => ({ ...measure, name: `${measure.name} (${label})` }))],
    rows: record.rows.map((row, at) => [...row, ...beside.map(({ values }) => values[at] ?? null)]),
  };
}

/** What a reading gives, in words; null: it is not known. */
export function otherReadingText(record: Answered, open: OpenAssumption): string | null {
  if (open.alternative === null) return null;
  const { reading, gives } = open.alternative;
  const read = `Read as "${visibleLine(reading)}"`;
  const beside = besideRows(record).find(({ of }) => of === open);
  if (beside === undefined) return `${read} it would be: ${visibleLine(gives)}.`;
  if (beside.differing === 0) return `${read} it would be the same.`;
  const measure = visibleLine(record.columns.at(-1)?.name ?? '');
  return `${read} (${beside.label}), ${measure} differs in ${grouped(beside.differing)} of ${grouped(record.rows.length)} rows.`;
}

function besideRows(record: Answered): Beside[] {
  const found = record.openAssumptions.flatMap((of) => {
    const values = valuesBeside(record, of.alternative?.result);
    return values === null ? [] : [{ of, values }];
  });
  return found.map(({ of, values }, at) => ({
    ...{ of, values },
    label: found.length === 1 ? 'other reading' : `other reading ${at + 1}`,
    differing: values.filter((value, row) => value !== record.rows[row]?.at(-1)).length,
  }));
}

/** The last value of the row with the same other values, for each row; null: the rows are not the same ones. */
function valuesBeside({ columns, rows, truncated }: Answered, other: Excerpt | undefined): SqlValue[] | null {
  if (rows.length < 2 || truncated || columns.length < 2) return null;
  if (other?.rows.length !== rows.length || other.rowCount !== rows.length) return null;
  if (other.columns.length !== columns.length) return null;
  const keyOf = (row: readonly SqlValue[]): string => JSON.stringify(row.slice(0, -1));
  const values = new Map(other.rows.map((row) => [keyOf(row), row.at(-1) ?? null]));
  const keys = new Set(rows.map(keyOf));
  if (keys.size < rows.length || !rows.every((row) => values.has(keyOf(row)))) return null;
  return rows.map((row) => values.get(keyOf(row)) ?? null);
}
