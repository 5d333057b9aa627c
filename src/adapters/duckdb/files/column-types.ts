/**
 * The type of each column of a table of texts.
 *
 * 1. A type is taken only where every value of the whole column is written in it: a sample only says what is worth a look.
 * 2. Nothing is lost by it: a key such as `00123` or `+49 30` stays text, and so does what could be read in two ways.
 * 3. Words for "no value" become NULL only in columns that have another type than text, and are counted.
 */
import { cut } from '../../../clip';
import { identifier } from '../../kit/engine';

/** Gives the rows of a statement, values as texts. */
export type Query = (sql: string) => Promise<readonly (readonly (string | null)[])[]>;

export interface TypedColumn {
  readonly name: string;
  /** From the column as text to its value. */
  readonly sql: string;
  readonly format: string | null;
  readonly notes: readonly string[];
}

type Convention = 'point' | 'comma' | 'day' | 'month';

interface Kind {
  readonly name: string;
  readonly pattern: RegExp;
  /** The value as a number, date or time; NULL where it is none. */
  readonly cast: (text: string) => string;
  /** A value that could be meant in the way of `rival` is read in this way only by what other columns show. */
  readonly convention?: Convention;
  readonly rival?: string;
  readonly format?: string;
  /** Written as digits with a point, after which the width is known. */
  readonly decimal?: (text: string) => string;
  /** What the cast gives back as text is the value: cheaper than the pattern. */
  readonly isExact?: boolean;
}

const PLAIN = '(0|[1-9][0-9]*)';
const number = (text: string): string => `TRY_CAST(${text} AS DOUBLE)`;
const parsed = (format: string) => (text: string) => `try_strptime(${text}, '${format}')`;

function dates(separator: '/' | '-' | '.'): Kind[] {
  const of = (shown: string, format: string, convention?: 'day' | 'month'): Kind[] =>
    [
      ['', '', ''],
      [' hh:mm', ' %H:%M', ' [0-9]{1,2}:[0-9]{2}'],
      [' hh:mm:ss', ' %H:%M:%S', ' [0-9]{1,2}:[0-9]{2}:[0-9]{2}'],
    ].map(([time = '', code = '', pattern = '']) => {
      const cast = parsed(format + code);
      return {
        name: shown + time,
        format: shown + time,
        pattern: new RegExp(`^[0-9]{1,2}[${separator}][0-9]{1,2}[${separator}][0-9]{4}${pattern}$`),
        cast: time === '' ? (text: string) => `CAST(${cast(text)} AS DATE)` : cast,
        ...(convention && { convention, rival: (convention === 'day' ? MONTH_FIRST : DAY_FIRST)(separator) + time }),
      };
    });
  const day = of(DAY_FIRST(separator), `%d${separator}%m${separator}%Y`, separator === '.' ? undefined : 'day');
  return separator === '.' ? day : [...day, ...of(MONTH_FIRST(separator), `%m${separator}%d${separator}%Y`, 'month')];
}
const DAY_FIRST = (separator: string): string => `dd${separator}mm${separator}yyyy`;
const MONTH_FIRST = (separator: string): string => `mm${separator}dd${separator}yyyy`;

const plain = (text: string): string => text;
const CLOCK = '[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?';

