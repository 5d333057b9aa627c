/**
 * Tables, columns, keys, comments and samples of a Snowflake database, from its information schema and SHOW … KEYS. Names
 * are shown as stored; a table of the session's schema is shown without the schema. Snowflake does not enforce keys.
 */
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { identifier, literal } from '../kit/engine';
import { described, SAMPLE_LENGTH, sampled, tablesOf, text, type Sampled } from '../kit/schema';
import { isOfStatement, Unanswered } from './errors';
import type { Rows } from './session';

export type Read = (sql: string, limits?: { readonly timeoutMs?: number; readonly maxRows?: number }) => Promise<Rows>;

const SAMPLED_ROWS = 100;
const AT_ONCE = 4;
/** Time limit for sampling one table or view: a view may hide an expensive query. */
const SAMPLE_TIMEOUT_MS = 3_000;
const SAMPLING_MS = 10_000;
/** The length that Snowflake reports for TEXT without a declared length. */
const LONGEST_TEXT = 16_777_216;
const NOT_SAMPLED = /^(binary|geography|geometry|vector|file)/;

type Row = Readonly<Record<string, SqlValue>>;

interface Place {
  readonly database: string;
  readonly schema: string | null;
  readonly schemas: readonly string[];
}

export async function describeSnowflake(read: Read, place: Place): Promise<DatabaseDescription> {
  const [session = {}] = await records(
    read,
    'SELECT CURRENT_VERSION() AS version, CURRENT_DATABASE() AS database, CURRENT_SCHEMA() AS schema',
  );
  const [version, database, current] = ['version', 'database', 'schema'].map((key) => text(session[key]));
  const shown = place.schemas.length > 0 ? place.schemas : place.schema === null ? [] : [current ?? ''];
  const wanted = `table_schema <> 'INFORMATION_SCHEMA'${shown.length === 0 ? '' : ` AND UPPER(table_schema) IN (${shown.map((name) => literal(name.toUpperCase())).join(', ')})`}`;
  const inside = `${identifier(database ?? place.database)}.INFORMATION_SCHEMA`;
  const listed = (view: string, columns: string, order = ''): Promise<Row[]> =>
    records(read, `SELECT table_schema, table_name, ${columns} FROM ${inside}.${view} WHERE ${wanted} ORDER BY table_schema, table_name${order}`); // prettier-ignore
  const [tables, views, columns] = await Promise.all([
    listed('TABLES', 'table_type, row_count, comment, clustering_key'),
    listed('VIEWS', `'VIEW' AS table_type, NULL AS row_count, comment, NULL AS clustering_key`),
    listed(
      'COLUMNS',
      'column_name, data_type, is_nullable, numeric_precision, numeric_scale, character_maximum_length, comment',
      ', ordinal_position',
    ),
  ]);
  const scope = `DATABASE ${identifier(database ?? place.database)}`;
  const [primary = [], unique = [], imported = []] = await Promise.all(
    ['PRIMARY', 'UNIQUE', 'IMPORTED'].map((kind) => keyRows(read, `SHOW ${kind} KEYS IN ${scope}`)),
  );
  const nameOf = (schema: SqlValue | undefined, table: SqlValue | undefined): string =>
    text(schema) === current ? text(table) : `${text(schema)}.${text(table)}`;
  const keyOf = (row: Row): string => nameOf(row['table_schema'] ?? row['schema_name'], row['table_name']);
  const relations = new Map([...views, ...tables].map((row) => [keyOf(row), row]));
  const keyed = (rows: readonly Row[], key: string, prefix = '') =>
    [...rows]
      .sort((a, b) => Number(a['key_sequence']) - Number(b['key_sequence']))
      .map((row) => ({
        table: nameOf(row[`${prefix}schema_name`], row[`${prefix}table_name`]),
        key: text(row[key]),
        column: text(row[`${prefix}column_name`]),
        row,
      }));
  const shownTables = tablesOf({
    tables: [...relations].map(([name, row]) => {
      const clustering = text(row['clustering_key']);
      const comment = [text(row['comment']), clustering === '' ? '' : `clustered by ${clustering}`];
      return {
        ...{ name, kind: isView(row) ? 'view' : 'table', comment: comment.filter(Boolean).join('; ') },
        rowEstimate: isView(row) || row['row_count'] === null ? null : Number(row['row_count']),
      };
    }),
    columns: columns.map((row) => ({
      ...{ table: keyOf(row), name: text(row['column_name']), type: typeOf(row), comment: text(row['comment']) },
      nullable: text(row['is_nullable']) !== 'NO',
    })),
    primary: keyed(primary, 'table_name'),
    unique: keyed(unique, 'constraint_name'),
    foreign: keyed(imported, 'fk_name', 'fk_')
      .filter(({ row }) => text(row['pk_database_name']) === database)
      .map(({ row, ...part }) => ({
        ...part,
        target: nameOf(row['pk_schema_name'], row['pk_table_name']),
        references: text(row['pk_column_name']),
      })),
  });
  const samples = await sampled(shownTables, (table) => sample(read, relations.get(table.name) ?? {}, table), {
    withinMs: SAMPLING_MS,
    atOnce: AT_ONCE,
    isOwn: (error) => isOfStatement(error) || error instanceof Unanswered,
  });
  const inOrder = shownTables.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  return described('snowflake', `Snowflake ${version}`, inOrder, samples);
}

/** Sorts tables of the session's schema first. */
const rank = ({ name }: TableDescription): number => (name.includes('.') ? 1 : 0);

async function records(read: Read, sql: string): Promise<Row[]> {
  const { columns, rows } = await read(sql);
  const names = columns.map(({ name }) => name.toLowerCase());
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])));
}

/** No keys if the role may not see those of every table: the description then has none. */
async function keyRows(read: Read, sql: string): Promise<Row[]> {
  return records(read, sql).catch((error: unknown) => {
    if (isOfStatement(error)) return [];
    throw error;
  });
}

const isView = (row: Row): boolean => /VIEW/i.test(text(row['table_type']));

async function sample(read: Read, row: Row, { columns }: TableDescription): Promise<Sampled> {
  const relation = `${identifier(text(row['table_schema']))}.${identifier(text(row['table_name']))}`;
  const values = columns.map(({ name, type }, index) =>
    NOT_SAMPLED.test(type)
      ? `NULL AS c${index}`
      : `LEFT(TO_VARCHAR(${identifier(name)}), ${SAMPLE_LENGTH + 1}) AS c${index}`,
  );
  const sql = `SELECT ${values.join(', ')} FROM ${relation} LIMIT ${SAMPLED_ROWS}`;
  const { rows } = await read(sql, { timeoutMs: SAMPLE_TIMEOUT_MS, maxRows: SAMPLED_ROWS });
  return { rows, count: null };
}

function typeOf(column: Row): string {
  const name = text(column['data_type']).toLowerCase();
  if (name === 'number') return `number(${text(column['numeric_precision'])},${text(column['numeric_scale'])})`;
  const length = Number(column['character_maximum_length'] ?? LONGEST_TEXT);
  return name === 'text' && length < LONGEST_TEXT ? `varchar(${length})` : name;
}
