/**
 * Tables, columns, keys, comments and samples, from the information schema. Tables of the URL's database are shown without it,
 * those of other databases as `database.table`. Whether names of tables heed case is the server's (`lower_case_table_names`).
 */
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { groupBy } from '../../group-by';
import { sha256 } from '../../sha256';
import { identifier, literal } from '../kit/engine';
import { described, SAMPLE_LENGTH, type Sampled } from '../kit/schema';
import { isOfStatement } from './errors';
import type { MysqlSession, Rows } from './session';

const SAMPLED_ROWS = 100;
/** Time limit for sampling one view: it may hide an expensive query. */
const VIEW_TIMEOUT_MS = 1_500;
const SAMPLING_MS = 8_000;
/** Estimates of small tables may be far off; up to this size rows are counted. */
const COUNT_UP_TO_BYTES = 16 * 1024 * 1024;
const NOT_SAMPLED = /blob|binary|geometry|point|linestring|polygon|collection|vector/i;

type Row = Rows[number];

/** What of the information schema describes: tables, columns, unique keys, foreign keys, and MariaDB's JSON. */
async function catalogueOf(session: MysqlSession, database: string, schemas: readonly string[]): Promise<Rows[]> {
  const names = [...new Set([database, ...schemas])];
  const inside = (schema: string): string => `${schema} IN (${names.map(literal).join(', ')})`;
  const read = (columns: string, table: string, more: string, schema = 'table_schema'): Promise<Rows> =>
    session.query(`SELECT ${schema}, ${columns} FROM information_schema.${table} WHERE ${inside(schema)} ${more}`);
  if ((await read('1', 'schemata', '', 'schema_name')).length < names.length) {
    const line = `MySQL shows no database ${schemas.join(', ')}: correct its schemas, or grant SELECT there`;
    throw new SqlEngineError('not-configured', line);
  }
  // Rows are estimated anew, and not as of yesterday.
  if (!session.isMariaDb) await session.query('SET SESSION information_schema_stats_expiry = 0');
  const comment = `CONCAT_WS('; ', NULLIF(column_comment, ''), CASE WHEN collation_name REGEXP '_bin$|_cs$|_as_cs' THEN 'heeds case' END)`;
  const references = 'referenced_table_schema, referenced_table_name, referenced_column_name';
  return [
    await read(
      'table_name, table_type, table_rows, table_comment, COALESCE(data_length, 0)',
      'tables',
      `AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED') ORDER BY table_schema <> ${literal(database)}, 1, 2`,
    ),
    await read(
      `table_name, column_name, column_type, is_nullable, ${comment}`,
      'columns',
      'ORDER BY 1, 2, ordinal_position',
    ),
    await read(
      'table_name, index_name, column_name, sub_part',
      'statistics',
      'AND non_unique = 0 ORDER BY 1, 2, 3, seq_in_index',
    ),
    await read(
      `table_name, constraint_name, column_name, ${references}`,
      'key_column_usage',
      'AND referenced_table_name IS NOT NULL ORDER BY 1, 2, 3, ordinal_position',
    ),
    // It is a text with a check there.
    session.isMariaDb
      ? await read(
          'table_name, check_clause',
          'check_constraints',
          "AND check_clause LIKE 'json_valid(%'",
          'constraint_schema',
        )
      : [],
  ];
}

const text = (value: SqlValue | undefined): string => (value === null || value === undefined ? '' : String(value));

