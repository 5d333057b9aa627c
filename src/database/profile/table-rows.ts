/**
 * The rows of one table as the profile reads them, by column. A table that fits the limit is read whole, so that its
 * figures are of all rows; of a larger one a sample is read, and every figure says so.
 */
import type { SqlValue, TableDescription } from '../../domain';

export interface TableRows {
  readonly table: TableDescription;
  /** All columns, in the table's order; each with one value a row. */
  readonly columns: readonly RowColumn[];
  /** Rows read. */
  readonly read: number;
  /** Every row of the table was read. */
  readonly whole: boolean;
}

export interface RowColumn {
  readonly name: string;
  readonly type: string;
  readonly kind: ColumnKind;
  readonly values: readonly SqlValue[];
}

/** What the values are, by the declared type and, where that says text, by the values themselves. */
export type ColumnKind = 'number' | 'time' | 'text' | 'boolean' | 'json' | 'binary';

const JSON_TYPE = /json|^(variant|object|array|map)\b/i;
const NUMBER_TYPE =
  /^(small|big|tiny|medium)?int(eger|\d+)?\b|serial|^numeric|^decimal|^real|^float|^double|^number|unsigned/i;

export function kindOf(type: string, values: readonly SqlValue[]): ColumnKind {
  if (/\[\]/.test(type)) return 'text';
  if (JSON_TYPE.test(type)) return 'json';
  if (/^bool/i.test(type)) return 'boolean';
  if (/bytea|blob|^(var)?binary/i.test(type) && !values.some(isNumber)) return 'binary';
  if (/^(date|time)/i.test(type)) return 'time';
  if (NUMBER_TYPE.test(type))
    return values.some((v) => typeof v === 'string' && !isNumber(v)) ? byValues(values) : 'number';
  return byValues(values);
}

/** SQLite declares what it likes, and dates stand in texts. */
function byValues(values: readonly SqlValue[]): ColumnKind {
  const filled = values.filter((value) => value !== null && value !== '').slice(0, 200);
  if (filled.length === 0) return 'text';
  const share = (test: (value: SqlValue) => boolean): number => filled.filter(test).length / filled.length;
  if (filled.every((value) => typeof value === 'number')) return 'number';
  if (share((value) => typeof value === 'string' && /^\s*[[{]["{[\]}\s\d]/.test(value)) > 0.9) return 'json';
  if (share((value) => typeof value === 'string' && timeOf(value) !== null) > 0.9) return 'time';
  return 'text';
}

/** A number, or a text that is written like one and has no leading zero to lose. */
export function isNumber(value: SqlValue): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value));
}

export function numberOf(value: SqlValue): number | null {
  return isNumber(value) ? Number(value) : null;
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?$/;

/** Seconds since 1970 as written: a zone is not applied, since two columns are compared as they stand. */
export function timeOf(value: SqlValue): number | null {
  if (typeof value !== 'string') return null;
  const found = ISO.exec(value);
  if (found === null) return null;
  const part = (at: number): number => Number(found[at] ?? 0);
  return Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6)) / 1000;
}

/** How a column's values are told apart; NULL and blank texts are no values. */
export function keyOf(value: SqlValue): string | null {
  if (value === null) return null;
  const text = String(value);
  return text.trim() === '' ? null : text;
}
