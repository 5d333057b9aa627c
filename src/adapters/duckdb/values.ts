/**
 * DuckDB's values as JSON-safe results, and as texts to hash. They arrive typed (`@duckdb/node-api`). Dates, times, intervals,
 * bits and UUIDs print in the driver as in DuckDB itself, zones as UTC; lists, structs, maps and unions are JSON.
 */
import type * as DuckDB from '@duckdb/node-api';
import type { ResultColumn, SqlValue } from '../../domain';
import { compactJson, exactNumber } from '../kit/value-text';

type Type = DuckDB.DuckDBType;
type Value = Exclude<DuckDB.DuckDBValue, null>;
type Kind = ResultColumn['kind'] | 'float';

/** By `DuckDBTypeId`, whose values only the driver has: it is loaded in the process that reads, and nowhere else. */
const KINDS: readonly (Kind | null)[] = [
  ...([null, 'boolean', 'number', 'number', 'number', 'number', 'number', 'number', 'number', 'number'] as const), // 0 to 9: integers
  ...(['float', 'number', 'time', 'time', 'time', 'time', 'number', 'text', 'other', 'number'] as const), // to 19: DECIMAL
  ...(['time', 'time', 'time', 'text', 'json', 'json', 'json', 'text', 'json', 'other'] as const), // to 29: BIT
  ...(['time', 'time', 'number', 'json', null, 'number', null, null, null, 'time', 'other', 'json'] as const), // to 41: VARIANT
];
const [DOUBLE, VARCHAR, BLOB, DECIMAL, LIST, STRUCT, MAP, UNION] = [11, 17, 18, 19, 24, 25, 26, 28];
const [ARRAY, GEOMETRY, FLOAT, BOOLEAN, DATE] = [33, 40, 10, 1, 13];
/** Dates by their days, which the driver prints as dates. */
const INFINITE: Readonly<Record<number, string>> = { [2 ** 31 - 1]: 'infinity', [1 - 2 ** 31]: '-infinity' };
const TIMESTAMPS = new Set([12, 20, 21, 22, 31]);

/** As a number: the driver's enumeration is not loaded here. */
const idOf = ({ typeId }: Type): number => typeId;
const isJson = (type: Type): boolean => idOf(type) === VARCHAR && type.alias === 'JSON';
const kindOf = (type: Type): Kind => (isJson(type) ? 'json' : (KINDS[type.typeId] ?? 'other'));

export function columnKind(type: Type): ResultColumn['kind'] {
  const kind = kindOf(type);
  return kind === 'float' ? 'number' : kind;
}

export function converterFor(type: Type): (value: Value) => SqlValue {
  const id = idOf(type);
  if (id === DECIMAL) return (value) => exactNumber(String(value));
  if (id === DATE) return (value) => INFINITE[(value as DuckDB.DuckDBDateValue).days] ?? String(value);
  if (id === BLOB || id === GEOMETRY)
    return (value) => `\\x${Buffer.from((value as DuckDB.DuckDBBlobValue).bytes).toString('hex')}`;
  switch (kindOf(type)) {
    case 'float':
      return (value) => number(shortest(value as number));
    case 'number':
      return (value) => (typeof value === 'number' ? number(value) : exactNumber(String(value)));
    case 'boolean':
      return (value) => value as boolean;
    case 'json':
      return isJson(type) ? (value) => compactJson(value as string) : (value) => jsonOf(value, type);
    default:
      return (value) => (typeof value === 'string' ? value : String(value));
  }
}

const number = (value: number): SqlValue => (Number.isFinite(value) ? value : String(value));

