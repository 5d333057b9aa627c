/**
 * DuckDB's values as JSON-safe results, and as texts to hash. They arrive typed (`@duckdb/node-api`). Dates, times, intervals,
 * bits and UUIDs print in the driver as in DuckDB itself, zones as UTC; lists, structs, maps and unions are JSON.
 */
import type * as DuckDB from '@duckdb/node-api';
import type { ResultColumn, SqlValue } from '../../domain';
import { byBars, type DigestWords } from '../kit/digest';
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

/** Midnight is its date, true is 1. */
export const DIGEST: DigestWords<Type> = {
  join: byBars,
  length: (text) => `length(${text})`,
  number(name, type) {
    const id = idOf(type);
    if (id !== BOOLEAN && columnKind(type) !== 'number') return null;
    const isFloat = id === FLOAT || id === DOUBLE;
    // A double has 15 reliable digits.
    const isWhole = (value: string): string => `abs(${value}) < 1e15 AND ${value} = trunc(${value})`;
    const rounded = `printf('%.6e', ${name}::DOUBLE)::DOUBLE`;
    const short = `CASE WHEN ${isWhole(rounded)} THEN trunc(${rounded})::BIGINT::VARCHAR ELSE ${rounded}::VARCHAR END`;
    if (isFloat)
      return {
        odd: `WHEN NOT isfinite(${name}) THEN ${name}::VARCHAR`,
        isWhole: isWhole(`${name}::DOUBLE`),
        digits: `trunc(${name}::DOUBLE)::BIGINT`,
        short,
      };
    if (id === DECIMAL) return { isWhole: `${name} = trunc(${name})`, digits: `trunc(${name})::HUGEINT`, short };
    return { isWhole: 'true', digits: id === BOOLEAN ? `${name}::INTEGER` : name, short: name };
  },
  text(name, type) {
    const printed = isJson(type) ? `json(${name})::VARCHAR` : idOf(type) === BLOB ? `hex(${name})` : `${name}::VARCHAR`;
    return TIMESTAMPS.has(idOf(type)) ? `regexp_replace(${printed}, '( 00:00:00)?([+]00)?$', '')` : printed;
  },
  hash: (row) => `md5_number(${row}) AS hash`,
  sums: [half('hash >> 64'), half('hash & 18446744073709551615')],
};

function half(value: string): string {
  return `coalesce(sum((${value})::UBIGINT), 0)::VARCHAR`;
}
