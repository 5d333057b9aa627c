/** Tables, columns, keys, row counts and sample values of a SQLite file, from its pragma functions in one snapshot. */
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { groupBy } from '../../group-by';
import { identifier, literal } from '../results';
import { fingerprintOf, SAMPLE_LENGTH, samplesByColumn } from '../schema-fingerprint';

/** Runs statements in one snapshot; `null` for one that SQLite reports an error for (a view over a dropped table). */
export type Read = (texts: readonly string[]) => Promise<readonly (Rows | null)[]>;

/** Above this size a table's rows are estimated by its highest rowid instead of counted. */
const COUNT_UP_TO_BYTES = 256 * 1024 * 1024;
const SAMPLED_ROWS = 200;
const TABLES_PER_QUERY = 25;
/** SQLite allows 2,000 columns; padding every table to that width would cost more than it saves. */
const MAX_WIDTH = 200;

export async function describeSqlite(read: Read, fileBytes: number): Promise<DatabaseDescription> {
  const catalogue = await read(['SELECT sqlite_version()', LISTED, INDEXES, REFERENCES, COLUMNS]);
  const [versions, listed, indexed, referring] = catalogue.map((rows) => rows ?? []) as [Rows, Rows, Rows, Rows];
  const version = text(versions[0]?.[0]);
  const indexes = groupBy(indexed, ([table]) => text(table));
  const references = groupBy(referring, ([table]) => text(table));
  const names = listed.map(([name]) => text(name));
  const columnsOf = await readColumns(read, new Set(names), catalogue[4] ?? null);
  const views = new Set(listed.filter(([, type]) => type === 'view').map(([name]) => text(name)));
  const countOf = (name: string): string => (views.has(name) ? 'NULL' : countSql(name, fileBytes));
  const plain = [...columnsOf].filter(([name, { length }]) => !views.has(name) && length <= MAX_WIDTH);
  const together = await sample(read, plain, TABLES_PER_QUERY, countOf);
  const rest = [...columnsOf].filter(([name]) => !together.has(name));
  const sampled = new Map([...together, ...(await sample(read, rest, 1, countOf))]);
  const tables: TableDescription[] = [];
  for (const [rawName, type] of listed) {
    const name = text(rawName);
    const columns = columnsOf.get(name) ?? [];
    if (columns.length === 0) continue;
    const { samples, count } = sampled.get(name) ?? { samples: [], count: null };
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

const COLUMNS = `SELECT l.name, x.name, x.type, x."notnull", x.pk FROM pragma_table_list l, pragma_table_xinfo(l.name) x
  WHERE l.schema = 'main' AND x.hidden <> 1 ORDER BY l.name, x.cid`;

/** Name, type, "notnull" and key position; read table by table if the query for all failed (a broken view). */
async function readColumns(
  read: Read,
  names: ReadonlySet<string>,
  all: Rows | null,
): Promise<ReadonlyMap<string, Columns>> {
  if (all !== null) {
    const tables = [...groupBy(all, ([table]) => text(table))].filter(([table]) => names.has(table));
    return new Map(tables.map(([table, rows]) => [table, rows.map((row) => row.slice(1))]));
  }
  const each = await read(
    [...names].map(
      (name) =>
        `SELECT name, type, "notnull", pk FROM pragma_table_xinfo(${literal(name)}) WHERE hidden <> 1 ORDER BY cid`,
    ),
  );
  return new Map([...names].flatMap((name, index) => (each[index]?.length ? [[name, each[index]] as const] : [])));
}

interface Sampled {
  readonly samples: string[][];
  readonly count: number | null;
}

type Table = readonly [name: string, columns: Columns];

/**
 * One query for many tables, because a query per table is slow; their rows are as wide as the widest. Tables of a query that
 * fails are missing from the result.
 */
async function sample(
  read: Read,
  tables: readonly Table[],
  perQuery: number,
  countOf: (name: string) => string,
): Promise<Map<string, Sampled>> {
  const batches = Array.from({ length: Math.ceil(tables.length / perQuery) }, (_, index) =>
    tables.slice(index * perQuery, (index + 1) * perQuery),
  );
  const answers = await read(
    batches.map((batch) => {
      const width = Math.max(...batch.map(([, columns]) => columns.length));
      const padded = (values: readonly string[]): string =>
        [...values, ...Array.from({ length: width - values.length }, () => 'NULL')].join(', ');
      const selects = batch.flatMap(([name, columns], index) => [
        `SELECT * FROM (SELECT ${index}, ${padded(cells(columns))} FROM ${identifier(name)} LIMIT ${SAMPLED_ROWS})`,
        `SELECT -1 - ${index}, ${padded([`(${countOf(name)})`])}`,
      ]);
      return selects.join(' UNION ALL ');
    }),
  );
  const sampled = new Map<string, Sampled>();
  for (const [at, batch] of batches.entries()) {
    const rows = groupBy(answers[at] ?? [], ([of]) => of);
    for (const [index, [name, columns]] of batch.entries()) {
      const own = (rows.get(index) ?? []).map((row) => row.slice(1));
      const count = rows.get(-1 - index)?.[0]?.[1];
      if (count !== undefined)
        sampled.set(name, {
          samples: samplesByColumn(own, columns.length),
          count: typeof count === 'number' ? count : null,
        });
    }
  }
  return sampled;
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
