/** Tables, columns, keys, comments and samples of a PostgreSQL database: one query per kind of catalogue entry. */
import type { DatabaseDescription, TableDescription } from '../../domain';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { groupBy } from '../../group-by';
import { identifier } from '../results';
import { fingerprintOf, SAMPLE_LENGTH, samplesByColumn } from '../schema-fingerprint';
import type { GateClient } from './connection';

const SAMPLED_ROWS = 100;
const TABLES_PER_QUERY = 20;
/** Time limit for sampling one view or foreign table: a view may hide an expensive query. */
const VIEW_TIMEOUT_MS = 1_500;
const SAMPLING_MS = 8_000;
/** Tables that were never analysed have no estimate; up to this size they are counted. */
const COUNT_UP_TO_BYTES = 64 * 1024 * 1024;

interface TableRow {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly kind: string;
  readonly visible: boolean;
  readonly comment: string | null;
  readonly estimate: number;
  readonly bytes: string | null;
}
interface ColumnRow {
  readonly table_oid: number;
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly comment: string | null;
}
interface KeyRow {
  readonly table_oid: number;
  readonly kind: 'p' | 'u' | 'f';
  readonly columns: string[];
  readonly target_oid: number | null;
  readonly target_columns: string[] | null;
}

/** `schemas`: describe only these; empty means all that can be read. */
export async function describePostgres(
  client: GateClient,
  schemas: readonly string[] = [],
): Promise<DatabaseDescription> {
  await checkSchemas(client, schemas);
  const version = (await client.query<{ server_version: string }>('SHOW server_version')).rows[0]?.server_version ?? '';
  const { rows: tables } = await client.query<TableRow>(TABLES, [schemas]);
  const oids = [tables.map(({ oid }) => oid)];
  const { rows: columns } = await client.query<ColumnRow>(COLUMNS, oids);
  const { rows: keys } = await client.query<KeyRow>(KEYS, oids);
  const columnsOf = groupBy(columns, ({ table_oid }) => table_oid);
  const keysOf = groupBy(keys, ({ table_oid }) => table_oid);
  const nameOf = new Map(tables.map((table) => [table.oid, displayName(table)]));
  const sampled = await sampleTables(client, tables, columnsOf);

  const described = tables.map((table): TableDescription => {
    const own = keysOf.get(table.oid) ?? [];
    const { samples, count } = sampled.get(table.oid) ?? { samples: [], count: null };
    return {
      name: displayName(table),
      kind: isView(table) ? 'view' : 'table',
      comment: table.comment,
      rowEstimate: count ?? (table.estimate >= 0 && !isView(table) ? table.estimate : null),
      columns: (columnsOf.get(table.oid) ?? []).map(({ name, type, required, comment }, index) => ({
        name,
        type,
        nullable: !required,
        comment,
        samples: samples[index] ?? [],
      })),
      primaryKey: own.find(({ kind }) => kind === 'p')?.columns ?? [],
      uniqueKeys: own.filter(({ kind }) => kind === 'u').map((key) => key.columns),
      foreignKeys: own.flatMap(({ kind, columns, target_oid, target_columns }) => {
        const target = target_oid === null ? undefined : nameOf.get(target_oid);
        return kind === 'f' && target !== undefined
          ? [{ columns, table: target, references: target_columns ?? [] }]
          : [];
      }),
    };
  });
  return {
    dialect: 'postgresql',
    version: `PostgreSQL ${version}`,
    tables: described,
    fingerprint: fingerprintOf(described),
  };
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

const displayName = ({ visible, schema, name }: TableRow): string => (visible ? name : `${schema}.${name}`);
/** Foreign tables are described as tables, but sampled one by one like views. */
const isView = ({ kind }: TableRow): boolean => kind === 'v' || kind === 'm';

interface Sampled {
  readonly samples: string[][];
  readonly count: number | null;
}

async function sampleTables(
  client: GateClient,
  tables: readonly TableRow[],
  columnsOf: ReadonlyMap<number, readonly ColumnRow[]>,
): Promise<Map<number, Sampled>> {
  const rows = new Map<number, (string | null)[][]>();
  const counts = new Map<number, number>();
  const deadline = Date.now() + SAMPLING_MS;
  const read = async (batch: readonly TableRow[]): Promise<boolean> => {
    if (Date.now() > deadline) return true;
    const text = batch.map((table) => sampleSql(table, columnsOf.get(table.oid) ?? [])).join(' UNION ALL ');
    const found = await client
      .query<{ oid: number; sampled: string | null; counted: string | null }>(text)
      .catch(async (error: unknown) => {
        // A table that cannot be read (a broken view, a foreign server that is down) has no samples; the rest goes on.
        if ((error as { code?: string }).code === undefined) throw error;
        await client.query('ROLLBACK TO SAVEPOINT gate');
        return null;
      });
    for (const { oid, sampled, counted } of found?.rows ?? []) {
      if (counted !== null) counts.set(oid, Number(counted));
      if (sampled !== null) rows.set(oid, [...(rows.get(oid) ?? []), JSON.parse(sampled) as (string | null)[]]);
    }
    return found !== null;
  };
  const plain = tables.filter(({ kind, oid }) => ['r', 'p'].includes(kind) && (columnsOf.get(oid) ?? []).length > 0);
  for (let start = 0; start < plain.length; start += TABLES_PER_QUERY) {
    const batch = plain.slice(start, start + TABLES_PER_QUERY);
    if (!(await read(batch))) for (const table of batch) await read([table]);
  }
  await client.query(`SET LOCAL statement_timeout = ${VIEW_TIMEOUT_MS}; SAVEPOINT gate`);
  for (const table of tables)
    if (!plain.includes(table) && (columnsOf.get(table.oid) ?? []).length > 0) await read([table]);
  return new Map(
    tables.map(({ oid }) => [
      oid,
      {
        samples: samplesByColumn(rows.get(oid) ?? [], columnsOf.get(oid)?.length ?? 0),
        count: counts.get(oid) ?? null,
      },
    ]),
  );
}

function sampleSql(table: TableRow, columns: readonly ColumnRow[]): string {
  const relation = `${identifier(table.schema)}.${identifier(table.name)}`;
  const values = columns.map(({ name, type }) =>
    type === 'bytea' ? 'NULL' : `left(${identifier(name)}::text, ${SAMPLE_LENGTH + 1})`,
  );
  const sample = `(SELECT ${table.oid}::oid AS oid, array_to_json(ARRAY[${values.join(', ')}]::text[])::text AS sampled, NULL::bigint AS counted FROM ${relation} LIMIT ${SAMPLED_ROWS})`;
  const countable = table.kind === 'r' && table.estimate < 0 && Number(table.bytes ?? 0) <= COUNT_UP_TO_BYTES;
  return countable ? `${sample} UNION ALL (SELECT ${table.oid}::oid, NULL, count(*) FROM ${relation})` : sample;
}

/** Condition on `pg_namespace n`: not one of the server's own schemas. */
export const OF_USERS = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'";
/** Condition on `pg_index`: a unique index over all rows that is not the primary key. */
const UNIQUE_KEY = 'indisunique AND indisvalid AND NOT indisprimary AND indpred IS NULL AND indexprs IS NULL';

/** A table that was never analysed: negative since version 14, zero rows in zero pages before. */
const ESTIMATE = 'CASE WHEN c.reltuples = 0 AND c.relpages = 0 THEN -1 ELSE c.reltuples::float8 END';

/** Tables that this user may read, without partitions (part of their parent) and tables that an extension made. */
export const TABLES = `
  SELECT c.oid, n.nspname AS schema, c.relname AS name, c.relkind::text AS kind, pg_table_is_visible(c.oid) AS visible,
    obj_description(c.oid, 'pg_class') AS comment, ${ESTIMATE} AS estimate,
    CASE WHEN c.relkind = 'r' THEN pg_relation_size(c.oid) END AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND ${OF_USERS}
    AND (n.nspname = ANY($1::text[]) OR cardinality($1::text[]) = 0)
    AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ORDER BY NOT pg_table_is_visible(c.oid), n.nspname COLLATE "C", c.relname COLLATE "C"`;

/** The labels of an enum, or of a domain or array of one: a label is a possible value even if no row holds it yet. */
const LABELS = `CASE WHEN t.typtype IN ('e', 'd') OR t.typcategory = 'A' THEN
      (SELECT 'one of ' || string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) FROM pg_enum e
       WHERE e.enumtypid IN (t.oid, t.typbasetype, t.typelem)) END`;

export const COLUMNS = `
  SELECT a.attrelid AS table_oid, a.attname AS name, a.attnum AS position, format_type(a.atttypid, a.atttypmod) AS type,
    a.attnotnull AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'n'
      AND k.conkey = ARRAY[a.attnum] AND NOT k.convalidated) AS required,
    nullif(concat_ws('; ', col_description(a.attrelid, a.attnum), ${LABELS}), '') AS comment
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = ANY($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
  ORDER BY a.attrelid, a.attnum`;

const names = (relation: string, numbers: string): string =>
  `(SELECT array_agg(a.attname::text ORDER BY k.position) FROM unnest(${numbers}) WITH ORDINALITY AS k(number, position)
    JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = k.number)`;

const KEYS = `
  SELECT conrelid AS table_oid, contype::text AS kind, ${names('conrelid', 'conkey')} AS columns,
    CASE WHEN contype = 'f' THEN confrelid END AS target_oid,
    CASE WHEN contype = 'f' THEN ${names('confrelid', 'confkey')} END AS target_columns
  FROM pg_constraint WHERE contype IN ('p', 'f') AND conrelid = ANY($1::oid[])
  UNION ALL
  SELECT indrelid, 'u', ${names('indrelid', '(indkey::int2[])[0:indnkeyatts - 1]')}, NULL, NULL
  FROM pg_index WHERE ${UNIQUE_KEY} AND indrelid = ANY($1::oid[])
  ORDER BY 1, 2, 3`;

/**
 * A hash that changes when the description of a PostgreSQL database would change. It reads the catalogues only: tables,
 * columns, types, comments and keys that this session may see, and the size of each table to a power of two, so that
 * samples and row counts are read again after a table has grown or shrunk a lot.
 */
export async function revisionOfPostgres(client: GateClient, schemas: readonly string[]): Promise<string> {
  const oids = 'ARRAY(SELECT oid FROM tables)';
  const { rows } = await client.query<{ revision: string }>(
    `WITH tables AS MATERIALIZED (${TABLES}),
     columns AS (${COLUMNS.replaceAll('$1::oid[]', oids)}),
     texts(part, line) AS (
       SELECT 0, concat_ws(E'\\x01', current_database(), current_setting('server_version'), current_user)
       UNION ALL SELECT 1, concat_ws(E'\\x01', oid, schema, name, kind, visible, coalesce(comment, E'\\x02'),
         round(ln(greatest(estimate, 0) + 1) / ln(2::float8)), round(ln(coalesce(bytes, 0)::float8 + 1) / ln(2::float8))) FROM tables
       UNION ALL SELECT 2, concat_ws(E'\\x01', table_oid, position, name, type, required, coalesce(comment, E'\\x02')) FROM columns
       UNION ALL SELECT 3, concat_ws(E'\\x01', conrelid, contype, conkey, confrelid, confkey) FROM pg_constraint
         WHERE contype IN ('p', 'f') AND conrelid = ANY(${oids})
       UNION ALL SELECT 4, concat_ws(E'\\x01', indrelid, indkey, indnkeyatts) FROM pg_index
         WHERE ${UNIQUE_KEY} AND indrelid = ANY(${oids}))
     SELECT md5(coalesce(string_agg(line, E'\\n' ORDER BY part, line COLLATE "C"), '')) AS revision FROM texts`,
    [schemas],
  );
  return rows[0]?.revision ?? '';
}
