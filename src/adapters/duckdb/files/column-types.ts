/**
 * The type of each column of a table of texts.
 *
 * 1. A type is taken only where every value of the whole column is written in it: a sample only says what is worth a look.
 * 2. Nothing is lost by it: a key such as `00123` or `+49 30` stays text, and so does what could be read in two ways.
 * 3. Words for "no value" become NULL only in columns that have another type than text, and are counted.
 */
import { cut } from '../../../clip';
import { counted } from '../../../counted';
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
  /** Values that could be meant in the way of another one are read in this way only by what other columns show. */
  readonly convention?: Convention;
  readonly format?: string;
  /** Written as digits with a point, after which the width is known. */
  readonly decimal?: (text: string) => string;
  /** What the cast gives back as text is the value: cheaper than the pattern. */
  readonly isExact?: boolean;
}

const PLAIN = '(0|[1-9][0-9]*)';
const significant = (text: string): string => `trim(regexp_replace(${text}, '[eE].*|[-.]', '', 'g'), '0')`;
/** NULL where a double has other digits: they are too many, or it is too large or too small. */
const number = (text: string): string => {
  const double = `TRY_CAST(${text} AS DOUBLE)`;
  return `CASE WHEN ${significant(text)} = ${significant(`CAST(${double} AS VARCHAR)`)} THEN ${double} END`;
};
/** Between thousands, and nowhere else. */
const APART = "\u00a0\u202f''\u2019";

/** `between`: the characters between thousands, as in a text of SQL. */
function thousands(name: string, between: string, fraction: string, rest: Partial<Kind>): Kind {
  const decimal = (text: string): string => `replace(translate(${text}, '${between}', ''), ',', '.')`;
  const pattern = new RegExp(`^-?(${PLAIN}|[1-9][0-9]{0,2}([${between}][0-9]{3})+)${fraction}$`);
  return { name, pattern, cast: (text) => number(decimal(text)), decimal, ...rest };
}
/** Of accounts and telephones: amounts of this size hardly have one length all, or are round. Apostrophes are in amounts alone. */
const GROUPS = /^[0-9]{3}([.\u00a0\u202f][0-9]{3}){2,}$/;
/** The first version that may be taken for an earlier one is the tenth: prices hardly have `.1` and `.10` and no `.05`. */
const VERSION = /^[0-9]+([.](0|[1-9][0-9]*))?$/;

function dates(order: string, rest: Partial<Kind> = {}): Kind[] {
  return ['', ' hh:mm', ' hh:mm:ss'].map((clock) => {
    const format = order + clock;
    const code = format.replace('hh:mm', '%H:%M').replace('ss', '%S').replace('dd', '%d').replace('mm', '%m');
    const cast = (text: string): string => `try_strptime(${text}, '${code.replace('yyyy', '%Y')}')`;
    const digits = format.replace(/[./-]/g, '[$&]').replace('yyyy', '[0-9]{4}').replace(/:../g, ':[0-9]{2}');
    return {
      ...{ name: format, format, ...rest },
      pattern: new RegExp(`^${digits.replace(/dd|mm|hh/g, '[0-9]{1,2}')}$`),
      cast: clock === '' ? (text) => `CAST(${cast(text)} AS DATE)` : cast,
    };
  });
}

const plain = (text: string): string => text;
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const clock = (fraction: string): string => `[0-9]{2}:[0-9]{2}(:[0-9]{2}([.]${fraction})?)?`;
/** What a timestamp keeps; zeros more are nothing. */
const MICROSECONDS = '[0-9]{1,6}0{0,3}';

