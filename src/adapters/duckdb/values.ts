/**
 * DuckDB's values as JSON-safe results, and as texts to hash. They arrive typed (`@duckdb/node-api`). Dates, times, intervals,
 * bits and UUIDs print in the driver as in DuckDB itself, zones as UTC; lists, structs, maps and unions are JSON.
 */
import * as DuckDB from '@duckdb/node-api';
import type { ResultColumn, SqlValue } from '../../domain';
import { byBars, type DigestWords } from '../kit/digest';
import { words } from '../kit/functions';
import { compactJson, exactNumber, shortest } from '../kit/value-text';

const Id = DuckDB.DuckDBTypeId;
type Type = DuckDB.DuckDBType;
type Value = Exclude<DuckDB.DuckDBValue, null>;
type Kind = ResultColumn['kind'];

/** By the driver's names of types. All else is `other`. */
const KINDS: readonly (readonly [Kind, ReadonlySet<string>])[] = [
  ['boolean', words('BOOLEAN')],
  ['number', words('TINYINT SMALLINT INTEGER BIGINT HUGEINT BIGNUM DECIMAL FLOAT DOUBLE')],
  ['number', words('UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT')],
  ['time', words('DATE TIME TIME_TZ TIME_NS TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS TIMESTAMP_TZ INTERVAL')],
  ['text', words('VARCHAR ENUM UUID')],
  ['json', words('LIST ARRAY STRUCT MAP UNION VARIANT')],
];
/** Dates by their days, which the driver prints as dates. */
const INFINITE: Readonly<Record<number, string>> = { [2 ** 31 - 1]: 'infinity', [1 - 2 ** 31]: '-infinity' };

const isJson = (type: Type): boolean => type.typeId === Id.VARCHAR && type.alias === 'JSON';

export function columnKind(type: Type): Kind {
  if (isJson(type)) return 'json';
  const name = Id[type.typeId];
  return KINDS.find(([, names]) => names.has(name))?.[0] ?? 'other';
}

export function converterFor(type: Type): (value: Value) => SqlValue {
  switch (type.typeId) {
    case Id.DATE:
      return (value) => INFINITE[(value as DuckDB.DuckDBDateValue).days] ?? String(value);
    case Id.BLOB:
    case Id.GEOMETRY:
      return (value) => `\\x${Buffer.from((value as DuckDB.DuckDBBlobValue).bytes).toString('hex')}`;
    case Id.FLOAT:
      return (value) => number(shortest(value as number));
    case Id.BOOLEAN:
      return (value) => value as boolean;
    default:
      if (isJson(type)) return (value) => compactJson(value as string);
      if (columnKind(type) === 'json') return (value) => jsonOf(value, type);
      if (columnKind(type) !== 'number') return String;
      return (value) => (typeof value === 'number' ? number(value) : exactNumber(String(value)));
  }
}

const number = (value: number): SqlValue => (Number.isFinite(value) ? value : String(value));

const NO_NAMES = "the fields of a row have no names, and cannot be returned: write {'a': …, 'b': …}, or a column each";

/** Numbers keep all their digits. */
function jsonOf(value: Value | null, type: Type): string {
  if (value === null) return 'null';
  switch (type.typeId) {
    case Id.LIST:
    case Id.ARRAY: {
      const { valueType } = type as DuckDB.DuckDBListType;
      return `[${(value as DuckDB.DuckDBListValue).items.map((item) => jsonOf(item, valueType)).join(',')}]`;
    }
    case Id.STRUCT: {
      const { entryNames, entryTypes } = type;
      const { entries } = value as DuckDB.DuckDBStructValue;
      // The driver keeps fields by their names, so that of several without one it has the last.
      if (new Set(entryNames).size < entryNames.length) throw new Error(NO_NAMES);
      return object(entryNames.map((name, at) => [name, jsonOf(entries[name] ?? null, entryTypes[at] as Type)]));
    }
    case Id.MAP: {
      const { keyType, valueType } = type;
      const text = converterFor(keyType);
      const { entries } = value as DuckDB.DuckDBMapValue;
      return object(entries.map(({ key, value: each }) => [String(text(key as Value)), jsonOf(each, valueType)]));
    }
    case Id.UNION: {
      const { tag, value: member } = value as DuckDB.DuckDBUnionValue;
      return jsonOf(member, type.memberTypeForTag(tag));
    }
    case Id.VARIANT: {
      const { value: inner, type: own } = value as DuckDB.DuckDBVariantValue;
      return own === undefined ? JSON.stringify(inner === null ? null : String(inner)) : jsonOf(inner, own);
    }
    default: {
      const converted = converterFor(type)(value);
      if (isJson(type) || typeof converted !== 'string') return String(converted);
      return columnKind(type) === 'number' && /\d/.test(converted) ? converted : JSON.stringify(converted);
    }
  }
}

const object = (entries: readonly (readonly [string, string])[]): string =>
  `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

/** Midnight is its date, true is 1. */
export const DIGEST: DigestWords<Type> = {
  join: byBars,
  length: (text) => `length(${text})`,
  number(name, type) {
    const id = type.typeId;
    if (id !== Id.BOOLEAN && columnKind(type) !== 'number') return null;
    const isFloat = id === Id.FLOAT || id === Id.DOUBLE;
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
    if (id === Id.DECIMAL) return { isWhole: `${name} = trunc(${name})`, digits: `trunc(${name})::HUGEINT`, short };
    return { isWhole: 'true', digits: id === Id.BOOLEAN ? `${name}::INTEGER` : name, short: name };
  },
  text(name, type) {
    const printed = isJson(type)
      ? `json(${name})::VARCHAR`
      : type.typeId === Id.BLOB
        ? `hex(${name})`
        : `${name}::VARCHAR`;
    return Id[type.typeId].startsWith('TIMESTAMP')
      ? `regexp_replace(${printed}, '( 00:00:00)?([+]00)?$', '')`
      : printed;
  },
  hash: (row) => `md5_number(${row}) AS hash`,
  sums: [half('hash >> 64'), half('hash & 18446744073709551615')],
};

function half(value: string): string {
  return `coalesce(sum((${value})::UBIGINT), 0)::VARCHAR`;
}
