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

interface Catalogue {
  readonly tables: Rows;
  readonly columns: Rows;
  readonly unique: Rows;
  readonly foreign: Rows;
  readonly json: Rows;
}

async function catalogueOf(session: MysqlSession, database: string, schemas: readonly string[]): Promise<Catalogue> {
  const names = [...new Set([database, ...schemas])];
  const inside = (column: string): string => `${column} IN (${names.map(literal).join(', ')})`;
  const known = (
    await session.query(`SELECT schema_name FROM information_schema.schemata WHERE ${inside('schema_name')}`)
  ).length;
  if (known < names.length)
    throw new SqlEngineError(
      'not-configured',
      `MySQL shows no database ${schemas.join(', ')}: correct its schemas, or grant SELECT there`,
    );
  // Rows are estimated anew, and not as of yesterday.
  if (!session.isMariaDb) await session.query('SET SESSION information_schema_stats_expiry = 0');
  return {
    tables: await session.query(
      `SELECT table_schema, table_name, table_type, table_rows, table_comment, COALESCE(data_length, 0) FROM information_schema.tables
       WHERE ${inside('table_schema')} AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
       ORDER BY table_schema <> ${literal(database)}, table_schema, table_name`,
    ),
    columns: await session.query(
      `SELECT table_schema, table_name, column_name, column_type, is_nullable,
         CONCAT_WS('; ', NULLIF(column_comment, ''), CASE WHEN collation_name LIKE '%|_bin' ESCAPE '|' OR collation_name LIKE '%|_cs%' ESCAPE '|' THEN 'heeds case' END)
       FROM information_schema.columns WHERE ${inside('table_schema')} ORDER BY table_schema, table_name, ordinal_position`,
    ),
    unique: await session.query(
      `SELECT table_schema, table_name, index_name, column_name, sub_part FROM information_schema.statistics
       WHERE ${inside('table_schema')} AND non_unique = 0 ORDER BY table_schema, table_name, index_name, seq_in_index`,
    ),
    foreign: await session.query(
      `SELECT table_schema, table_name, constraint_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name
       FROM information_schema.key_column_usage WHERE ${inside('table_schema')} AND referenced_table_name IS NOT NULL
       ORDER BY table_schema, table_name, constraint_name, ordinal_position`,
    ),
    // MariaDB keeps JSON as a text with a check.
    json: !session.isMariaDb
      ? []
      : await session.query(
          `SELECT constraint_schema, table_name, check_clause FROM information_schema.check_constraints
           WHERE ${inside('constraint_schema')} AND check_clause LIKE 'json_valid(%'`,
        ),
  };
}

const text = (value: SqlValue | undefined): string => (value === null || value === undefined ? '' : String(value));

export async function describeMysql(
  session: MysqlSession,
  database: string,
  schemas: readonly string[],
): Promise<DatabaseDescription> {
  const { tables, columns, unique, foreign, json } = await catalogueOf(session, database, schemas);
  const nameOf = ([schema, table]: Rows[number]): string =>
    text(schema).toLowerCase() === database.toLowerCase() ? text(table) : `${text(schema)}.${text(table)}`;
  const described_ = new Set(tables.map(nameOf));
  const columnsOf = groupBy(columns, nameOf);
  const uniqueOf = groupBy(unique, nameOf);
  const foreignOf = groupBy(foreign, nameOf);
  const jsonOf = groupBy(json, nameOf);
  const byKey = (rows: readonly Rows[number][] = []): Rows[number][][] => [
    ...groupBy(rows, (row) => text(row[2])).values(),
  ];
  const shown = tables.map((row): TableDescription => {
    const name = nameOf(row);
    const isView = row[2] === 'VIEW';
    const keys = byKey(uniqueOf.get(name)).filter((key) =>
      key.every(([, , , column, part]) => column !== null && part === null),
    );
    const columnsIn = (key: readonly Rows[number][]): string[] => key.map(([, , , column]) => text(column));
    return {
      ...{ name, kind: isView ? 'view' : 'table', comment: isView ? null : text(row[4]) || null },
      rowEstimate: isView || row[3] === null ? null : Number(row[3]),
      columns: (columnsOf.get(name) ?? []).map(([, , column, type, nullable, comment]) => {
        const isJson =
          jsonOf.get(name)?.some(([, , check]) => /^json_valid\([`"](.*)[`"]\)$/.exec(text(check))?.[1] === column) ===
          true;
        return {
          ...{ name: text(column), type: isJson ? 'json' : text(type), nullable: nullable !== 'NO' },
          ...{ comment: isJson ? null : text(comment) || null, samples: [] },
        };
      }),
      primaryKey: columnsIn(keys.find(([first]) => first?.[2] === 'PRIMARY') ?? []),
      uniqueKeys: keys.filter(([first]) => first?.[2] !== 'PRIMARY').map(columnsIn),
      foreignKeys: byKey(foreignOf.get(name)).flatMap((key) => {
        const [first = []] = key;
        const table = nameOf(first.slice(4));
        if (!described_.has(table)) return [];
        return [{ columns: columnsIn(key), table, references: key.map((part) => text(part[6])) }];
      }),
    };
  });
  const sampled = await sample(session, tables, shown);
  return described('mysql', `${session.isMariaDb ? 'MariaDB' : 'MySQL'} ${session.version}`, shown, sampled);
}

/** Views last. A broken or slow view has no samples; the others are still read. */
async function sample(
  session: MysqlSession,
  rows: Rows,
  tables: readonly TableDescription[],
): Promise<Map<string, Sampled>> {
  const sampled = new Map<string, Sampled>();
  const deadline = Date.now() + SAMPLING_MS;
  const own = rows.map((row, index) => ({ row, table: tables[index] }));
  const ordered = [
    ...own.filter(({ table }) => table?.kind === 'table'),
    ...own.filter(({ table }) => table?.kind === 'view'),
  ];
  for (const { row, table } of ordered) {
    if (table === undefined || table.columns.length === 0 || Date.now() > deadline) continue;
    const from = `${identifier(text(row[0]))}.${identifier(text(row[1]))}`;
    const values = table.columns.map(({ name, type }) =>
      NOT_SAMPLED.test(type)
        ? 'NULL'
        : `LEFT(CAST(${identifier(name)}${/^bit/.test(type) ? ' + 0' : ''} AS CHAR), ${SAMPLE_LENGTH + 1})`,
    );
    const isCounted = table.kind === 'table' && Number(row[5]) <= COUNT_UP_TO_BYTES;
    if (table.kind === 'view') await session.limit(VIEW_TIMEOUT_MS);
    try {
      const found = await session.query(`SELECT ${values.join(', ')} FROM ${from} LIMIT ${SAMPLED_ROWS}`);
      const [[count] = []] = isCounted ? await session.query(`SELECT COUNT(*) FROM ${from}`) : [];
      sampled.set(table.name, { rows: found, count: count === undefined ? null : Number(count) });
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
  const { tables, ...rest } = await catalogueOf(session, database, schemas);
  const sized = tables.map(([schema, table, kind, rows, comment]) => [
    schema,
    table,
    kind,
    Math.round(Math.log2(Number(rows ?? 0) + 1)),
    comment,
  ]);
  return sha256(JSON.stringify([session.version, await session.query('SELECT CURRENT_USER()'), sized, rest]));
}
