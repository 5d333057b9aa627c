/** Tables, columns, keys, row counts and sample values of a SQLite file, from its pragma functions in one snapshot. */
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { groupBy } from '../../group-by';
import { identifier, literal } from '../results';
import { fingerprintOf, SAMPLE_LENGTH, samplesByColumn } from '../schema-fingerprint';

/** Runs one statement in the snapshot; `null` when SQLite reports an error (a view over a dropped table, for one). */
export type Read = (sql: string) => Promise<Rows | null>;

/** Above this size a table's rows are estimated by its highest rowid instead of counted. */
const COUNT_UP_TO_BYTES = 256 * 1024 * 1024;
const SAMPLED_ROWS = 200;

export async function describeSqlite(read: Read, fileBytes: number): Promise<DatabaseDescription> {
  const must = async (sql: string): Promise<Rows> => (await read(sql)) ?? [];
  const version = text((await must('SELECT sqlite_version()'))[0]?.[0]);
  const listed = await must(LISTED);
  const indexes = groupBy(await must(INDEXES), ([table]) => text(table));
  const references = groupBy(await must(REFERENCES), ([table]) => text(table));
  const columnsOf = await readColumns(
    read,
    listed.map(([name]) => text(name)),
  );
  const plain = listed.filter(([, type]) => type === 'table').map(([name]) => text(name));
  const sampled = await sampleTogether(read, plain, columnsOf, fileBytes);
  const tables: TableDescription[] = [];
  for (const [rawName, type] of listed) {
    const name = text(rawName);
    const columns = columnsOf.get(name) ?? [];
    if (columns.length === 0) continue;
    const { samples, count } =
      sampled.get(name) ?? (await sampleAlone(read, name, columns, type !== 'view', fileBytes));
    tables.push({
      name,
      kind: type === 'view' ? 'view' : 'table',
      comment: null,
      rowEstimate: count,
      columns: columns.map(([column, declared, notNull, keyPosition], index) => ({
        name: text(column),
        type: text(declared).toLowerCase() || 'any',
        nullable: notNull === 0 && keyPosition === 0,
        comment: null,
        samples: samples[index] ?? [],
      })),
      ...keysOf(columns, indexes.get(name) ?? [], references.get(name) ?? []),
    });
  }
  const complete = withReferences(tables);
  return { dialect: 'sqlite', version: `SQLite ${version}`, tables: complete, fingerprint: fingerprintOf(complete) };
}

type Rows = readonly (readonly SqlValue[])[];
type Columns = Rows;

const LISTED = `SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`;
const INDEXES = `SELECT m.name, l.name, i.name FROM sqlite_schema m, pragma_index_list(m.name) l, pragma_index_info(l.name) i
  WHERE m.type = 'table' AND l."unique" = 1 AND l.origin <> 'pk' AND l.partial = 0 AND i.name IS NOT NULL ORDER BY m.name, l.seq, i.seqno`;
const REFERENCES = `SELECT m.name, f.id, f."from", f."table", f."to" FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq`;

type Keys = Pick<TableDescription, 'primaryKey' | 'uniqueKeys' | 'foreignKeys'>;

function keysOf(columns: Columns, indexes: Rows, references: Rows): Keys {
  const byId = (rows: Rows): Rows[] => [...groupBy(rows, ([, id]) => id).values()];
  return {
    primaryKey: columns
      .filter(([, , , position]) => Number(position) > 0)
      .sort((a, b) => Number(a[3]) - Number(b[3]))
      .map(([column]) => text(column)),
    uniqueKeys: byId(indexes).map((rows) => rows.map((row) => text(row[2]))),
    foreignKeys: byId(references).map((rows) => ({
      columns: rows.map((row) => text(row[2])),
      table: text(rows[0]?.[3]),
      references: rows.every((row) => row[4] !== null) ? rows.map((row) => text(row[4])) : [],
    })),
  };
}

/** A reference without columns means the primary key. The table's name may be written in another case. */
function withReferences(tables: readonly TableDescription[]): TableDescription[] {
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  return tables.map((table) => ({
    ...table,
    foreignKeys: table.foreignKeys.map(({ columns, table: name, references }) => {
      const target = byName.get(name.toLowerCase());
      const own = references.length > 0 ? references : (target?.primaryKey ?? []);
      return { columns, table: target?.name ?? name, references: own };
    }),
  }));
}

