/**
 * Count and order-independent hash of a whole result, computed by the server (rule S5): each row's text is hashed and the
 * halves of the hashes are summed. Columns are taken by position, so two may have the same name. Equal hashes must mean
 * equal results, so the hashed text holds all that rule S5 compares: whole numbers exactly, others with 7 significant
 * digits, blanks at the end of a `char(n)`. Differences that the rule ignores are removed where that is cheap: a time of
 * midnight, the zone UTC, `true` against 1.
 */
import { columnKind } from './values';

const OID = { bool: 16, int8: 20, int2: 21, int4: 23, oid: 26, float4: 700, float8: 701, bpchar: 1042, timestamp: 1114, timestamptz: 1184, timetz: 1266 } as const; // prettier-ignore
const WITH_ZEROS = new Set<number>([OID.timestamp, OID.timestamptz, OID.timetz]);

export function digestSql(sql: string, types: readonly number[]): string {
  const names = types.map((_, index) => `c${index}`);
  const parts = types.map((oid, index) => part(`c${index}`, oid));
  const row = parts.length === 0 ? "''" : parts.join(" || '|' || ");
  const half = (start: number): string =>
    `coalesce(sum(('x' || substr(hash, ${start}, 16))::bit(64)::bigint::numeric), 0)::text`;
  return `SELECT count(*), ${half(1)}, ${half(17)} FROM (
    SELECT md5(${row}) AS hash FROM (\n${sql.replace(/[;\s]+$/, '')}\n) AS gate_rows${names.length === 0 ? '' : `(${names.join(', ')})`}
  ) AS hashes`;
}

function part(name: string, oid: number): string {
  switch (oid) {
    case OID.bool:
      return integer(`${name}::int`);
    case OID.oid:
      return integer(`${name}::bigint`);
    case OID.int2:
    case OID.int4:
    case OID.int8:
      return integer(name);
    default:
      return columnKind(oid) === 'number' ? number(name, oid === OID.float4 || oid === OID.float8) : text(name, oid);
  }
}

function text(name: string, oid: number): string {
  // A cast would remove the blanks.
  const printed = oid === OID.bpchar ? `concat(${name})` : `${name}::text`;
  const value = WITH_ZEROS.has(oid)
    ? `regexp_replace(regexp_replace(${printed}, '[+]00( BC)?$', '\\1'), ' 00:00:00( BC)?$', '\\1')`
    : printed;
  return `CASE WHEN ${name}::text IS NULL THEN 'n' ELSE 't' || length(${value}) || ':' || ${value} END`;
}

const rounded = (double: string): string => `'d' || to_char(${double}, '9.999999EEEE')`;

function integer(value: string): string {
  return `CASE WHEN ${value} IS NULL THEN 'n' WHEN ${value} BETWEEN -9999999 AND 9999999 THEN ${rounded(`${value}::float8`)} ELSE 'd' || ${value} END`;
}

/** A double has 15 reliable digits. `to_char` fails on NaN and Infinity. */
function number(name: string, isFloat: boolean): string {
  const value = isFloat ? `${name}::float8` : name;
  const whole = isFloat
    ? `abs(${value}) BETWEEN 1e7 AND 1e15 AND ${value} = trunc(${value})`
    : `abs(${value}) >= 1e7 AND (${value} = trunc(${value}) OR abs(${value}) > 1e300)`;
  const double = isFloat ? `${value} + 0` : `(CASE WHEN abs(${value}) < 1e-300 THEN 0 ELSE ${value} END)::float8`;
  return `CASE WHEN ${name} IS NULL THEN 'n' WHEN ${name}::text IN ('NaN', 'Infinity', '-Infinity') THEN ${name}::text
      WHEN ${whole} THEN 'd' || trunc(${value})::numeric ELSE ${rounded(double)} END`;
}
