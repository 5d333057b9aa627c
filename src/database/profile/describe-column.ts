/** The pieces that describe one column by itself. */
import type { TableDescription } from '../../domain';
import { isCodeFormat } from './formats';
import { isUnique, type ColumnFacts, type Counted } from './counted';
import { jsonPieces } from './json-keys';
import { pieceOf, type ProfilePiece } from './piece';
import { numberOf } from './table-rows';
import { list, of, percent, shown } from './words';

export interface ColumnOptions {
  /** false: shapes and counts, but no value of the database. */
  readonly values: boolean;
}

/** Where the column stands. */
export interface Surroundings {
  readonly table: TableDescription;
  /** Its values are keys of another table, declared or found. */
  readonly leadsAway: boolean;
}

type Piece = (tells: Parameters<typeof pieceOf>[1], text: string) => ProfilePiece;

const FREQUENT = 4;
/** Complete lists: of up to so many values, in so many characters. */
const DOMAIN = 20;
const DOMAIN_CHARS = 260;

export function columnPieces(
  facts: ColumnFacts,
  surroundings: Surroundings,
  { values }: ColumnOptions,
): ProfilePiece[] {
  const { column, rows, filled, distinct, nulls, blanks, placeholders } = facts;
  const piece: Piece = (tells, text) => pieceOf(column.name, tells, text);
  if (rows === 0) return [];
  if (filled === 0) return [piece('placeholder', nulls === rows ? 'always NULL' : 'always NULL or blank')];
  const empty = [
    ...(nulls > 0 ? [piece('domain', `NULL ${percent(nulls, rows)}`)] : []),
    ...(blanks > 0 ? [piece('placeholder', `blank ${percent(blanks, rows)}`)] : []),
  ];
  if (column.kind === 'json') return [...empty, ...jsonPieces(column, values)];
  if (distinct === 1)
    return [...empty, piece('domain', values ? `always ${shown(facts.values[0]?.value ?? '')}` : 'one value')];
  const known = placeholders.map(({ value, count }) => ({ value: values ? value : 'a placeholder', count }));
  return [
    ...empty,
    ...(known.length > 0 ? [piece('placeholder', `no value? ${list(known, 3)}`)] : []),
    ...domainPieces(facts, surroundings, values, piece),
  ];
}

function domainPieces(
  facts: ColumnFacts,
  { table, leadsAway }: Surroundings,
  withValues: boolean,
  piece: Piece,
): ProfilePiece[] {
  const { column, distinct, values, placeholders, rows } = facts;
  const complete = list(values, DOMAIN);
  if (distinct <= DOMAIN && complete.length <= DOMAIN_CHARS && !isUnique(facts))
    return [piece('domain', withValues ? complete : `${distinct} values`)];
  const isKey = table.primaryKey.length === 1 && table.primaryKey[0] === column.name;
  const found: ProfilePiece[] = [];
  const isDeclared = table.uniqueKeys.some((key) => key.length === 1 && key[0] === column.name);
  if (!isKey && !isDeclared) found.push(piece('unique', isUnique(facts) ? 'unique' : `${distinct} distinct`));
  // The range of a reference is that of the key it leads to.
  if (leadsAway) return found;
  const formats = telling(facts);
  if (formats.length > 0)
    found.push(piece(formats.length > 1 ? 'formats' : 'range', `like ${formatList(formats, facts)}`));
  if (!withValues) return found;
  const isRange = column.kind === 'number' || column.kind === 'time' || formats.length > 0;
  // Of numbers that only count rows the range is their number.
  const isCounter = isKey && column.kind === 'number' && Number(facts.max) - Number(facts.min) < distinct * 2;
  const range = isRange && !isCounter ? rangeText(facts) : null;
  if (range !== null) found.push(piece('range', range));
  const none = new Set(placeholders.map(({ value }) => value));
  const frequent = values.filter(({ value, count }) => count > 1 && !none.has(value));
  if (frequent.length > 0 && (frequent[0]?.count ?? 0) >= Math.max(rows * 0.02, (3 * rows) / distinct))
    found.push(piece('frequent', `most ${list(frequent.slice(0, FREQUENT), FREQUENT)}`));
  return [...found, ...multiples(facts, piece)];
}

/** Times to the day, unless they are all of one; numbers with six digits. */
function rangeText({ column, min, max }: ColumnFacts): string | null {
  if (min === null || max === null || min === max) return null;
  const ends = [min, max].map((end) => {
    if (column.kind === 'time' && /^\d{4}-\d\d-\d\d[ T]/.test(end)) return end.slice(0, 10);
    const number = column.kind === 'number' ? numberOf(end) : null;
    return number === null || Number.isInteger(number) ? shown(end) : String(Number(number.toPrecision(6)));
  });
  const [low, high] = ends[0] === ends[1] ? [shown(min), shown(max)] : ends;
  return `${low ?? ''} to ${high ?? ''}`;
}

/** Codes have formats; of free text each value has its own. */
function telling({ formats, filled, column }: ColumnFacts): readonly Counted[] {
  if (column.kind !== 'text') return [];
  const top = formats.slice(0, 5);
  const covered = top.reduce((sum, { count }) => sum + count, 0);
  return covered >= filled * 0.9 && top.every(({ value }) => isCodeFormat(value)) ? top : [];
}

function formatList(formats: readonly Counted[], { filled }: ColumnFacts): string {
  const [only] = formats;
  return only !== undefined && only.count === filled ? only.value : list(formats, 5);
}

/** 430, 905, 1225: weights rounded to a scale. */
function multiples({ column, values, filled, distinct }: ColumnFacts, piece: Piece): ProfilePiece[] {
  if (column.kind !== 'number' || distinct < 12) return [];
  const step = [1000, 500, 100, 50, 25, 10, 5].find((each) =>
    values.every(({ value }) => {
      const number = numberOf(value);
      return number !== null && number % each === 0;
    }),
  );
  return step === undefined ? [] : [piece('order', `multiples of ${step} in ${of(filled, filled)}`)];
}