export async function describeMysql(
  session: MysqlSession,
  database: string,
  schemas: readonly string[],
): Promise<DatabaseDescription> {
  const [tables = [], columns = [], unique = [], foreign = [], json = []] = await catalogueOf(
    session,
    database,
    schemas,
  );
  const nameOf = ([schema, table]: Row): string =>
    text(schema).toLowerCase() === database.toLowerCase() ? text(table) : `${text(schema)}.${text(table)}`;
  const names = new Set(tables.map(nameOf));
  const [columnsOf, uniqueOf, foreignOf] = [columns, unique, foreign].map((rows) => groupBy(rows, nameOf));
  const checks = new Set(json.map((row) => `${nameOf(row)} ${text(row[2]).slice('json_valid('.length + 1, -2)}`));
  const byKey = (rows: readonly Row[] = []): Row[][] => [...groupBy(rows, (row) => text(row[2])).values()];
  const columnsIn = (key: readonly Row[]): string[] => key.map((part) => text(part[3]));
  const shown = tables.map((row): TableDescription => {
    const name = nameOf(row);
    const isView = row[2] === 'VIEW';
    // Without those of expressions, and of the beginnings of texts.
    const keys = byKey(uniqueOf?.get(name)).filter((key) => key.every((part) => part[3] !== null && part[4] === null));
    return {
      ...{ name, kind: isView ? 'view' : 'table', comment: isView ? null : text(row[4]) || null },
      rowEstimate: isView || row[3] === null ? null : Number(row[3]),
      columns: (columnsOf?.get(name) ?? []).map(([, , column, type, nullable, comment]) => {
        const isJson = checks.has(`${name} ${text(column)}`);
        const [shownType, shownComment] = isJson ? ['json', null] : [text(type), text(comment) || null];
        return { name: text(column), type: shownType, nullable: nullable !== 'NO', comment: shownComment, samples: [] };
      }),
      primaryKey: columnsIn(keys.find(([first]) => first?.[2] === 'PRIMARY') ?? []),
      uniqueKeys: keys.filter(([first]) => first?.[2] !== 'PRIMARY').map(columnsIn),
      foreignKeys: byKey(foreignOf?.get(name)).flatMap((key) => {
        const table = nameOf(key[0]?.slice(4) ?? []);
        const references = key.map((part) => text(part[6]));
        return names.has(table) ? [{ columns: columnsIn(key), table, references }] : [];
      }),
    };
  });
  return described(
    'mysql',
    `${session.isMariaDb ? 'MariaDB' : 'MySQL'} ${session.version}`,
    shown,
    await sample(session, tables, shown),
  );
}

/** Views last. A broken or slow view has no samples; the others are still read. */
async function sample(
  session: MysqlSession,
  rows: Rows,
  tables: readonly TableDescription[],
): Promise<Map<string, Sampled>> {
  const sampled = new Map<string, Sampled>();
  const deadline = Date.now() + SAMPLING_MS;
  const own = tables.map(({ name, kind, columns }, at) => ({
    name,
    columns,
    isView: kind === 'view',
    row: rows[at] ?? [],
  }));
  for (const { name, columns, isView, row } of own.sort((a, b) => Number(a.isView) - Number(b.isView))) {
    if (columns.length === 0 || Date.now() > deadline) continue;
    const from = `${identifier(text(row[0]))}.${identifier(text(row[1]))}`;
    const values = columns.map((column) => {
      const value = `${identifier(column.name)}${/^bit/.test(column.type) ? ' + 0' : ''}`;
      return NOT_SAMPLED.test(column.type) ? 'NULL' : `LEFT(CAST(${value} AS CHAR), ${SAMPLE_LENGTH + 1})`;
    });
    const isCounted = !isView && Number(row[5]) <= COUNT_UP_TO_BYTES;
    if (isView) await session.limit(VIEW_TIMEOUT_MS);
    try {
      const found = await session.query(`SELECT ${values.join(', ')} FROM ${from} LIMIT ${SAMPLED_ROWS}`);
      const [[count = null] = []] = isCounted ? await session.query(`SELECT COUNT(*) FROM ${from}`) : [];
      sampled.set(name, { rows: found, count: count === null ? null : Number(count) });
    } catch (error) {
      if (!isOfStatement(error)) throw error;
    }
  }
  return sampled;
}

/** A hash that changes when the description would: structure, rights of the login, and each table's size to a power of two. */
export async function revisionOfMysql(
  session: MysqlSession,
  database: string,
  schemas: readonly string[],
): Promise<string> {
  const [tables = [], ...rest] = await catalogueOf(session, database, schemas);
  const sized = tables.map((row) => [row.slice(0, 3), row[4], Math.round(Math.log2(Number(row[3] ?? 0) + 1))]);
  return sha256(JSON.stringify([session.version, await session.query('SELECT CURRENT_USER()'), sized, rest]));
}