/** The first that every value is written in. */
const KINDS: readonly Kind[] = [
  { name: 'true or false', pattern: /^(true|false)$/i, cast: (text) => `TRY_CAST(${text} AS BOOLEAN)` },
  { name: 'an integer', pattern: new RegExp(`^-?${PLAIN}$`), cast: (text) => `TRY_CAST(${text} AS BIGINT)`, isExact: true },
  { name: 'an integer', pattern: new RegExp(`^-?${PLAIN}$`), cast: (text) => `TRY_CAST(${text} AS HUGEINT)`, isExact: true },
  { name: 'an integer', pattern: new RegExp(`^-?${PLAIN}$`), cast: number, decimal: plain },
  { name: 'a decimal', pattern: new RegExp(`^-?(${PLAIN}([.][0-9]+)?|[.][0-9]+)$`), cast: number, decimal: plain, convention: 'point' },
  { name: 'a number', pattern: new RegExp(`^-?${PLAIN}([.][0-9]+|[.][0-9]+[eE][-+]?[0-9]+|[eE][-+][0-9]+)?$`), cast: number },
  { name: 'any number', pattern: /^[-+.eE0-9]+$/, cast: number },
  thousands('a decimal with comma', '.', `(,[0-9]+)?`, { convention: 'comma', format: '1.234,56' }),
  thousands('a number with thousands', ',', `([.][0-9]+)?`, { convention: 'point', format: '1,234.56' }),
  // Spaces that break no line, and apostrophes: what people type between the parts of a key are other spaces.
  thousands('an integer with thousands', APART, '', { format: '1 234' }),
  thousands('a decimal with comma', APART, `(,[0-9]+)?`, { convention: 'comma', format: '1 234,56' }),
  thousands('a number with thousands', APART, `([.][0-9]+)?`, { convention: 'point', format: '1 234.56' }),
  { name: 'yyyy-mm-dd', pattern: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, cast: (text) => `TRY_CAST(${text} AS DATE)`, isExact: true },
  { name: 'a time of a day', pattern: new RegExp(`^${DAY}[ T]${clock(MICROSECONDS)}$`), cast: (text) => `TRY_CAST(${text} AS TIMESTAMP)` },
  { name: 'a time of a day', pattern: new RegExp(`^${DAY}[ T]${clock('[0-9]{1,9}')}$`), cast: (text) => `TRY_CAST(${text} AS TIMESTAMP_NS)` },
  { name: 'a time with its zone', pattern: new RegExp(`^${DAY}[ T]${clock(MICROSECONDS)}(Z|[-+][0-9]{2}(:?[0-9]{2})?)$`), cast: (text) => `TRY_CAST(${text} AS TIMESTAMPTZ)` },
  { name: 'a time', pattern: /^[0-9]{2}:[0-9]{2}:[0-9]{2}$/, cast: (text) => `TRY_CAST(${text} AS TIME)`, isExact: true },
  ...dates('yyyy/mm/dd'),
  ...dates('dd.mm.yyyy'),
  ...['/', '-'].flatMap((separator) => [
    ...dates(`dd${separator}mm${separator}yyyy`, { convention: 'day' }),
    ...dates(`mm${separator}dd${separator}yyyy`, { convention: 'month' }),
  ]),
]; // prettier-ignore

/** JSON says by itself what is a number. */
const FOR_TEXT = KINDS.filter(({ name }) => name !== 'any number');

/** Texts that all have spaces around them. */
const PADDED: Kind = { name: 'a text', pattern: /./, cast: (text) => `nullif(trim(${text}), '')` };

const SIGN = /[%€$£¥]|EUR|USD|GBP|CHF|PLN|zł|Kč|kr/;
const IN_BRACKETS = /^\s*[(](.*)[)]\s*$/;

/**
 * Numbers that all have the sign of one currency, or that of percent, beside them. Those in brackets are negative, as accountants
 * write them, where others have neither brackets nor a minus; without a sign brackets also stand around what is not sure, so that
 * each has to look like money.
 */
