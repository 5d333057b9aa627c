/** Tables, columns, keys, row counts and sample values of a SQLite file, from its pragma functions in one snapshot. */
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { fingerprintOf, SAMPLE_LENGTH, samplesByColumn } from '../schema-fingerprint';

/** Runs one statement in the snapshot; `null` when SQLite reports an error (a view over a dropped table, for one). */
export type Read = (sql: string) => Promise<readonly (readonly SqlValue[])[] | null>;

/** Above this size a table's rows are estimated by its highest rowid instead of counted. */
const COUNT_UP_TO_BYTES = 256 * 1024 * 1024;
const SAMPLED_ROWS = 200;

export async function describeSqlite(read: Read, fileBytes: number): Promise<DatabaseDescription> {
  const must = async (sql: string): Promise<readonly (readonly SqlValue[])[]> => (await read(sql)) ?? [];
  const version = text((await must('SELECT sqlite_version()'))[0]?.[0]);
  const listed = await must(
    `SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
  );
  const indexes = await must(
    `SELECT m.name, l.name, i.name FROM sqlite_schema m, pragma_index_list(m.name) l, pragma_index_info(l.name) i
     WHERE m.type = 'table' AND l."unique" = 1 AND l.origin <> 'pk' AND l.partial = 0 AND i.name IS NOT NULL ORDER BY m.name, l.seq, i.seqno`,
  );
  const references = await must(
    `SELECT m.name, f.id, f."from", f."table", f."to" FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq`,
  );

  const tables: TableDescription[] = [];
  for (const [rawName, type] of listed) {
    const name = text(rawName);
    const columns = await read(
      `SELECT name, type, "notnull", pk FROM pragma_table_xinfo(${literal(name)}) WHERE hidden <> 1 ORDER BY cid`,
    );
    if (columns === null || columns.length === 0) continue;
    const names = columns.map(([column]) => text(column));
    const samples = await sample(read, name, columns);
    tables.push({
      name,
      kind: type === 'view' ? 'view' : 'table',
      comment: null,
      rowEstimate: type === 'view' ? null : await rowCount(read, name, fileBytes),
      columns: columns.map(([, declared, notNull, keyPosition], index) => ({
        name: names[index] ?? '',
        type: text(declared).toLowerCase() || 'any',
        nullable: notNull === 0 && keyPosition === 0,
        comment: null,
        samples: samples[index] ?? [],
      })),
      primaryKey: columns
        .filter(([, , , position]) => Number(position) > 0)
        .sort((a, b) => Number(a[3]) - Number(b[3]))
        .map(([column]) => text(column)),
      uniqueKeys: grouped(indexes.filter(([table]) => table === rawName)).map((rows) =>
        rows.map((row) => text(row[2])),
      ),
      foreignKeys: grouped(references.filter(([table]) => table === rawName)).map((rows) => ({
        columns: rows.map((row) => text(row[2])),
        table: text(rows[0]?.[3]),
        references: rows.every((row) => row[4] !== null) ? rows.map((row) => text(row[4])) : [],
      })),
    });
  }
  const keys = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  const complete = tables.map((table) => ({
    ...table,
    // A reference without columns is to the primary key; its spelling may differ in case from the table's.
    foreignKeys: table.foreignKeys.map((key) => {
      const target = keys.get(key.table.toLowerCase());
      return {
        ...key,
        table: target?.name ?? key.table,
        references: key.references.length > 0 ? key.references : (target?.primaryKey ?? []),
      };
    }),
  }));
  return { dialect: 'sqlite', version: `SQLite ${version}`, tables: complete, fingerprint: fingerprintOf(complete) };
}

async function sample(read: Read, table: string, columns: readonly (readonly SqlValue[])[]): Promise<string[][]> {
  const cut = columns.map(([column, declared]) =>
    /BLOB/i.test(text(declared))
      ? 'NULL'
      : `substr(CAST(${identifier(text(column))} AS TEXT), 1, ${SAMPLE_LENGTH + 1})`,
  );
  const rows = (await read(`SELECT ${cut.join(', ')} FROM ${identifier(table)} LIMIT ${SAMPLED_ROWS}`)) ?? [];
  return samplesByColumn(
    rows.map((row) => row.map((value) => (value === null ? null : String(value)))),
    columns.length,
  );
}

async function rowCount(read: Read, table: string, fileBytes: number): Promise<number | null> {
  const sql =
    fileBytes <= COUNT_UP_TO_BYTES
      ? `SELECT count(*) FROM ${identifier(table)}`
      : `SELECT max(rowid) FROM ${identifier(table)}`;
  const value = (await read(sql))?.[0]?.[0];
  return typeof value === 'number' ? value : null;
}

/** Consecutive rows that share their first two values. */
function grouped(rows: readonly (readonly SqlValue[])[]): (readonly SqlValue[])[][] {
  const groups = new Map<string, (readonly SqlValue[])[]>();
  for (const row of rows) {
    const key = JSON.stringify([row[0], row[1]]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

const text = (value: SqlValue | undefined): string => (value === null || value === undefined ? '' : String(value));
const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
