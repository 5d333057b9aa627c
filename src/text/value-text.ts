/**
 * One result value in a sentence: numbers without meaningless digits of a division, dates without a time of midnight, text
 * in quotes and shortened, so that no value passes for words of the sentence. Uses no locale: the same on every machine.
 */
import type { ResultColumn, SqlValue } from '../domain';
import { visible } from './visible';
import { cut } from './clip';

const TEXT_CHARS = 60;
/** A number with more decimals was computed, not entered. */
const WRITTEN_DECIMALS = 6;
const SHOWN_DECIMALS = 4;

const DECIMAL = /^-?\d+(?:\.\d+)?$/;
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)?( ?(?:Z|[+-]\d\d(?::?\d\d)?))?$/;

export function valueText(value: SqlValue, kind: ResultColumn['kind']): string {
  if (value === null) return 'no value';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return numberText(value);
  if (kind === 'number' && DECIMAL.test(value)) return decimalText(value);
  return MOMENT.test(value) ? momentText(value) : quoted(value);
}

/** Whether `valueText` says all of it: neither rounded nor shortened. */
export function isToldWhole(value: SqlValue, kind: ResultColumn['kind']): boolean {
  if (value === null || typeof value === 'boolean') return true;
  const told = valueText(value, kind);
  return told === `"${value}"` || told === (typeof value === 'number' ? shownNumber(value) : value);
}

/** With the 15 digits that a double holds for sure: 53518.84, not 53518.840000000004. Whole numbers stay exact. */
export function shownNumber(value: number): string {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(15)));
}

function numberText(value: number): string {
  const written = shownNumber(value);
  if (Number.isInteger(value) || !Number.isFinite(value)) return value === 0 ? '0' : String(value);
  if (decimals(written) <= WRITTEN_DECIMALS) return written;
  const rounded = Number(Math.abs(value) >= 1 ? value.toFixed(SHOWN_DECIMALS) : value.toPrecision(SHOWN_DECIMALS));
  // 99.99999999 is not 100.
  return Number.isInteger(rounded) ? written : String(rounded);
}

function decimals(text: string): number {
  return text.includes('e') ? Infinity : (text.split('.')[1]?.length ?? 0);
}

/** Formats a number that came as text because no double holds it. */
function decimalText(text: string): string {
  const [whole = '', fraction = ''] = text.split('.');
  const written = fraction.replace(/0+$/, '');
  if (written === '') return whole;
  if (written.length <= WRITTEN_DECIMALS) return `${whole}.${written}`;
  return whole.length < 15 ? numberText(Number(text)) : `${whole}.${written.slice(0, SHOWN_DECIMALS)}`;
}

function momentText(text: string): string {
  const [, date = '', time, zone = ''] = MOMENT.exec(text) ?? [];
  if (time === undefined) return text;
  return /^00:00(?::00)?$/.test(time) && zone === '' ? date : `${date} ${time}${zone}`;
}

function quoted(text: string): string {
  return `"${cut(visible(text).replace(/\s+/g, ' ').trim(), TEXT_CHARS).replaceAll('"', "'")}"`;
}