function amounts(sample: readonly string[]): Kind[] {
  const [sign = ''] = SIGN.exec(sample.find((text) => SIGN.test(text)) ?? '') ?? [];
  const bracketed = sample.filter((text) => text.includes('(')).length;
  const isMoney = sign !== '' || sample.every((text) => /[.,][0-9]{2}[)]?\s*$/.test(text));
  const areNegative = bracketed > 0 && bracketed < sample.length && isMoney;
  if (sign === '' && !areNegative) return [];
  const space = '[ \u00a0\u202f]*';
  const beside = sign === '' ? '' : `${space}${sign.length === 1 ? `[${sign}]` : sign}${space}`;
  const bare = (text: string): string => {
    const digits = sign === '' ? text : `regexp_replace(${text}, '${beside}', '')`;
    // A dash beside a currency is the zero of accountants.
    return areNegative ? `regexp_replace(translate(${digits}, '()', '-'), '^-$', '0')` : digits;
  };
  const told = `${sign && ` with ${sign}`}${areNegative ? ' and brackets' : ''}`;
  return KINDS.flatMap(({ name, pattern, decimal, format = name === 'an integer' ? '1234' : '1234.56', ...kind }) => {
    if (decimal === undefined) return [];
    const digits = pattern.source.slice('^-?'.length, -'$'.length);
    const either = `${beside}${digits}|${digits}${beside}`;
    const zero = /[%]|^$/.test(sign) ? '' : `|${beside}-|-${beside}`;
    const ways = areNegative
      ? `${either}|[(](${either})[)]|${beside}[(]${digits}[)]|[(]${digits}[)]${beside}${zero}`
      : `-?${beside}${digits}|${beside}-${digits}|-?${digits}${beside}`;
    return {
      ...kind,
      name: name + told,
      format: `${format}${sign && ` ${sign}`}${areNegative ? `, negative in brackets${zero && ', - for 0'}` : ''}`,
      pattern: new RegExp(`^(${ways})$`),
      cast: (text) => kind.cast(bare(text)),
      decimal: (text) => decimal(bare(text)),
    };
  });
}

/** Why numbers in brackets are texts. */
function inBrackets(sample: readonly string[]): string[] {
  const example = sample.find((text) => text.includes('('));
  const inside = sample.map((text) => text.replace(SIGN, '').replace(IN_BRACKETS, '$1').trim());
  const areNumbers = KINDS.some(({ decimal, pattern }) => decimal && inside.every((text) => pattern.test(text)));
  return example !== undefined && areNumbers
    ? [`numbers in brackets such as ${cut(example.trim(), 40)} may be negative: kept as text`]
    : [];
}

/** Words for "no value", in small letters; also of Excel, SAS, SPSS, Eurostat and the World Bank. */
const NO_VALUE = [
  ...['', 'na', 'n/a', 'nan', 'null', '(null)', 'none', 'nil', 'k.a.', '-', '--', '–', '—', '?', '.', '..', ':', '\\n'],
  ...['#n/a', '#nv', '#div/0!', '#value!', '#wert!', '#ref!', '#bezug!', '#name?', '#num!', '#zahl!', '#null!'],
];
export const isNoValue = (text: string): boolean => NO_VALUE.includes(text.trim().toLowerCase());

/** Why what is written like numbers may be keys. */
function keysIn(values: readonly string[]): string | null {
  const lengths = new Set(values.map((text) => text.length));
  if (lengths.size === 1 && values.every((text) => GROUPS.test(text)) && !values.every((text) => text.endsWith('000')))
    return `numbers of one length such as ${values[0] ?? ''} may be keys`;
  const all = new Set(values);
  const short = values.find((text) => all.has(`${text}0`) && /^[0-9]+[.]1$/.test(text));
  return short === undefined || !values.every((text) => isNoValue(text) || VERSION.test(text))
    ? null
    : `${short} and ${short}0 may be two versions`;
}

interface Attempt {
  readonly kind: Kind;
  /** Whether the values are taken as they are, which is cheaper than without spaces and words for "no value". */
  readonly isRaw: boolean;
}

interface Found extends Attempt {
  readonly rival: Kind | null;
  readonly havePoints: boolean;
}

const SAMPLE_ROWS = 1000;
/** A column with fewer values that do not fit is told. */
const NEARLY = 0.1;
/** Of amounts. */
const MOST_SCALE = 9;

/**
 * `from`: a table of texts. `areCommasBetween`: whether cells are, so that decimals hardly have them. `kinds`: which types a
 * column of JSON may get, which has a null of its own; left out: any.
 */
