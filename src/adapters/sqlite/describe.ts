/** Tables, columns, keys, row counts and sample values of a SQLite file, from its pragma functions in one snapshot. */
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { groupBy } from '../../group-by';
import { identifier, literal } from '../kit/engine';
import { described, SAMPLE_LENGTH, type Sampled } from '../kit/schema';

type Rows = readonly (readonly SqlValue[])[];

/** Runs statements in one snapshot; `null` for one that SQLite reports an error for (a view over a dropped table). */
export type Read = (texts: readonly string[]) => Promise<readonly (Rows | null)[]>;

/** Above this size a table's rows are estimated by its highest rowid instead of counted. */
const COUNT_UP_TO_BYTES = 256 * 1024 * 1024;
const SAMPLED_ROWS = 200;
const TABLES_PER_QUERY = 25;

export async function describeSqlite(read: Read, fileBytes: number): Promise<DatabaseDescription> {
  const [versions, names, together] = await read(['SELECT sqlite_version()', `SELECT l.name ${LISTED}`, tablesSql()]);
  const apart = (names ?? []).map(([name]) => tablesSql(` AND l.name = ${literal(String(name))}`));
  // Read table by table if the query for all failed, because of a broken view.
  const rows = together ?? (await read(apart)).flatMap((found) => found ?? []);
  const tables = withReferences(rows.map(tableOf).filter(({ columns }) => columns.length > 0));
  const count = fileBytes <= COUNT_UP_TO_BYTES ? 'count(*)' : 'max(rowid)';
  const batches = Array.from({ length: Math.ceil(tables.length / TABLES_PER_QUERY) }, (_, at) =>
    tables.slice(at * TABLES_PER_QUERY, (at + 1) * TABLES_PER_QUERY),
  );
  const sampled = new Map<string, Sampled>();
  const failed = await sample(read, batches, count, sampled);
  // A table that cannot be read (a broken view) has no samples; those beside it are read alone.
  await sample(
    read,
    failed.flat().map((table) => [table]),
    count,
    sampled,
  );
  return described('sqlite', `SQLite ${String(versions?.[0]?.[0])}`, tables, sampled);
}

const LISTED = `FROM pragma_table_list l WHERE l.schema = 'main' AND l.type IN ('table', 'view', 'virtual') AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/** Columns and keys are JSON: lists of lists, with a number by which the parts of a key belong together. */
function tablesSql(condition = ''): string {
  const list = (values: string, from: string): string =>
    `(SELECT json_group_array(json_array(${values})) FROM (${from}))`;
  return `SELECT l.name, l.type,
    ${list('name, type, "notnull", pk', 'SELECT * FROM pragma_table_xinfo(l.name) WHERE hidden <> 1 ORDER BY cid')},
    ${list('seq, name', `SELECT u.seq, i.name FROM pragma_index_list(l.name) u, pragma_index_info(u.name) i WHERE l.type <> 'view' AND u."unique" = 1 AND u.origin <> 'pk' AND u.partial = 0 AND i.name IS NOT NULL ORDER BY u.seq, i.seqno`)},
    ${list('id, "from", "table", "to"', 'SELECT * FROM pragma_foreign_key_list(l.name) ORDER BY id, seq')}
    ${LISTED}${condition} ORDER BY l.name`;
}

function tableOf([name, type, columns, indexes, references]: Rows[number]): TableDescription {
  const parts = parsed<[column: string, type: string, notNull: number, keyPosition: number]>(columns);
  return {
    ...{ name: String(name), kind: type === 'view' ? 'view' : 'table', comment: null, rowEstimate: null },
    columns: parts.map(([column, declared, notNull, keyPosition]) => ({
      ...{ name: column, type: declared.toLowerCase() || 'any', comment: null, samples: [] },
      nullable: notNull === 0 && keyPosition === 0,
    })),
    primaryKey: parts
      .filter(([, , , position]) => position > 0)
      .sort((a, b) => a[3] - b[3])
      .map(([column]) => column),
    uniqueKeys: byNumber(parsed<[number, string]>(indexes)).map((key) => key.map(([, column]) => column)),
    foreignKeys: byNumber(parsed<[number, string, string, string | null]>(references)).map((key) => ({
      columns: key.map(([, from]) => from),
      table: key[0]?.[2] ?? '',
      references: key.flatMap(([, , , to]) => to ?? []),
    })),
  };
}

const parsed = <T>(json: SqlValue | undefined): T[] => JSON.parse(String(json)) as T[];
const byNumber = <T extends readonly [number, ...unknown[]]>(rows: readonly T[]): T[][] => [
  ...groupBy(rows, ([number]) => number).values(),
];

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

type Tables = readonly TableDescription[];

/** One query for many tables, because a query per table is slow. Gives the batches that failed. */
async function sample(
  read: Read,
  batches: readonly Tables[],
  count: string,
  sampled: Map<string, Sampled>,
): Promise<Tables[]> {
  const answers = await read(
    batches.map((batch) => batch.map((table, at) => sampleSql(table, at, count)).join(' UNION ALL ')),
  );
  for (const [at, batch] of batches.entries()) {
    const found = answers[at] ?? null;
    if (found === null) continue;
    const rowsOf = groupBy(found, ([table]) => table);
    for (const [index, { name, kind }] of batch.entries()) {
      const own = rowsOf.get(index) ?? [];
      const rows = own.map(([, , values]) => parsed<string[]>(values).flat());
      sampled.set(name, { rows, count: kind === 'view' ? null : Number(own[0]?.[1] ?? 0) });
    }
  }
  return batches.filter((_, at) => (answers[at] ?? null) === null);
}

/** SQLite takes 127 arguments of a function at most. */
const ARGUMENTS = 100;

/** For each row the table, the count of all rows, and the values as JSON; without a row there is no count. */
function sampleSql({ name, kind, columns }: TableDescription, index: number, count: string): string {
  const values = columns.map((column) =>
    column.type.includes('blob') ? 'NULL' : `substr(CAST(${identifier(column.name)} AS TEXT), 1, ${SAMPLE_LENGTH + 1})`,
  );
  const parts = Array.from(
    { length: Math.ceil(values.length / ARGUMENTS) },
    (_, at) => `json_array(${values.slice(at * ARGUMENTS, (at + 1) * ARGUMENTS).join(', ')})`,
  );
  const counted = kind === 'view' ? 'NULL' : `(SELECT ${count} FROM ${identifier(name)})`;
  return `SELECT * FROM (SELECT ${index}, ${counted}, json_array(${parts.join(', ')}) FROM ${identifier(name)} LIMIT ${SAMPLED_ROWS})`;
}

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