/** The first that every value is written in. */
const KINDS: readonly Kind[] = [
  { name: 'true or false', pattern: /^(true|false)$/i, cast: (text) => `TRY_CAST(${text} AS BOOLEAN)` },
  { name: 'an integer', pattern: new RegExp(`^-?${PLAIN}$`), cast: (text) => `TRY_CAST(${text} AS BIGINT)`, isExact: true },
  { name: 'an integer', pattern: new RegExp(`^-?${PLAIN}$`), cast: (text) => `TRY_CAST(${text} AS HUGEINT)`, isExact: true },
  { name: 'a decimal', pattern: new RegExp(`^-?(${PLAIN}([.][0-9]+)?|[.][0-9]+)$`), cast: number, decimal: plain, rival: 'a decimal with comma', convention: 'point' },
  { name: 'a number', pattern: new RegExp(`^-?${PLAIN}([.][0-9]+|[.][0-9]+[eE][-+]?[0-9]+|[eE][-+][0-9]+)?$`), cast: number },
  { name: 'any number', pattern: /^[-+.eE0-9]+$/, cast: number },
  {
    name: 'a decimal with comma',
    pattern: new RegExp(`^-?(${PLAIN}|[1-9][0-9]{0,2}([.][0-9]{3})+)(,[0-9]+)?$`),
    cast: (text) => number(`replace(replace(${text}, '.', ''), ',', '.')`),
    decimal: (text) => `replace(replace(${text}, '.', ''), ',', '.')`,
    ...{ rival: 'a number with thousands', convention: 'comma', format: '1.234,56' },
  },
  {
    name: 'a number with thousands',
    pattern: new RegExp(`^-?(${PLAIN}|[1-9][0-9]{0,2}(,[0-9]{3})+)([.][0-9]+)?$`),
    cast: (text) => number(`replace(${text}, ',', '')`),
    decimal: (text) => `replace(${text}, ',', '')`,
    ...{ rival: 'a decimal with comma', convention: 'point', format: '1,234.56' },
  },
  { name: 'yyyy-mm-dd', pattern: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, cast: (text) => `TRY_CAST(${text} AS DATE)`, isExact: true },
  { name: 'a time of a day', pattern: new RegExp(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]${CLOCK}$`), cast: (text) => `TRY_CAST(${text} AS TIMESTAMP)` },
  { name: 'a time with its zone', pattern: new RegExp(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]${CLOCK}(Z|[-+][0-9]{2}(:?[0-9]{2})?)$`), cast: (text) => `TRY_CAST(${text} AS TIMESTAMPTZ)` },
  { name: 'a time', pattern: /^[0-9]{2}:[0-9]{2}:[0-9]{2}$/, cast: (text) => `TRY_CAST(${text} AS TIME)`, isExact: true },
  { name: 'yyyy/mm/dd', format: 'yyyy/mm/dd', pattern: /^[0-9]{4}[/][0-9]{1,2}[/][0-9]{1,2}$/, cast: (text) => `CAST(${parsed('%Y/%m/%d')(text)} AS DATE)` },
  ...dates('.'),
  ...dates('/'),
  ...dates('-'),
]; // prettier-ignore

/** JSON says by itself what is a number. */
const FOR_TEXT = KINDS.map(({ name }) => name).filter((name) => name !== 'any number');

export const NO_VALUE = ['na', 'n/a', '#n/a', 'nan', 'null', 'none', 'nil', '-', '--', '?', '\\n'];

interface Attempt {
  readonly kind: Kind;
  /** Whether the values are taken as they are, which is cheaper than without spaces and words for "no value". */
  readonly isRaw: boolean;
}

interface Found extends Attempt {
  readonly rival: Kind | null;
  /** Words for "no value" that became NULL. */
  readonly words: string | null;
}

const SAMPLE_ROWS = 1000;
/** Each takes some memory. */
const COLUMNS_AT_ONCE = 100;
/** A column with fewer values that do not fit is told. */
const NEARLY = 0.1;

/** `from`: a table of texts. `kinds`: which types a column may get; left out: any. */
export async function typeColumns(
  query: Query,
  from: string,
  names: readonly string[],
  kinds?: (name: string) => readonly string[],
): Promise<TypedColumn[]> {
  const notes = new Map<string, string[]>(names.map((name) => [name, []]));
  const found = new Map<string, Found>();
  const open = new Map<string, Attempt[]>();
  const samples = await samplesOf(query, from, names);
  for (const name of names) {
    const allowed = new Set(kinds?.(name) ?? FOR_TEXT);
    const attempts = attemptsFor(
      samples.get(name) ?? [],
      KINDS.filter((kind) => allowed.has(kind.name)),
      kinds !== undefined,
    );
    if (attempts.length > 0) open.set(name, attempts);
    else if (kinds === undefined) notes.get(name)?.push(...mixedDates(samples.get(name) ?? []));
  }
  while (open.size > 0) {
    const asked = [...open]
      .slice(0, COLUMNS_AT_ONCE)
      .map(([name, [first, ...others]]) => ({ name, first: first as Attempt, others }));
    const inner = asked.flatMap(({ first, others }, index) => checksOf(first, rivalOf(first, others), index));
    const texts = asked.flatMap(({ name, first }, index) => [
      `${identifier(name)} AS column_${index}`,
      `${valueOf(identifier(name), first.isRaw)} AS text_${index}`,
    ]);
    const outer = asked.flatMap((_, index) => summary(index));
    const [row = []] = await query(
      `SELECT ${outer.join(', ')} FROM (SELECT ${inner.join(', ')} FROM (SELECT ${texts.join(', ')} FROM ${from}))`,
    );
    for (const [index, { name, first, others }] of asked.entries()) {
      const [fails, example, rivalFails, values, words] = row.slice(index * CHECKS, (index + 1) * CHECKS);
      open.delete(name);
      const rival = rivalFails === '0' ? rivalOf(first, others) : null;
      if (fails === '0') found.set(name, { ...first, rival: rival?.kind ?? null, words: words ?? null });
      else if (others.length > 0) open.set(name, others);
      if (fails !== '0' && !first.isRaw && Number(fails) < NEARLY * Number(values))
        notes
          .get(name)
          ?.push(`${fails} of ${values} values are not ${first.kind.name}, such as '${cut(example ?? '', 40)}'`);
    }
  }
  const conventions = new Set(
    [...found.values()].flatMap(({ kind, rival }) => (rival === null && kind.convention ? [kind.convention] : [])),
  );
  return typed(query, from, names, found, conventions, notes);
}

