/**
 * A hash that changes when the description of a PostgreSQL database would change. It reads the catalogues only: tables,
 * columns, types, comments and keys that this session may see, and the size of each table to a power of two, so that
 * samples and row counts are read again after a table has grown or shrunk a lot.
 */
import { COLUMNS, TABLES, UNIQUE_KEY } from './describe';
import type { GateClient } from './connection';

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

/**
 * Of the rows: which transactions this snapshot sees. Whatever writes takes a transaction id, anywhere on the server, so the
 * same snapshot of the same server holds the same rows. Rows of other servers (foreign tables) cannot be told: null.
 */
export async function dataRevisionOfPostgres(client: GateClient): Promise<string | null> {
  const { rows } = await client.query<{ revision: string | null }>(
    `SELECT CASE WHEN NOT EXISTS (SELECT FROM pg_foreign_table) THEN
       concat_ws(' ', current_database(), pg_postmaster_start_time(), txid_current_snapshot()) END AS revision`,
  );
  return rows[0]?.revision ?? null;
}
