/** Tables for profiles, written as rows. */
import type { SqlValue, TableDescription } from '../../../../src/domain';
import { profileTables, type TableProfile } from '../../../../src/database/profile';
import { kindOf, type TableRows } from '../../../../src/database/profile/table-rows';

export interface Given {
  readonly name: string;
  /** `name type`. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
  readonly primaryKey?: readonly string[];
  readonly uniqueKeys?: readonly (readonly string[])[];
  readonly foreignKeys?: TableDescription['foreignKeys'];
  readonly whole?: boolean;
}

export function describe({
  name,
  columns,
  rows,
  primaryKey = [],
  uniqueKeys = [],
  foreignKeys = [],
}: Given): TableDescription {
  return {
    ...{
      name,
      kind: 'table',
      comment: null,
      rowEstimate: rows.length,
      primaryKey: [...primaryKey],
      uniqueKeys: uniqueKeys.map((key) => [...key]),
    },
    foreignKeys,
    columns: columns.map((column) => {
      const [called = '', ...type] = column.split(' ');
      return { name: called, type: type.join(' '), nullable: true, comment: null, samples: [] };
    }),
  };
}

export function readFrom(given: Given): TableRows {
  const table = describe(given);
  const columns = table.columns.map(({ name, type }, at) => {
    const values = given.rows.map((row) => row[at] ?? null);
    return { name, type, kind: kindOf(type, values), values };
  });
  return { table, columns, read: given.rows.length, whole: given.whole ?? true };
}

export function profiled(tables: readonly Given[], options = { values: true }): Promise<TableProfile[]> {
  return profileTables(tables.map(readFrom), options, () => Promise.resolve());
}

/** What the profile of `table` says of `column`; null: of the table. */
export async function said(tables: readonly Given[], table: string, column: string | null): Promise<string> {
  const found = (await profiled(tables)).find((each) => each.table === table);
  return (found?.pieces ?? [])
    .filter((piece) => piece.column === column)
    .map(({ text }) => text)
    .join('; ');
}

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