async function typed(
  query: Query,
  from: string,
  names: readonly string[],
  found: ReadonlyMap<string, Found>,
  conventions: ReadonlySet<Convention>,
  notes: ReadonlyMap<string, string[]>,
): Promise<TypedColumn[]> {
  const columns = names.map((name) => {
    const one = found.get(name);
    return {
      name,
      attempt: one === undefined ? null : resolved(one, conventions, notes.get(name) ?? []),
      words: one?.words ?? null,
    };
  });
  const decimals = columns.flatMap(({ name, attempt }) => {
    const digits = attempt?.kind.decimal?.(valueOf(identifier(name), attempt.isRaw));
    return digits === undefined ? [] : [{ name, digits }];
  });
  const widths = decimals.flatMap(({ digits }) => [
    `max(strlen(${digits}))`,
    `max(CASE WHEN strpos(${digits}, '.') > 0 THEN strlen(${digits}) - strpos(${digits}, '.') ELSE 0 END)`,
  ]);
  const [row = []] = widths.length === 0 ? [] : await query(`SELECT ${widths.join(', ')} FROM ${from}`);
  return columns.map(({ name, attempt, words }) => {
    const own = notes.get(name) ?? [];
    if (attempt === null) return { name, sql: identifier(name), format: null, notes: own };
    const { kind, isRaw } = attempt;
    const text = valueOf(identifier(name), isRaw);
    const place = decimals.findIndex((decimal) => decimal.name === name);
    const [length, scale] = [Number(row[place * 2]), Number(row[place * 2 + 1])];
    const sql = place < 0 ? kind.cast(text) : asDecimal(kind.decimal?.(text) ?? text, length, scale);
    if (sql === null)
      return { name, sql: identifier(name), format: null, notes: [`has numbers of ${length} digits: kept as text`] };
    return { name, sql, format: kind.format ?? null, notes: words === null ? own : [...own, `read as NULL: ${words}`] };
  });
}

/** Exact where it fits into 18 or 38 digits; null: a number would lose digits. `length`: of the longest. */
function asDecimal(digits: string, length: number, scale: number): string | null {
  // Measured figures: a double keeps up to 17 digits, and can be computed with.
  if (scale > 9 && length <= 17) return `TRY_CAST(${digits} AS DOUBLE)`;
  // The longest may have the fewest decimals.
  return length + scale > 38 ? null : `TRY_CAST(${digits} AS DECIMAL(${length + scale > 18 ? 38 : 18}, ${scale}))`;
}

/** What is meant where every value could be meant in two ways; null: text. */
function resolved(found: Found, conventions: ReadonlySet<Convention>, notes: string[]): Attempt | null {
  const { kind, rival, isRaw } = found;
  if (rival === null) return found;
  const known = [kind, rival].filter(({ convention }) => convention !== undefined && conventions.has(convention));
  const [only] = known;
  if (known.length === 1 && only !== undefined) return { kind: only, isRaw };
  const ways = `every value could be ${kind.name} or ${rival.name}`;
  notes.push(kind.name === 'a decimal' ? `${ways}: read as ${kind.name}` : `${ways}: kept as text`);
  return kind.name === 'a decimal' ? found : null;
}

