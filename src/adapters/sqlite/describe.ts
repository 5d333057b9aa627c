/** Tables, columns, keys, row counts and sample values of a SQLite file, from its pragma functions in one snapshot. */
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { groupBy } from '../../group-by';
import { identifier, literal } from '../kit/engine';
import { samplesOf, type Read, type Rows } from '../kit/file-schema';
import { described, SAMPLE_LENGTH } from '../kit/schema';

/** Above this size a table's rows are estimated by its highest rowid instead of counted. */
const COUNT_UP_TO_BYTES = 256 * 1024 * 1024;
const SAMPLED_ROWS = 200;

export async function describeSqlite(read: Read, fileBytes: number): Promise<DatabaseDescription> {
  const [versions, names, together] = await read(['SELECT sqlite_version()', `SELECT l.name ${LISTED}`, tablesSql()]);
  const apart = (names ?? []).map(([name]) => tablesSql(` AND l.name = ${literal(String(name))}`));
  // Read table by table if the query for all failed, because of a broken view.
  const rows = together ?? (await read(apart)).flatMap((found) => found ?? []);
  const tables = withReferences(rows.map(tableOf).filter(({ columns }) => columns.length > 0));
  const count = fileBytes <= COUNT_UP_TO_BYTES ? 'count(*)' : 'max(rowid)';
  const sampled = await samplesOf(read, tables, (table, index) => sampleSql(table, index, count));
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

/** SQLite takes 127 arguments of a function at most. */
const ARGUMENTS = 100;

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