export async function typeColumns(
  query: Query,
  from: string,
  names: readonly string[],
  areCommasBetween: boolean,
  kinds?: (name: string) => readonly string[],
): Promise<TypedColumn[]> {
  const columns = [];
  for (const name of names) {
    const notes: string[] = [];
    const found = await foundIn(query, from, identifier(name), kinds?.(name) ?? null, notes);
    columns.push({ name, found, notes });
  }
  const sure = columns.flatMap(({ found }) => (found?.rival === null ? [found.kind.convention] : []));
  const typed: TypedColumn[] = [];
  for (const { name, found, notes } of columns) {
    const meant = found && meantBy(found, new Set(sure), areCommasBetween, notes);
    const sql = meant && (await valueSql(query, from, identifier(name), meant, notes));
    typed.push({ name, sql: sql ?? identifier(name), format: (sql && meant.kind.format) ?? null, notes });
  }
  return typed;
}

/** The kind in which every value is written; null: text. Adds to `notes`. */
async function foundIn(
  query: Query,
  from: string,
  column: string,
  allowed: readonly string[] | null,
  notes: string[],
): Promise<Found | null> {
  const isJson = allowed !== null;
  const rows = await query(
    `SELECT ${column} FROM ${from} WHERE ${valueOf(column, isJson)} IS NOT NULL LIMIT ${SAMPLE_ROWS}`,
  );
  const sample = rows.map(([value]) => value ?? '');
  const kinds = isJson ? KINDS.filter(({ name }) => allowed.includes(name)) : [...FOR_TEXT, ...amounts(sample)];
  const keys = isJson ? null : keysIn(sample.map((text) => text.trim()));
  if (keys !== null) notes.push(`${keys}: kept as text`);
  const attempts = keys === null ? attemptsFor(sample, kinds, isJson) : [];
  const missed: string[] = [];
  for (const [index, attempt] of attempts.entries()) {
    const { kind, isRaw } = attempt;
    const rival = kind.convention && attempts.slice(index).find((other) => isRival(other, attempt, sample))?.kind;
    const [[fails, example, rivalFails, values, words, word] = []] = await query(
      `SELECT count(*) FILTER (is_miss), min(x) FILTER (is_miss), count(*) FILTER (${rival ? misses(rival, 'v') : 'true'}),
        count(x), count(*) FILTER (is_word), min(trim(x)) FILTER (is_word)
      FROM (SELECT *, ${misses(kind, 'v')} AS is_miss, x IS NOT NULL AND v IS NULL AS is_word
        FROM (SELECT ${column} AS x, ${valueOf(column, isRaw)} AS v FROM ${from}))`,
    );
    if (fails === '0') {
      if (words !== '0') notes.push(`${counted(Number(words), 'value')} such as ${word} read as NULL`);
      const havePoints = sample.every((text) => /[.]|^0$/.test(text) || isNoValue(text));
      return { ...attempt, rival: rivalFails === '0' ? (rival ?? null) : null, havePoints };
    }
    if (isRaw === isJson && Number(fails) < NEARLY * Number(values))
      missed.push(`${fails} of ${values} values are not ${kind.name}, such as '${cut(example ?? '', 40)}'`);
  }
  notes.push(...(missed.length > 0 || isJson ? missed.slice(0, 1) : [...mixedDates(sample), ...inBrackets(sample)]));
  if (isJson || sample.length === 0 || !sample.every((text) => /^ | $/.test(text))) return null;
  notes.push('spaces around its texts are left out');
  return { kind: PADDED, isRaw: true, rival: null, havePoints: false };
}

const isRival = (other: Attempt, { kind, isRaw }: Attempt, sample: readonly string[]): boolean =>
  other.isRaw === isRaw &&
  other.kind.convention !== undefined &&
  other.kind.convention !== kind.convention &&
  sample.every((text) => other.kind.pattern.test(text.trim()));

function attemptsFor(sample: readonly string[], kinds: readonly Kind[], isJson: boolean): Attempt[] {
  const values = sample.map((text) => text.trim());
  const isClean = values.every((value, index) => value === sample[index]);
  const fitting = kinds.filter(
    ({ pattern }) => values.filter((value) => !pattern.test(value)).length < NEARLY * values.length,
  );
  return fitting.flatMap((kind) => [
    ...(isClean ? [{ kind, isRaw: true }] : []),
    ...(isJson ? [] : [{ kind, isRaw: false }]),
  ]);
}

