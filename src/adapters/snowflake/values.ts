/**
 * Snowflake values as JSON-safe results. The driver returns numbers, times, VARIANTs and binaries as text. A number that a
 * double cannot hold exactly stays text, times keep their zone, JSON its digits and key order.
 */
import type { ResultColumn, SqlValue } from '../../domain';
import { compactJson, exactNumber } from '../value-text';

const KINDS: Readonly<Record<string, ResultColumn['kind']>> = {
  fixed: 'number',
  real: 'number',
  decfloat: 'number',
  boolean: 'boolean',
  text: 'text',
  date: 'time',
  time: 'time',
  timestamp_ltz: 'time',
  timestamp_ntz: 'time',
  timestamp_tz: 'time',
  variant: 'json',
  object: 'json',
  array: 'json',
  map: 'json',
};

export function columnKind(type: string): ResultColumn['kind'] {
  return KINDS[type.toLowerCase()] ?? 'other';
}

export type RawValue = string | number | boolean | null | undefined | object;

export function converterFor(type: string): (value: RawValue) => SqlValue {
  const convert = CONVERTERS[type.toLowerCase()];
  return (value) => {
    if (value === null || value === undefined) return null;
    if (typeof value === 'boolean') return value;
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return convert === undefined ? text : convert(text);
  };
}

const float = (text: string): SqlValue => {
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? '-Infinity' : 'Infinity';
  return Number.isFinite(Number(text)) ? Number(text) : text;
};

/** The session prints nine digits of a second; trailing zeros are removed here. */
const time = (text: string): SqlValue => text.replace(/(:\d\d)\.(\d*?)0+(?=$|\s|[+-])/, (_, seconds: string, digits: string) => (digits === '' ? seconds : `${seconds}.${digits}`)); // prettier-ignore

const CONVERTERS: Readonly<Record<string, (text: string) => SqlValue>> = {
  fixed: exactNumber,
  decfloat: exactNumber,
  real: float,
  time,
  timestamp_ltz: time,
  timestamp_ntz: time,
  timestamp_tz: time,
  variant: compactJson,
  object: compactJson,
  array: compactJson,
  map: compactJson,
  binary: (text) => `\\x${text.toLowerCase()}`,
};
