/** Tables, columns, keys, comments and samples of a PostgreSQL database, from its catalogues. */
import type { DatabaseDescription, TableDescription } from '../../domain';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { identifier, literal } from '../kit/engine';
import { described, SAMPLE_LENGTH, type Sampled } from '../kit/schema';
import type { GateClient } from './connection';

const SAMPLED_ROWS = 100;
const TABLES_PER_QUERY = 20;
/** Time limit for sampling one view or foreign table: a view may hide an expensive query. */
const VIEW_TIMEOUT_MS = 1_500;
const SAMPLING_MS = 8_000;
/** Tables that were never analysed have no estimate; up to this size they are counted. */
const COUNT_UP_TO_BYTES = 64 * 1024 * 1024;

/** A row of `TABLES`. */
interface TableRow extends Pick<TableDescription, 'columns' | 'comment' | 'primaryKey' | 'uniqueKeys'> {
  readonly oid: number;
  readonly schema: string;
  readonly relation: string;
  readonly name: string;
  readonly kind: string;
  readonly estimate: number;
  readonly bytes: string | null;
  readonly foreignKeys: readonly {
    readonly columns: string[];
    readonly target: number;
    readonly references: string[];
  }[];
}

/** `schemas`: describe only these; empty means all that can be read. */
export async function describePostgres(
  client: GateClient,
  schemas: readonly string[] = [],
): Promise<DatabaseDescription> {
  await checkSchemas(client, schemas);
  const version = (await client.query<{ server_version: string }>('SHOW server_version')).rows[0]?.server_version ?? '';
  const { rows } = await client.query<TableRow>(TABLES, [schemas]);
  const nameOf = new Map(rows.map(({ oid, name }) => [oid, name]));
  const tables = rows.map(
    ({ name, kind, comment, estimate, columns, primaryKey, uniqueKeys, foreignKeys }): TableDescription => {
      // Foreign tables are described as tables, but sampled one by one like views.
      const isView = kind === 'v' || kind === 'm';
      return {
        ...{ name, kind: isView ? 'view' : 'table', comment, rowEstimate: estimate >= 0 && !isView ? estimate : null },
        ...{ columns, primaryKey, uniqueKeys },
        foreignKeys: foreignKeys.flatMap(({ columns: own, target, references }) => {
          const table = nameOf.get(target);
          return table === undefined ? [] : [{ columns: own, table, references }];
        }),
      };
    },
  );
  return described('postgresql', `PostgreSQL ${version}`, tables, await sampleTables(client, rows));
}

/** Checked here because the server ignores schemas that do not exist. */
async function checkSchemas(client: GateClient, schemas: readonly string[]): Promise<void> {
  if (schemas.length === 0) return;
  const { rows } = await client.query<{ name: string; known: boolean; usable: boolean | null }>(
    `SELECT name, n.oid IS NOT NULL AS known, has_schema_privilege(n.oid, 'USAGE') AS usable
     FROM unnest($1::text[]) AS name LEFT JOIN pg_namespace n ON n.nspname = name`,
    [schemas],
  );
  const missing = rows.filter(({ known }) => !known).map(({ name }) => name);
  const closed = rows.filter(({ known, usable }) => known && usable !== true).map(({ name }) => name);
  if (missing.length > 0)
    throw new SqlEngineError('not-configured', `the database has no schema ${missing.join(', ')}: correct its schemas`);
  if (closed.length > 0)
    throw new SqlEngineError(
      'not-configured',
      `no USAGE on the schema ${closed.join(', ')}: grant it, or leave it out`,
    );
}

async function sampleTables(client: GateClient, tables: readonly TableRow[]): Promise<Map<string, Sampled>> {
  const sampled = new Map<string, { rows: string[][]; count: number | null }>();
  const deadline = Date.now() + SAMPLING_MS;
  /** False: a table cannot be read (a broken view, a foreign server that is down) and has no samples; the rest goes on. */
  const read = async (batch: readonly TableRow[]): Promise<boolean> => {
    if (Date.now() > deadline) return true;
    const text = batch.map(sampleSql).join(' UNION ALL ');
    try {
      const { rows } = await client.query<{ name: string; row: string | null; count: string | null }>(text);
      for (const { name, row, count } of rows) {
        const own = sampled.get(name) ?? { rows: [], count: null };
        if (row !== null) own.rows.push(JSON.parse(row) as string[]);
        if (count !== null) own.count = Number(count);
        sampled.set(name, own);
      }
      return true;
    } catch (error) {
      if ((error as { code?: string }).code === undefined) throw error;
      await client.query('ROLLBACK TO SAVEPOINT gate');
      return false;
    }
  };
  const filled = tables.filter(({ columns }) => columns.length > 0);
  const isPlain = ({ kind }: TableRow): boolean => kind === 'r' || kind === 'p';
  const plain = filled.filter(isPlain);
  for (let start = 0; start < plain.length; start += TABLES_PER_QUERY) {
    const batch = plain.slice(start, start + TABLES_PER_QUERY);
    if (!(await read(batch))) for (const table of batch) await read([table]);
  }
  await client.query(`SET LOCAL statement_timeout = ${VIEW_TIMEOUT_MS}; SAVEPOINT gate`);
  for (const table of filled) if (!isPlain(table)) await read([table]);
  return sampled;
}