async function samplesOf(query: Query, from: string, names: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await query(`SELECT ${names.map(identifier).join(', ')} FROM ${from} LIMIT ${SAMPLE_ROWS}`);
  const samples = new Map(names.map((name, index) => [name, rows.flatMap((row) => row[index] ?? [])]));
  const sparse = rows.length < SAMPLE_ROWS ? [] : names.filter((name) => !(samples.get(name) ?? []).some(isValue));
  for (const name of sparse) {
    const more = await query(
      `SELECT ${identifier(name)} FROM ${from} WHERE ${valueOf(identifier(name), false)} IS NOT NULL LIMIT ${SAMPLE_ROWS}`,
    );
    samples.set(
      name,
      more.flatMap(([value]) => value ?? []),
    );
  }
  return samples;
}

const isValue = (text: string): boolean => !NO_VALUE.includes(text.trim().toLowerCase());

/** `isJson`: it has a null of its own. */
function attemptsFor(sample: readonly string[], kinds: readonly Kind[], isJson: boolean): Attempt[] {
  const values = sample.map((text) => text.trim()).filter(isValue);
  if (values.length === 0) return [];
  const isClean = sample.every((text) => text === text.trim() && isValue(text));
  const fitting = kinds.filter(({ pattern }) => {
    const misses = values.filter((value) => !pattern.test(value)).length;
    return misses === 0 || misses < NEARLY * values.length;
  });
  return fitting.flatMap((kind) => [
    ...(isClean ? [{ kind, isRaw: true }] : []),
    ...(isJson ? [] : [{ kind, isRaw: false }]),
  ]);
}

function rivalOf({ kind, isRaw }: Attempt, others: readonly Attempt[]): Attempt | null {
  return others.find((other) => other.kind.name === kind.rival && other.isRaw === isRaw) ?? null;
}

const CHECKS = 5;

/** Of each row: the value if it does not fit, whether it misses the rival, whether there is one, and a word that becomes NULL. */
function checksOf({ kind, isRaw }: Attempt, rival: Attempt | null, index: number): string[] {
  const [column, text] = [`column_${index}`, `text_${index}`];
  return [
    `CASE WHEN ${misses(kind, text)} THEN ${column} END AS miss_${index}`,
    `${rival === null ? 'true' : misses(rival.kind, text)} AS rival_${index}`,
    `${column} IS NOT NULL AS value_${index}`,
    `${isRaw ? 'NULL' : `CASE WHEN ${column} IS NOT NULL AND ${text} IS NULL THEN trim(${column}) END`} AS word_${index}`,
  ];
}

function summary(index: number): string[] {
  const words = `nullif(count(word_${index}), 0) || ' times a word such as ' || min(word_${index})`;
  const counts = ['rival', 'value'].map((name) => `count(*) FILTER (${name}_${index})`);
  return [`count(miss_${index})`, `min(miss_${index})`, ...counts, words];
}

function misses({ pattern, cast, decimal, isExact = false }: Kind, text: string): string {
  if (isExact) return `${text} IS NOT NULL AND (CAST(${cast(text)} AS VARCHAR) = ${text}) IS NOT TRUE`;
  const fits = `regexp_matches(${text}, '${pattern.source}'${pattern.ignoreCase ? ", 'i'" : ''})`;
  return `${text} IS NOT NULL AND NOT ${decimal === undefined ? `(${fits} AND ${cast(text)} IS NOT NULL)` : fits}`;
}

function valueOf(column: string, isRaw: boolean): string {
  if (isRaw) return column;
  return `CASE WHEN lower(trim(${column})) IN (${NO_VALUE.map((word) => `'${word}'`).join(', ')}, '') THEN NULL ELSE trim(${column}) END`;
}

function mixedDates(sample: readonly string[]): string[] {
  const values = sample.map((text) => text.trim()).filter(isValue);
  const ways = KINDS.filter(({ name, pattern }) => /yyyy/.test(name) && values.some((value) => pattern.test(value)));
  const areDates = values.every((value) => ways.some(({ pattern }) => pattern.test(value)));
  return areDates && ways.length > 1
    ? [`dates are written in several ways (${ways.map(({ name }) => name).join(', ')}): kept as text`]
    : [];
}
