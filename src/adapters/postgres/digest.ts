/**
 * Count and order-independent hash of a whole result, computed by the server (rule S5): each row's text is hashed and the
 * halves of the hashes are summed. Columns are taken by position, so equal names do no harm; numbers enter with 7
 * significant digits.
 */
import { columnKind } from './values';

const FLOAT_OIDS_WITH_SPECIALS = "('NaN', 'Infinity', '-Infinity')";

export function digestSql(sql: string, types: readonly number[]): string {
  const names = types.map((_, index) => `c${index}`);
  const parts = types.map((oid, index) => {
    const name = `c${index}`;
    if (columnKind(oid) !== 'number') return `coalesce('t' || length(${name}::text) || ':' || ${name}::text, 'n')`;
    return `coalesce(CASE WHEN ${name}::text IN ${FLOAT_OIDS_WITH_SPECIALS} THEN ${name}::text ELSE 'd' || to_char(${name}::float8 + 0, '9.999999EEEE') END, 'n')`;
  });
  const row = parts.length === 0 ? "''" : parts.join(" || '|' || ");
  const half = (start: number): string =>
    `coalesce(sum(('x' || substr(hash, ${start}, 16))::bit(64)::bigint::numeric), 0)::text`;
  return `SELECT count(*), ${half(1)}, ${half(17)} FROM (
    SELECT md5(${row}) AS hash FROM (\n${sql.replace(/[;\s]+$/, '')}\n) AS gate_rows${names.length === 0 ? '' : `(${names.join(', ')})`}
  ) AS hashes`;
}
