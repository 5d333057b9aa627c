/**
 * Count and order-independent hash of a whole result, computed by the server (rule S5): each row's text is hashed and the
 * halves of the hashes are summed. Columns are taken by position; whole numbers enter exactly, others with 7 significant
 * digits, computed by arithmetic, because no number format of Snowflake prints an exponent of fixed width.
 */
import { columnKind } from './values';

/** 2^48: a sum over 30 million rows has far fewer than 38 digits, and a sum over a few rows fits a double. */
const MODULUS = 281_474_976_710_656;

export function digestSql(sql: string, types: readonly string[]): string {
  const names = types.map((_, index) => `c${index}`);
  const row = types.map((type, index) => part(`c${index}`, type)).join(` || '|' || `) || `''`;
  return `WITH gate_rows${names.length === 0 ? '' : `(${names.join(', ')})`} AS (\n${sql}\n), gate_hashes AS (
    SELECT MOD(MD5_NUMBER_UPPER64(gate_text), ${MODULUS}) AS high, MOD(MD5_NUMBER_LOWER64(gate_text), ${MODULUS}) AS low FROM (SELECT ${row} AS gate_text FROM gate_rows) AS gate_texts
  ) SELECT COUNT(*), COALESCE(SUM(high), 0), COALESCE(SUM(low), 0) FROM gate_hashes`;
}

function part(name: string, type: string): string {
  if (columnKind(type) !== 'number')
    return `COALESCE('t' || LENGTH(TO_VARCHAR(${name})) || ':' || TO_VARCHAR(${name}), 'n')`;
  const value = `${name}::DOUBLE`;
  const exponent = `FLOOR(LOG(10, ABS(${value})))`;
  const mantissa = `ROUND(${value} / POWER(10, ${exponent}), 6)`;
  // A double has 15 reliable digits.
  const [exact, limit] = type.toLowerCase() === 'fixed' ? [name, ''] : [value, ` AND ABS(${value}) <= 1e15`];
  const whole = `ABS(${exact}) >= 10000000${limit} AND ${exact} = FLOOR(${exact})`;
  return `CASE WHEN ${name} IS NULL THEN 'n' WHEN LOWER(TO_VARCHAR(${value})) IN ('nan', 'inf', '-inf') THEN LOWER(TO_VARCHAR(${value})) WHEN ${value} = 0 THEN 'd0'
      WHEN ${whole} THEN 'd' || TO_VARCHAR(${exact}::NUMBER(38, 0))
      WHEN ABS(${mantissa}) >= 10 THEN 'd' || TO_VARCHAR((${mantissa} / 10)::NUMBER(9, 6)) || 'e' || TO_VARCHAR((${exponent} + 1)::NUMBER(6, 0))
      ELSE 'd' || TO_VARCHAR(${mantissa}::NUMBER(9, 6)) || 'e' || TO_VARCHAR(${exponent}::NUMBER(6, 0)) END`;
}