/** The fewest digits that stand for the same value of 32 bits, as DuckDB prints it. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

const NO_NAMES = "the fields of a row have no names, and cannot be returned: write {'a': …, 'b': …}, or a column each";

/** Numbers keep all their digits. */
function jsonOf(value: Value | null, type: Type): string {
  if (value === null) return 'null';
  const id = idOf(type);
  if (id === LIST || id === ARRAY) {
    const { valueType } = type as DuckDB.DuckDBListType;
    return `[${(value as DuckDB.DuckDBListValue).items.map((item) => jsonOf(item, valueType)).join(',')}]`;
  }
  if (id === STRUCT) {
    const { entryNames, entryTypes } = type as DuckDB.DuckDBStructType;
    const { entries } = value as DuckDB.DuckDBStructValue;
    // The driver keeps fields by their names, so that of several without one it has the last.
    if (new Set(entryNames).size < entryNames.length) throw new Error(NO_NAMES);
    const parts = entryTypes.map((each, index) => [entryNames[index] ?? '', each] as const);
    return object(parts.map(([name, each]) => [name, jsonOf(entries[name] ?? null, each)]));
  }
  if (id === MAP) {
    const { keyType, valueType } = type as DuckDB.DuckDBMapType;
    const text = converterFor(keyType);
    const { entries } = value as DuckDB.DuckDBMapValue;
    return object(entries.map(({ key, value: each }) => [String(text(key as Value)), jsonOf(each, valueType)]));
  }
  if (id === UNION) {
    const { tag, value: member } = value as DuckDB.DuckDBUnionValue;
    return jsonOf(member, (type as DuckDB.DuckDBUnionType).memberTypeForTag(tag));
  }
  if (kindOf(type) === 'json' && !isJson(type)) {
    const { value: inner, type: own } = value as DuckDB.DuckDBVariantValue;
    return own === undefined ? JSON.stringify(inner === null ? null : String(inner)) : jsonOf(inner, own);
  }
  const converted = converterFor(type)(value);
  if (isJson(type) || typeof converted !== 'string') return String(converted);
  return columnKind(type) === 'number' && /\d/.test(converted) ? converted : JSON.stringify(converted);
}

const object = (entries: readonly (readonly [string, string])[]): string =>
  `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

/**
 * The statement that counts and hashes the rows of another one (rule S5): the halves of each row's hash are summed, so that
 * their order is of no account. Equal hashes mean equal results: whole numbers exactly, others with 7 significant digits,
 * midnight as its date, true as 1.
 */
export function digestSql(text: string, types: readonly Type[]): string {
  const names = types.map((_, index) => `c${index}`);
  const row = types.map((type, index) => `coalesce(${hashedText(`c${index}`, type)}, 'n')`).join(" || '|' || ");
  const half = (value: string): string => `coalesce(sum((${value})::UBIGINT), 0)::VARCHAR`;
  return `SELECT count(*), ${half('hash >> 64')}, ${half('hash & 18446744073709551615')}
    FROM (SELECT md5_number(${row}) AS hash FROM (\n${text}\n) AS gate_rows(${names.join(', ')})) AS gate_hashes`;
}

function hashedText(name: string, type: Type): string {
  const id = idOf(type);
  if (id === BOOLEAN) return `'d' || ${name}::INTEGER`;
  if (id === FLOAT || id === DOUBLE)
    return `CASE WHEN isfinite(${name}) THEN ${rounded(`${name}::DOUBLE`)} ELSE ${name}::VARCHAR END`;
  if (id === DECIMAL)
    return `CASE WHEN ${name} = trunc(${name}) THEN 'd' || trunc(${name})::HUGEINT ELSE ${rounded(`${name}::DOUBLE`)} END`;
  if (columnKind(type) === 'number') return `'d' || ${name}`;
  const printed = isJson(type) ? `json(${name})::VARCHAR` : id === BLOB ? `hex(${name})` : `${name}::VARCHAR`;
  const value = TIMESTAMPS.has(id) ? `regexp_replace(${printed}, '( 00:00:00)?([+]00)?$', '')` : printed;
  return `'t' || length(${value}) || ':' || ${value}`;
}

/** A double has 15 reliable digits. */
function rounded(double: string): string {
  const whole = (value: string): string => `abs(${value}) < 1e15 AND ${value} = trunc(${value})`;
  const digits = (value: string): string =>
    `CASE WHEN ${whole(value)} THEN 'd' || trunc(${value})::BIGINT ELSE 'd' || ${value} END`;
  return `CASE WHEN ${whole(double)} THEN 'd' || trunc(${double})::BIGINT ELSE ${digits(`printf('%.6e', ${double})::DOUBLE`)} END`;
}
