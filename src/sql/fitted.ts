/**
 * Values of a check that may have been fitted to the rows: bounds that are dates, factors, and the band within which two
 * figures count as equal. A count shows such a value only as far as its neighbours fit worse. Neighbours: days before and
 * after; a factor one more or less in its last place; half the band. Powers of ten and counts of the calendar are units, and fitted to nothing.
 */
import type { Dialect } from '../domain';
import { argumentsOf, bare, childrenOf, nameOf, operatorOf, readQuery, type Node } from './tree';

export interface Fitted {
  /** As it is written: `'2024-03-01'`, `1.19`. */
  readonly literal: string;
  /** What would stand in its place, nearest first. */
  readonly neighbours: readonly string[];
}

/** Dates and factors of a complete SQL, each once. */
export function fittedIn(sql: string, dialect: Dialect): readonly Fitted[] {
  const query = readQuery(sql, dialect);
  const found = query === null ? [] : [...datesIn(query), ...factorsIn(query)];
  return [...new Map(found.map((each) => [each.literal, each])).values()];
}

/** The widest band within which a check counts two figures as equal, and half of it; null: none. */
export function bandOf(sql: string, dialect: Dialect): { readonly band: string; readonly half: string } | null {
  const query = readQuery(sql, dialect);
  const [band] = query === null ? [] : bandsIn(query).sort((a, b) => Number(b) - Number(a));
  return band === undefined ? null : { band, half: String(Number(band) / 2) };
}

/** The SQL with one value in place of another. */
export function withLiteral(sql: string, literal: string, put: string): string {
  if (literal.startsWith("'")) return sql.replaceAll(literal, () => put);
  const whole = new RegExp(`(?<![\\w.'])${literal.replace('.', '\\.')}(?![\\w.])`, 'g');
  return sql.replace(whole, () => put);
}

const DAY_MS = 86_400_000;
const DAYS = [-1, 1, -7, 7, -30, 30] as const;

function datesIn(node: Node): Fitted[] {
  const isBound = node.type === 'between_expr' || (node.type === 'binary_expr' && /^[<>]=?$/.test(operatorOf(node)));
  const own = isBound ? childrenOf(node).map(bare) : [];
  const dates = own.flatMap((each) => (each.type === 'string_literal' ? (fittedDate(each.value) ?? []) : []));
  return [...dates, ...childrenOf(node).flatMap(datesIn)];
}

/** `2024-03-01`, with a time or without; `20240301`. */
function fittedDate(value: string): Fitted | null {
  const [, year = '', dash = '', month = '', day = '', rest = ''] =
    /^((?:19|20)\d\d)(-?)(\d\d)\2(\d\d)((?:[ T].*)?)$/.exec(value) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(at)) return null;
  const moved = DAYS.map((days) => {
    const [date = ''] = new Date(at + days * DAY_MS).toISOString().split('T');
    return `'${date.replaceAll('-', dash)}${rest}'`;
  });
  return { literal: `'${value}'`, neighbours: moved };
}

const UNITS = new Set([2, 4, 7, 12, 24, 30, 52, 60, 90, 365, 1440, 3600, 86400]);

function factorsIn(node: Node): Fitted[] {
  const isProduct = node.type === 'binary_expr' && ['*', '/'].includes(operatorOf(node));
  const own = isProduct ? [node.left, node.right].map(bare) : [];
  const factors = own.flatMap((each) => (each.type === 'number_literal' ? (fittedFactor(each.text) ?? []) : []));
  return [...factors, ...childrenOf(node).flatMap(factorsIn)];
}

function fittedFactor(text: string): Fitted | null {
  const value = Number(text);
  const places = text.split('.')[1]?.length ?? 0;
  const isPower = Number.isInteger(Math.round(Math.log10(value) * 1e9) / 1e9);
  if (!/^\d+(?:\.\d+)?$/.test(text) || value === 0 || isPower || UNITS.has(value)) return null;
  const unit = 10 ** -places;
  return { literal: text, neighbours: [-1, 1].map((by) => (value + by * unit).toFixed(places)) };
}

/** `abs(a - b) < 0.05` */
function bandsIn(node: Node): string[] {
  const within = childrenOf(node).flatMap(bandsIn);
  if (node.type !== 'binary_expr' || !['<', '<='].includes(operatorOf(node))) return within;
  const [left, right] = [bare(node.left), bare(node.right)];
  const isDifference = nameOf(left) === 'abs' && argumentsOf(left).length === 1;
  return isDifference && right.type === 'number_literal' && Number(right.text) > 0 ? [right.text, ...within] : within;
}