/** Name, type, "notnull" and key position. One query for all tables; table by table if it fails (a broken view). */
async function readColumns(read: Read, names: readonly string[]): Promise<ReadonlyMap<string, Columns>> {
  const all = await read(
    `SELECT l.name, x.name, x.type, x."notnull", x.pk FROM pragma_table_list l, pragma_table_xinfo(l.name) x
     WHERE l.schema = 'main' AND x.hidden <> 1 ORDER BY l.name, x.cid`,
  );
  const columns = new Map<string, Columns>();
  if (all !== null) {
    for (const [table, rows] of groupBy(all, ([table]) => text(table)))
      columns.set(
        table,
        rows.map(([, ...column]) => column),
      );
    return columns;
  }
  for (const name of names) {
    const own = await read(
      `SELECT name, type, "notnull", pk FROM pragma_table_xinfo(${literal(name)}) WHERE hidden <> 1 ORDER BY cid`,
    );
    if (own !== null) columns.set(name, own);
  }
  return columns;
}

interface Sampled {
  readonly samples: string[][];
  readonly count: number | null;
}

const TABLES_PER_QUERY = 25;

/** One query for many tables, because a query per table is slow. Tables of a batch that fails are read one by one later. */
async function sampleTogether(
  read: Read,
  names: readonly string[],
  columnsOf: ReadonlyMap<string, Columns>,
  fileBytes: number,
): Promise<ReadonlyMap<string, Sampled>> {
  const sampled = new Map<string, Sampled>();
  for (let start = 0; start < names.length; start += TABLES_PER_QUERY) {
    const batch = names.slice(start, start + TABLES_PER_QUERY).filter((name) => (columnsOf.get(name) ?? []).length > 0);
    const width = Math.max(...batch.map((name) => columnsOf.get(name)?.length ?? 0), 0);
    if (batch.length === 0 || width > MAX_WIDTH) continue;
    const padded = (values: readonly string[]): string =>
      [...values, ...Array.from({ length: width - values.length }, () => 'NULL')].join(', ');
    const selects = batch.flatMap((name, index) => [
      `SELECT * FROM (SELECT ${index}, 's', ${padded(cells(columnsOf.get(name) ?? []))} FROM ${identifier(name)} LIMIT ${SAMPLED_ROWS})`,
      `SELECT ${index}, 'n', ${padded([`(${countSql(name, fileBytes)})`])}`,
    ]);
    const rows = await read(selects.join(' UNION ALL '));
    if (rows === null) continue;
    for (const [index, name] of batch.entries()) {
      const own = rows.filter(([of]) => Number(of) === index);
      sampled.set(name, {
        samples: samplesByColumn(
          own.filter(([, kind]) => kind === 's').map(([, , ...values]) => values),
          columnsOf.get(name)?.length ?? 0,
        ),
        count: toCount(own.find(([, kind]) => kind === 'n')?.[2]),
      });
    }
  }
  return sampled;
}

/** SQLite allows 2,000 columns; padding every table to that width would cost more than it saves. */
const MAX_WIDTH = 200;

async function sampleAlone(
  read: Read,
  table: string,
  columns: Columns,
  counted: boolean,
  fileBytes: number,
): Promise<Sampled> {
  const rows = await read(`SELECT ${cells(columns).join(', ')} FROM ${identifier(table)} LIMIT ${SAMPLED_ROWS}`);
  return {
    samples: samplesByColumn(rows ?? [], columns.length),
    count: counted ? toCount((await read(countSql(table, fileBytes)))?.[0]?.[0]) : null,
  };
}

function cells(columns: Columns): string[] {
  return columns.map(([column, declared]) =>
    /BLOB/i.test(text(declared))
      ? 'NULL'
      : `substr(CAST(${identifier(text(column))} AS TEXT), 1, ${SAMPLE_LENGTH + 1})`,
  );
}

function countSql(table: string, fileBytes: number): string {
  return fileBytes <= COUNT_UP_TO_BYTES
    ? `SELECT count(*) FROM ${identifier(table)}`
    : `SELECT max(rowid) FROM ${identifier(table)}`;
}

const toCount = (value: SqlValue | undefined): number | null => (typeof value === 'number' ? value : null);

const text = (value: SqlValue | undefined): string => (value === null || value === undefined ? '' : String(value));

/**
 * A hash that changes with every write to a SQLite file, found without reading a table: path, size and time of the last
 * write of the file and of its write-ahead log. An empty log is ignored, because a reader may create one. A write that
 * changes no table changes the hash too.
 */
export async function revisionOfSqlite(path: string): Promise<string> {
  const state = [await realpath(path), await stateOf(path), await stateOf(`${path}-wal`)];
  return createHash('sha256').update(JSON.stringify(state)).digest('hex');
}

async function stateOf(path: string): Promise<readonly string[] | null> {
  try {
    // A file that takes the place of another one may have its size, its time and its freed inode.
    const { size, mtimeNs, ctimeNs, ino } = await stat(path, { bigint: true });
    return size === 0n ? null : [size, mtimeNs, ctimeNs, ino].map(String);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
