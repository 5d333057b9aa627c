/**
 * Results as LiveSQLBench's scorer compares them: the values that psycopg2 makes of PostgreSQL's, dates without their time of
 * day, numbers to two decimals. `numeric` is rounded half up and stays exact, floats are rounded as Python rounds: numeric
 * 0.10 is not the float 0.1, but 0.50 is 0.5. Each value becomes a text; values that are equal in Python have equal texts.
 */
import type { SqlValue } from '../../src/domain';
import { pythonFloat, pythonRound } from '../../src/questions/python';

/** `null`: equal to nothing, itself included (NaN), or the scorer fails on it. `type`: as `pg_typeof` names it. */
export function cellText(value: SqlValue, type: string): string | null {
  if (value === null) return 'none';
  if (type.endsWith('[]')) return arrayText(String(value), type.slice(0, -2));
  switch (type) {
    case 'boolean':
      return numberText(value === true ? '1' : '0');
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'oid':
      return numberText(String(value));
    case 'numeric':
      return numericText(String(value));
    case 'real':
    case 'double precision':
      return floatText(Number(value));
    case 'date':
    case 'timestamp without time zone':
    case 'timestamp with time zone':
      return dateText(String(value));
    case 'time without time zone':
    case 'time with time zone':
      return `time ${String(value)}`;
    case 'interval':
      return intervalText(String(value));
    case 'json':
    case 'jsonb':
      return jsonText(String(value));
    case 'bytea':
      return `bytes ${String(value)}`;
    default:
      return text(String(value));
  }
}

/** Values have types in SQLite, and columns do not. */
export function sqliteType(value: SqlValue): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'bigint' : 'double precision';
  return 'text';
}

const text = (value: string): string => `text ${value}`;

/** The parts of a decimal number without an exponent. */
function numberText(decimal: string): string {
  const short = decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
  return `number ${short === '-0' ? '0' : short}`;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d*))?(e-\d+)?$/;
/** Decimals of Python have no more digits. */
const MAX_DIGITS = 28;

function numericText(value: string): string | null {
  const [, sign = '', whole = '0', fraction = '', exponent] = DECIMAL.exec(value) ?? [];
  if (!DECIMAL.test(value)) return null;
  if (exponent !== undefined) return numberText('0');
  const hundredths = BigInt(whole + fraction.slice(0, 2).padEnd(2, '0')) + ((fraction[2] ?? '0') >= '5' ? 1n : 0n);
  const digits = String(hundredths).padStart(3, '0');
  return digits.length > MAX_DIGITS ? null : numberText(`${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`);
}

function floatText(value: number): string | null {
  if (Number.isNaN(value)) return null;
  const rounded = pythonRound(value, 2);
  if (!Number.isFinite(rounded)) return `number ${String(rounded)}`;
  if (Number.isInteger(rounded)) return numberText(String(BigInt(rounded)));
  // Binary floats hold quarters exactly, of fractions with two decimals.
  return Number.isInteger(rounded * 4) ? numberText(rounded.toFixed(2)) : `float ${String(rounded)}`;
}

function dateText(value: string): string | null {
  const date = { infinity: '9999-12-31', '-infinity': '0001-01-01' }[value] ?? /^\d{4}-\d\d-\d\d/.exec(value)?.[0];
  // Python's %Y has no leading zeros.
  return date === undefined || value.endsWith('BC') ? null : text(date.replace(/^0+/, ''));
}

/** Years count 365 days and months 30, as in psycopg2. */
function intervalText(value: string): string | null {
  const days = { year: 365, mon: 30, day: 1 };
  let micros = 0;
  let rest = value;
  for (const [part, count, unit] of value.matchAll(/([-+]?\d+) (year|mon|day)s?/g)) {
    micros += Number(count) * days[unit as keyof typeof days] * 86_400_000_000;
    rest = rest.replace(part, '');
  }
  const [, sign, hours, minutes, seconds] = /^\s*([-+]?)(\d+):(\d\d):(\d\d(?:\.\d+)?)\s*$/.exec(rest) ?? [];
  if (hours === undefined) return rest.trim() === '' ? `interval ${String(micros)}` : null;
  const time = (Number(hours) * 3600 + Number(minutes) * 60) * 1e6 + Math.round(Number(seconds) * 1e6);
  return `interval ${String(micros + (sign === '-' ? -time : time))}`;
}

/** A JSON object or array is compared as the text that Python writes of it, a single value by itself. */
function jsonText(value: string): string | null {
  // Numbers become texts that JSON cannot hold, so that 1 and 1.0 stay apart and no digit is lost.
  const marked = value.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, (token) =>
    token.startsWith('"') ? token : `"${MARK}${token}"`,
  );
  const parsed = JSON.parse(marked) as Json;
  if (parsed === null) return 'none';
  if (typeof parsed === 'object') return text(dumped(parsed));
  if (typeof parsed === 'boolean') return numberText(parsed ? '1' : '0');
  if (!parsed.startsWith(NUMBER_MARK)) return text(parsed);
  const number = parsed.slice(1);
  return /^-?\d+$/.test(number) ? numberText(number) : floatText(Number(number));
}

type Json = string | boolean | null | readonly Json[] | { readonly [key: string]: Json };
const MARK = '\\u0000';
const NUMBER_MARK = '\u0000';

/** Python's `json.dumps(value, sort_keys=True)`, floats rounded to two decimals. */
function dumped(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return value.startsWith(NUMBER_MARK) ? dumpedNumber(value.slice(1)) : quoted(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(dumped).join(', ')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${entries.map(([key, one]) => `${quoted(key)}: ${dumped(one)}`).join(', ')}}`;
}

function dumpedNumber(number: string): string {
  return /^-?\d+$/.test(number) ? number.replace(/^-0$/, '0') : dumpedFloat(Number(number));
}

const dumpedFloat = (value: number): string =>
  ({ nan: 'NaN', inf: 'Infinity', '-inf': '-Infinity' })[pythonFloat(value)] ?? pythonFloat(pythonRound(value, 2));

const quoted = (value: string): string =>
  JSON.stringify(value).replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Elements that JSON has no form for make the scorer fail: numerics, dates and times. */
function arrayText(value: string, type: string): string | null {
  const elements = ARRAY_ELEMENTS[type];
  if (elements === undefined) return UNWRITABLE.has(type) ? null : text(value);
  const json = value.replace(/"((?:[^"\\]|\\.)*)"|[^{},]+|[{},]/gs, (token, inner: string | undefined) => {
    if (inner !== undefined) return elements(inner.replace(/\\(.)/gs, '$1'));
    if (/^[{},]$/.test(token)) return { '{': '[', '}': ']', ',': ', ' }[token] ?? '';
    return token === 'NULL' ? 'null' : elements(token);
  });
  return text(json);
}

const ARRAY_ELEMENTS: Readonly<Record<string, (token: string) => string>> = {
  ...Object.fromEntries(['text', 'character varying', 'character'].map((type) => [type, quoted])),
  ...Object.fromEntries(['smallint', 'integer', 'bigint'].map((type) => [type, (token: string) => token])),
  ...Object.fromEntries(
    ['real', 'double precision'].map((type) => [type, (token: string) => dumpedFloat(Number(token))]),
  ),
  boolean: (token) => (token === 't' ? 'true' : 'false'),
};
const UNWRITABLE = new Set([
  ...['numeric', 'date', 'timestamp without time zone', 'timestamp with time zone', 'interval'],
  ...['time without time zone', 'time with time zone', 'bytea'],
]);