function sampleSql({ schema, relation, name, kind, estimate, bytes, columns }: TableRow): string {
  const from = `${identifier(schema)}.${identifier(relation)}`;
  const values = columns.map((column) =>
    column.type === 'bytea' ? 'NULL' : `left(${identifier(column.name)}::text, ${SAMPLE_LENGTH + 1})`,
  );
  const shown = literal(name);
  const sample = `(SELECT ${shown} AS name, array_to_json(ARRAY[${values.join(', ')}]::text[])::text AS row, NULL::bigint AS count FROM ${from} LIMIT ${SAMPLED_ROWS})`;
  const isCounted = kind === 'r' && estimate < 0 && Number(bytes ?? 0) <= COUNT_UP_TO_BYTES;
  return isCounted ? `${sample} UNION ALL (SELECT ${shown}, NULL, count(*) FROM ${from})` : sample;
}

/** Condition on `pg_namespace n`: not one of the server's own schemas. */
export const OF_USERS = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'";
/** Condition on `pg_index`: a unique index over all rows that is not the primary key. */
const UNIQUE_KEY = 'indisunique AND indisvalid AND NOT indisprimary AND indpred IS NULL AND indexprs IS NULL';

/** A table that was never analysed: negative since version 14, zero rows in zero pages before. */
const ESTIMATE = 'CASE WHEN c.reltuples = 0 AND c.relpages = 0 THEN -1 ELSE c.reltuples::float8 END';

const names = (relation: string, numbers: string): string =>
  `(SELECT array_agg(a.attname::text ORDER BY k.position) FROM unnest(${numbers}) WITH ORDINALITY AS k(number, position)
    JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = k.number)`;

/** The labels of an enum, or of a domain or array of one: a label is a possible value even if no row holds it yet. */
const LABELS = `CASE WHEN t.typtype IN ('e', 'd') OR t.typcategory = 'A' THEN
      (SELECT 'one of ' || string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) FROM pg_enum e
       WHERE e.enumtypid IN (t.oid, t.typbasetype, t.typelem)) END`;

const list = (items: string, from: string): string => `(SELECT coalesce(json_agg(${items}), '[]') FROM ${from})`;

/**
 * Tables that this user may read, without partitions (part of their parent) and tables that an extension made. Columns and
 * keys are JSON.
 */
const TABLES = `
  SELECT c.oid, n.nspname AS schema, c.relname AS relation, c.relkind::text AS kind,
    CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END AS name,
    obj_description(c.oid, 'pg_class') AS comment, ${ESTIMATE} AS estimate,
    CASE WHEN c.relkind = 'r' THEN pg_relation_size(c.oid) END AS bytes,
    ${list(
      `json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
        'nullable', NOT a.attnotnull OR EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'n'
          AND k.conkey = ARRAY[a.attnum] AND NOT k.convalidated),
        'comment', nullif(concat_ws('; ', col_description(a.attrelid, a.attnum), ${LABELS}), '')) ORDER BY a.attnum`,
      `pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')`,
    )} AS columns,
    coalesce((SELECT to_json(${names('conrelid', 'conkey')}) FROM pg_constraint WHERE contype = 'p' AND conrelid = c.oid), '[]') AS "primaryKey",
    ${list('k.names ORDER BY k.names', `(SELECT ${names('indrelid', '(indkey::int2[])[0:indnkeyatts - 1]')} AS names FROM pg_index WHERE ${UNIQUE_KEY} AND indrelid = c.oid) k`)} AS "uniqueKeys",
    ${list(
      `json_build_object('columns', k.names, 'target', k.confrelid::bigint, 'references', k.refs) ORDER BY k.names`,
      `(SELECT ${names('conrelid', 'conkey')} AS names, confrelid, ${names('confrelid', 'confkey')} AS refs FROM pg_constraint WHERE contype = 'f' AND conrelid = c.oid) k`,
    )} AS "foreignKeys"
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND ${OF_USERS}
    AND (n.nspname = ANY($1::text[]) OR cardinality($1::text[]) = 0)
    AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ORDER BY NOT pg_table_is_visible(c.oid), n.nspname COLLATE "C", c.relname COLLATE "C"`;

/**
 * A hash that changes when the description of a PostgreSQL database would change. It reads the catalogues only, and the size of
 * each table to a power of two, so that samples and row counts are read again after a table has grown or shrunk a lot.
 */
export async function revisionOfPostgres(client: GateClient, schemas: readonly string[]): Promise<string> {
  const power = (value: string): string => `round(ln(greatest(${value}::float8, 0) + 1) / ln(2::float8))`;
  const { rows } = await client.query<{ revision: string }>(
    `SELECT md5(concat_ws(' ', current_database(), current_setting('server_version'), current_user,
       string_agg(json_build_array(oid, name, kind, comment, columns, "primaryKey", "uniqueKeys", "foreignKeys",
         ${power('estimate')}, ${power('coalesce(bytes, 0)')})::text, ' ' ORDER BY oid))) AS revision FROM (${TABLES}) AS tables`,
    [schemas],
  );
  return rows[0]?.revision ?? '';
}
