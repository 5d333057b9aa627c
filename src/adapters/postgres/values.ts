/**
 * PostgreSQL values as JSON-safe results. Every value arrives as the text that PostgreSQL prints (no global type parser is
 * touched) and is converted by the column's type; dates, arrays, binary and composite values stay text.
 */
import type { ResultColumn, SqlValue } from '../../domain';
import { compactJson, exactNumber } from '../value-text';

const OID = {
  bool: 16, int8: 20, int2: 21, int4: 23, oid: 26, json: 114, float4: 700, float8: 701,
  date: 1082, time: 1083, timestamp: 1114, timestamptz: 1184, interval: 1186, timetz: 1266, numeric: 1700, jsonb: 3802,
} as const; // prettier-ignore

const NUMBERS = new Set<number>([OID.int8, OID.int2, OID.int4, OID.oid, OID.float4, OID.float8, OID.numeric]);
const TIMES = new Set<number>([OID.date, OID.time, OID.timestamp, OID.timestamptz, OID.interval, OID.timetz]);
/** char, name, text, unknown, bpchar, varchar, uuid, xml. */
const TEXTS = new Set([18, 19, 25, 705, 1042, 1043, 2950, 142]);
/** Types made by users and extensions (enums, citext, …) start here; they print as text. */
const FIRST_USER_OID = 16_384;

export function columnKind(oid: number): ResultColumn['kind'] {
  if (NUMBERS.has(oid)) return 'number';
  if (TIMES.has(oid)) return 'time';
  if (oid === OID.bool) return 'boolean';
  if (oid === OID.json || oid === OID.jsonb) return 'json';
  return TEXTS.has(oid) || oid >= FIRST_USER_OID ? 'text' : 'other';
}

/** Converts the text that the server sent. NULL comes without text and is not converted. */
export function converterFor(oid: number): (text: string) => SqlValue {
  return converters.get(oid) ?? asText;
}

const asText = (text: string): SqlValue => text;

/** The server prints floats exactly. NaN and the infinities stay text. */
const float = (text: string): SqlValue => (Number.isFinite(Number(text)) ? Number(text) : text);

const converters = new Map<number, (text: string) => SqlValue>([
  [OID.bool, (text) => text === 't'],
  [OID.int2, Number],
  [OID.int4, Number],
  [OID.oid, Number],
  [OID.float4, float],
  [OID.float8, float],
  [OID.int8, exactNumber],
  [OID.numeric, exactNumber],
  [OID.json, compactJson],
  [OID.jsonb, compactJson],
]);