/** What is meant where every value could be meant in two ways; null: text. */
function meantBy(found: Found, sure: ReadonlySet<Convention | undefined>, areCommasBetween: boolean, notes: string[]) {
  const { kind, rival, isRaw } = found;
  if (rival === null) return found;
  const [only, other] = [kind, rival].filter(({ convention }) => sure.has(convention));
  const isShown = only !== undefined && other === undefined;
  // Thousands would also have values below a thousand, which have no point.
  const isDecimal = kind.name === 'a decimal' && areCommasBetween && found.havePoints && !sure.has('comma');
  const meant = isShown ? only : isDecimal ? kind : null;
  const choice = meant === null ? 'kept as text' : `read as ${meant.name}${isShown ? ', as other columns show' : ''}`;
  notes.push(`every value could be ${kind.name} or ${rival.name}: ${choice}`);
  return meant === null ? null : { kind: meant, isRaw };
}

/** From the text of a column to its value; null: a number would lose digits. */
async function valueSql(query: Query, from: string, column: string, { kind, isRaw }: Attempt, notes: string[]) {
  const text = valueOf(column, isRaw);
  if (kind.decimal === undefined) return kind.cast(text);
  const digits = kind.decimal(text);
  const [[whole, fraction] = []] = await query(
    `SELECT max(point - 1), max(strlen(d) - point) FROM
      (SELECT d, coalesce(nullif(strpos(d, '.'), 0), strlen(d) + 1) AS point FROM (SELECT ltrim(${digits}, '-') AS d FROM ${from}))`,
  );
  const scale = Math.max(0, Number(fraction));
  const width = Math.max(1, Number(whole)) + scale;
  if (width > 38) {
    notes.splice(0, notes.length, `has numbers of ${width} digits: kept as text`);
    return null;
  }
  const exact = `TRY_CAST(${digits} AS DECIMAL(${width > 18 ? 38 : 18}, ${scale}))`;
  if (scale <= MOST_SCALE) return exact;
  // Measured figures are computed with, as doubles, if that loses no digit.
  const [[lost] = []] = await query(`SELECT count(${digits}) - count(${number(digits)}) FROM ${from}`);
  return lost === '0' ? number(digits) : exact;
}

function misses({ pattern, cast, decimal, isExact = false }: Kind, text: string): string {
  if (isExact) return `${text} IS NOT NULL AND (CAST(${cast(text)} AS VARCHAR) = ${text}) IS NOT TRUE`;
  const fits = `regexp_matches(${text}, '${pattern.source}'${pattern.ignoreCase ? ", 'i'" : ''})`;
  return `${text} IS NOT NULL AND NOT ${decimal === undefined ? `(${fits} AND ${cast(text)} IS NOT NULL)` : fits}`;
}

function valueOf(column: string, isRaw: boolean): string {
  if (isRaw) return column;
  return `CASE WHEN lower(trim(${column})) IN (${NO_VALUE.map((word) => `'${word}'`).join(', ')}) THEN NULL ELSE trim(${column}) END`;
}

function mixedDates(sample: readonly string[]): string[] {
  const values = sample.map((text) => text.trim());
  const isIn = ({ pattern, convention }: Kind, value: string): boolean => {
    const [first, second] = value.split(/[^0-9]/).map(Number);
    return pattern.test(value) && ((convention === 'day' ? second : convention === 'month' ? first : 1) ?? 0) <= 12;
  };
  const ways = KINDS.filter((kind) => /yyyy/.test(kind.name) && values.some((value) => isIn(kind, value)));
  const areDates = values.every((value) => ways.some((kind) => isIn(kind, value)));
  // Where one way would do, a day is none, as the 31st of April.
  return areDates && ways.length > 1 && !ways.some((kind) => values.every((value) => isIn(kind, value)))
    ? [`dates are written in several ways (${ways.map(({ name }) => name).join(', ')}): kept as text`]
    : [];
}
