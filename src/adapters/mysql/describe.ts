/**
 * Tables, columns, keys, comments and samples, from the information schema. Tables of the URL's database are shown without it,
 * those of other databases as `database.table`. Whether names of tables heed case is the server's (`lower_case_table_names`).
 */
import type { DatabaseDescription } from '../../domain';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { sha256 } from '../../sha256';
import { identifier, literal } from '../kit/engine';
import { described, SAMPLE_LENGTH, sampled, tablesOf, text } from '../kit/schema';
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
      // Neither those of expressions, nor of the beginnings of texts, are told as keys.
      'table_name, index_name, CASE WHEN sub_part IS NULL THEN column_name END',
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

export async function describeMysql(
  session: MysqlSession,
  database: string,
  schemas: readonly string[],
): Promise<DatabaseDescription> {
  const found = await catalogueOf(session, database, schemas);
  const [tables = [], columns = [], unique = [], foreign = [], json = []] = found;
  const nameOf = ([schema, table]: Row): string =>
    text(schema).toLowerCase() === database.toLowerCase() ? text(table) : `${text(schema)}.${text(table)}`;
  const checks = new Set(json.map((row) => `${nameOf(row)} ${text(row[2]).slice('json_valid('.length + 1, -2)}`));
  const partOf = (row: Row) => ({
    table: nameOf(row),
    key: text(row[2]),
    column: row[3] === null ? null : text(row[3]),
  });
  const isPrimary = (row: Row): boolean => row[2] === 'PRIMARY';
  const rowOf = new Map(tables.map((row) => [nameOf(row), row]));
  const shown = tablesOf({
    tables: tables.map((row) => ({
      ...{ name: nameOf(row), kind: isView(row) ? 'view' : 'table', comment: isView(row) ? '' : text(row[4]) },
      rowEstimate: isView(row) || row[3] === null ? null : Number(row[3]),
    })),
    columns: columns.map((row) => {
      const [table, name] = [nameOf(row), text(row[2])];
      const [type, comment] = checks.has(`${table} ${name}`) ? ['json', ''] : [typeIn(row), text(row[5])];
      return { table, name, type, comment, nullable: row[4] !== 'NO' };
    }),
    primary: unique.filter(isPrimary).map(partOf),
    unique: unique.filter((row) => !isPrimary(row)).map(partOf),
    foreign: foreign.map((row) => ({ ...partOf(row), target: nameOf(row.slice(4)), references: text(row[6]) })),
  });
  const samples = await sampled(
    shown,
    async ({ name, kind, columns: own }) => {
      const [schema, table, , , , bytes] = rowOf.get(name) ?? [];
      const from = `${identifier(text(schema))}.${identifier(text(table))}`;
      const values = own.map((column) => {
        const value = `${identifier(column.name)}${/^bit/.test(column.type) ? ' + 0' : ''}`;
        return NOT_SAMPLED.test(column.type) ? 'NULL' : `LEFT(CAST(${value} AS CHAR), ${SAMPLE_LENGTH + 1})`;
      });
      if (kind === 'view') await session.limit(VIEW_TIMEOUT_MS);
      const rows = await session.query(`SELECT ${values.join(', ')} FROM ${from} LIMIT ${SAMPLED_ROWS}`);
      const isCounted = kind === 'table' && Number(bytes) <= COUNT_UP_TO_BYTES;
      const [[count = null] = []] = isCounted ? await session.query(`SELECT COUNT(*) FROM ${from}`) : [];
      return { rows, count: count === null ? null : Number(count) };
    },
    { withinMs: SAMPLING_MS, atOnce: 1, isOwn: isOfStatement },
  );
  return described('mysql', session.serverName, shown, samples);
}

/** `int(11)`, as MariaDB has it, is no narrower than `int`. `tinyint(1)` is told: it may hold truth values. */
const typeIn = (row: Row): string => text(row[3]).replace(/^((?:small|medium|big)?int)\(\d+\)(?!.*zerofill)/, '$1');

const isView = (row: Row): boolean => row[2] === 'VIEW';

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
