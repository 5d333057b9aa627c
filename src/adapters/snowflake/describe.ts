/**
 * Tables, columns, keys, comments and samples of a Snowflake database, from its information schema and SHOW … KEYS. Names
 * are shown as stored; a table of the session's schema is shown without the schema. Snowflake does not enforce keys.
 */
import type { DatabaseDescription, SqlValue, TableDescription } from '../../domain';
import { groupBy } from '../../group-by';
import { each } from '../../limiter';
import { identifier, literal } from '../kit/engine';
import { described, SAMPLE_LENGTH, type Sampled } from '../kit/schema';
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
  const columnsOf = groupBy(columns, keyOf);
  const primaryOf = groupBy(primary, keyOf);
  const uniqueOf = groupBy(unique, keyOf);
  const importedOf = groupBy(imported, (row) => nameOf(row['fk_schema_name'], row['fk_table_name']));
  const byConstraint = (keys: readonly Row[] = [], constraint: string): Row[][] => [
    ...groupBy(keys, (key) => text(key[constraint])).values(),
  ];
  const shownTables = [...relations].map(([name, row]): TableDescription => {
    const clustering = text(row['clustering_key']);
    const comment = [text(row['comment']), clustering === '' ? '' : `clustered by ${clustering}`];
    return {
      name,
      kind: isView(row) ? 'view' : 'table',
      comment: comment.filter(Boolean).join('; ') || null,
      rowEstimate: isView(row) || row['row_count'] === null ? null : Number(row['row_count']),
      columns: (columnsOf.get(name) ?? []).map((column) => ({
        name: text(column['column_name']),
        type: typeOf(column),
        nullable: text(column['is_nullable']) !== 'NO',
        comment: text(column['comment']) || null,
        samples: [],
      })),
      primaryKey: namesIn(primaryOf.get(name) ?? [], 'column_name'),
      uniqueKeys: byConstraint(uniqueOf.get(name), 'constraint_name').map((keys) => namesIn(keys, 'column_name')),
      foreignKeys: byConstraint(importedOf.get(name), 'fk_name').flatMap((keys) => {
        const [first = {}] = keys;
        const table = nameOf(first['pk_schema_name'], first['pk_table_name']);
        // Only of tables that are described.
        if (!relations.has(table) || text(first['pk_database_name']) !== database) return [];
        return [{ columns: namesIn(keys, 'fk_column_name'), table, references: namesIn(keys, 'pk_column_name') }];
      }),
    };
  });
  const sampled = new Map<string, Sampled>();
  const deadline = Date.now() + SAMPLING_MS;
  await each(
    [...relations].sort(([, a], [, b]) => Number(isView(a)) - Number(isView(b))),
    async ([name, row]) => {
      const own = columnsOf.get(name) ?? [];
      if (own.length > 0 && Date.now() < deadline)
        sampled.set(name, { rows: await sample(read, row, own), count: null });
    },
    AT_ONCE,
  );
  const inOrder = shownTables.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  return described('snowflake', `Snowflake ${version}`, inOrder, sampled);
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

async function sample(read: Read, row: Row, columns: readonly Row[]): Promise<Rows['rows']> {
  const relation = `${identifier(text(row['table_schema']))}.${identifier(text(row['table_name']))}`;
  const values = columns.map((column, index) => {
    const name = identifier(text(column['column_name']));
    return NOT_SAMPLED.test(typeOf(column))
      ? `NULL AS c${index}`
      : `LEFT(TO_VARCHAR(${name}), ${SAMPLE_LENGTH + 1}) AS c${index}`;
  });
  const sql = `SELECT ${values.join(', ')} FROM ${relation} LIMIT ${SAMPLED_ROWS}`;
  return read(sql, { timeoutMs: SAMPLE_TIMEOUT_MS, maxRows: SAMPLED_ROWS }).then(
    ({ rows }) => rows,
    (error: unknown) => {
      // A broken or slow view has no samples; the others are still read.
      if (isOfStatement(error) || error instanceof Unanswered) return [];
      throw error;
    },
  );
}

function typeOf(column: Row): string {
  const name = text(column['data_type']).toLowerCase();
  if (name === 'number') return `number(${text(column['numeric_precision'])},${text(column['numeric_scale'])})`;
  const length = Number(column['character_maximum_length'] ?? LONGEST_TEXT);
  return name === 'text' && length < LONGEST_TEXT ? `varchar(${length})` : name;
}

/** The columns of a key, in its order. */
const namesIn = (rows: readonly Row[], name: string): string[] =>
  [...rows].sort((a, b) => Number(a['key_sequence']) - Number(b['key_sequence'])).map((row) => text(row[name]));

const text = (value: SqlValue | undefined): string => (value === null || value === undefined ? '' : String(value));
