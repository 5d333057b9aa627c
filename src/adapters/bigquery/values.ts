/**
 * BigQuery's values as JSON-safe results, from the rows of its REST interface: `{ f: [{ v }] }`, where each `v` is text, a list
 * or a row. A number that a double cannot hold exactly stays text; lists and rows become JSON with the digits of the server.
 */
import type bigquery from '@google-cloud/bigquery/build/src/types';
import type { ResultColumn, SqlValue } from '../../domain';
import { byConcat, type DigestWords } from '../kit/digest';
import { compactJson, exactNumber, shortTime } from '../kit/value-text';

export type Field = bigquery.ITableFieldSchema;
export interface Row {
  readonly f: readonly { readonly v: Cell }[];
}
type Cell = string | null | Row | readonly { readonly v: Cell }[];

const NAMES: Readonly<Record<string, string>> = {
  INTEGER: 'INT64',
  FLOAT: 'FLOAT64',
  BOOLEAN: 'BOOL',
  RECORD: 'STRUCT',
};
const nameOf = ({ type = '' }: Field): string => NAMES[type] ?? type;
const isList = ({ mode }: Field): boolean => mode === 'REPEATED';

/** As SQL writes it: `ARRAY<STRUCT<key STRING, value INT64>>`. */
export function typeText(field: Field): string {
  const name = nameOf(field);
  const inner = (field.fields ?? []).map((part) => `\`${part.name ?? ''}\` ${typeText(part)}`).join(', ');
  const range = field.rangeElementType && `RANGE<${field.rangeElementType.type}>`;
  const one = name === 'STRUCT' ? `STRUCT<${inner}>` : (range ?? name);
  return isList(field) ? `ARRAY<${one}>` : one;
}

const KINDS: Readonly<Record<string, ResultColumn['kind']>> = {
  ...{ INT64: 'number', FLOAT64: 'number', NUMERIC: 'number', BIGNUMERIC: 'number' },
  ...{ DATE: 'time', DATETIME: 'time', TIME: 'time', TIMESTAMP: 'time', INTERVAL: 'time' },
  ...{ STRING: 'text', BOOL: 'boolean', JSON: 'json', STRUCT: 'json' },
};
export const kindOf = (field: Field): ResultColumn['kind'] =>
  isList(field) ? 'json' : (KINDS[nameOf(field)] ?? 'other');

export const valuesOf = (fields: readonly Field[], row: Row): SqlValue[] =>
  fields.map((field, at) => valueOf(field, row.f[at]?.v ?? null));

const partsOf = (cell: Row | readonly { readonly v: Cell }[]): readonly { readonly v: Cell }[] =>
  'f' in cell ? cell.f : cell;

function valueOf(field: Field, cell: Cell): SqlValue {
  if (isList(field) || (cell !== null && typeof cell !== 'string')) return jsonOf(field, cell ?? []);
  if (cell === null) return null;
  const name = nameOf(field);
  if (name === 'BOOL') return cell === 'true';
  if (name === 'FLOAT64') return Number.isFinite(Number(cell)) ? Number(cell) : float(cell);
  return name in KINDS && KINDS[name] === 'number' ? exactNumber(cell) : textOf(name, cell);
}

function textOf(name: string, cell: string): string {
  switch (name) {
    case 'BYTES':
      return `\\x${Buffer.from(cell, 'base64').toString('hex')}`;
    case 'JSON':
      return compactJson(cell);
    case 'TIMESTAMP':
      return timestamp(cell);
    case 'DATETIME':
    case 'TIME':
      return shortTime(cell.replace('T', ' '));
    default:
      return cell;
  }
}

const float = (text: string): string =>
  /^[+-]?inf/i.test(text) ? `${text.startsWith('-') ? '-' : ''}Infinity` : 'NaN';

/** Microseconds since 1970 in digits; years 1 to 9999. */
function timestamp(cell: string): string {
  if (!/^-?\d+$/.test(cell)) return cell;
  const micros = BigInt(cell);
  const part = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const at = new Date(Number((micros - part) / 1000n)).toISOString().slice(0, 19).replace('T', ' ');
  return `${shortTime(`${at}.${String(part).padStart(6, '0')}`)}+00`;
}

function jsonOf(field: Field, cell: Cell): string {
  if (cell === null) return 'null';
  if (isList(field) && typeof cell === 'object')
    return `[${partsOf(cell)
      .map(({ v }) => jsonOf({ ...field, mode: '' }, v))
      .join(',')}]`;
  if (typeof cell === 'object') {
    const parts = partsOf(cell);
    return `{${(field.fields ?? []).map((part, at) => `${JSON.stringify(part.name)}:${jsonOf(part, parts[at]?.v ?? (isList(part) ? [] : null))}`).join(',')}}`;
  }
  const name = nameOf(field);
  if (name === 'BOOL') return cell;
  if (name === 'JSON') return compactJson(cell);
  if (KINDS[name] === 'number') return /^[-+.\deE]+$/.test(cell) ? cell : JSON.stringify(float(cell));
  return JSON.stringify(textOf(name, cell));
}

export const DIGEST: DigestWords<Field> = {
  join: byConcat,
  length: (text) => `CHAR_LENGTH(${text})`,
  number(name, field) {
    const isTruth = typeText(field) === 'BOOL';
    if (!isTruth && kindOf(field) !== 'number') return null;
    const value = isTruth ? `CAST(${name} AS INT64)` : name;
    const [odd, short] = [`WHEN ${value} = 0 THEN 'd0'`, `FORMAT('%.6e', CAST(${value} AS FLOAT64))`];
    if (nameOf(field) === 'FLOAT64')
      return {
        odd: `WHEN IS_NAN(${name}) OR IS_INF(${name}) THEN CAST(${name} AS STRING) ${odd}`,
        // A double has 15 reliable digits.
        isWhole: `ABS(${name}) BETWEEN 1e7 AND 1e15 AND ${name} = TRUNC(${name})`,
        digits: `CAST(SAFE_CAST(${name} AS INT64) AS STRING)`,
        short,
      };
    const isLarge =
      isTruth || nameOf(field) === 'INT64'
        ? `${value} NOT BETWEEN -9999999 AND 9999999`
        : `ABS(${value}) >= 10000000 AND ${value} = TRUNC(${value})`;
    return { odd, isWhole: isLarge, digits: `CAST(${value} AS STRING)`, short };
  },
  text: (name, field) => (typeText(field) === 'STRING' ? name : `TO_JSON_STRING(${name})`),
  // The first part of a UNION names the columns.
  named(fields, sql) {
    const names = fields.map((field, at) => `CAST(NULL AS ${typeText(field)}) AS c${at}`).join(', ');
    return `gate_rows AS (\n    SELECT ${names} FROM UNNEST([1]) WHERE FALSE UNION ALL (\n${sql}\n)\n  )`;
  },
  hash: (row) => `TO_HEX(MD5(${row})) AS gate_hash`,
  sums: [half(1), half(17)],
};

function half(from: number): string {
  return `COALESCE(SUM(CAST(CAST(CONCAT('0x', SUBSTR(gate_hash, ${from}, 14)) AS INT64) AS NUMERIC)), 0)`;
}
