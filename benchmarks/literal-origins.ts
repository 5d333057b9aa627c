/**
 * Where the literals of a submitted query come from. An answer that a search has seen may not stand in its SQL: each literal has
 * to come from what was told (question, context, documents), from what a probe or a profile showed, or from the way SQL is
 * written (0 and 1, formats, units, positions, spans counted from the clock). A column, aggregate or row that reads no column of a
 * table gives its literals back as they stand, so these have to be told. A rule too strict costs a look by a person, one too lax a
 * wrong submission: rules are strict.
 */
import type { AnswerRecord, Dialect, SearchInput, SqlResult } from '../src/domain';
import type { ObjectStore } from '../src/domain/ports';
import type { Contents, Kind } from '../src/record/contents';
import { createRunStore } from '../src/record/run-store';
import { tokensOf, type Token } from '../src/sql/lexer';

export interface Origins {
  /** Question, context, instructions, documents. */
  readonly told: string;
  /** Texts that probes and profiles showed, with the names of tables and columns. */
  readonly seen: string;
  /** The clock, where the search knew it; `2100-12-31 23:59:00`. */
  readonly clock: string | null;
}

/** What a stored search was told, and which values it was shown. Rows of candidates are not among them. */
export async function originsOf(
  store: ObjectStore,
  { record, input }: { readonly record: AnswerRecord; readonly input: SearchInput },
): Promise<Origins> {
  const { text, context, instructions, documents, notes = [] } = input.question;
  const { claims = [], evidence, children = [], steering = [] } = record;
  const shown = await Promise.all([record.id, ...children.map(({ id }) => id)].map((id) => shownIn(store, id)));
  return {
    told: textOf([text, context, instructions, [...documents, ...notes].map((one) => one.text), [...steering]]),
    seen: textOf([
      shown,
      claims.flatMap(({ check, matching }) => ((matching ?? 0) > 0 ? [check] : [])),
      evidence.map(({ observed }) => observed?.rows ?? null),
    ]),
    clock: record.clock ?? null,
  };
}

async function shownIn(store: ObjectStore, searchId: string): Promise<readonly unknown[]> {
  const run = createRunStore(store, searchId);
  const all = async <K extends Kind>(kind: K): Promise<Contents[K][]> => [...(await run.all(kind)).values()];
  const observations = await all('observation');
  const rowsOf = (result: SqlResult): unknown => (result.kind === 'rows' ? result.rows : null);
  return [
    observations.flatMap(({ tests, web }) => [
      ...tests.map(({ result, hypotheses }) => [
        rowsOf(result),
        hypotheses.map(({ run: ran }) => ran && rowsOf(ran.result)),
      ]),
      web?.text,
    ]),
    (await all('schema')).map(({ text, description }) => [text, description.tables]),
    await all('profile'),
    await all('known'),
  ];
}

/** The names and values of a JSON value, apart from each other. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(' | ');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, one]) => `${name} ${textOf(one)}`)
      .join('\n');
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
}

interface Literal {
  readonly kind: 'text' | 'number';
  readonly value: string;
  /** It is given back as it stands. */
  readonly isGiven: boolean;
  readonly before: string;
  readonly after: string;
  /** The function whose argument it is; empty: none. */
  readonly call: string;
}

/** The literals that come from nowhere, as they are written; in doubt, too many. */
export function unknownLiterals(sql: string, dialect: Dialect, { told, seen, clock }: Origins): readonly string[] {
  const toldWords = wordsOf(told);
  const days = daysIn(`${told} ${clock ?? ''}`);
  const known = { told: toldWords, seen: wordsOf(seen), days, calendar: calendarOf(toldWords) };
  const unknown = literalsOf(sql, dialect).filter((literal) => !isKnown(literal, known));
  return [...new Set(unknown.map(({ kind, value }) => (kind === 'text' ? `'${value}'` : value)))];
}

/** Functions whose value depends on how many rows there are, whatever their argument is. */
const COUNTERS = new Set(['count', 'sum', 'total', 'row_number', 'rank', 'dense_rank']);
/** Functions that make rows of their argument. */
const ROWS = /^(?:values|unnest|string_to_table|jsonb?_(?:each|tree|array_elements|to_record|populate).*)$/;
const KEYWORDS = new Set(
  'select distinct all as case when then else end and or not null is in like ilike between true false cast interval date time timestamp union intersect except with recursive on using limit offset array escape collate'.split(
    ' ',
  ),
);
const COMPARISON = /^(?:=|<|>|!|<>|<=|>=|!=)$/;
/** Words that end the list after SELECT. */
const CLAUSES = new Set('from where group having order window qualify limit offset fetch'.split(' '));

/** Parentheses, or the whole: a list of items after SELECT, or rows that are written out. */
interface Frame {
  isList: boolean;
  item: { readsColumn: boolean } | null;
  isRows: boolean;
  /** The function in whose parentheses it is. */
  readonly call: string;
}

function literalsOf(sql: string, dialect: Dialect): readonly Literal[] {
  const tokens = wholeNumbers(tokensOf(sql, dialect));
  const word = (at: number): string => tokens[at]?.text.toLowerCase() ?? '';
  const isLiteral = (at: number): boolean => ['string', 'number'].includes(tokens[at]?.kind ?? '');
  const aliases = new Set(tokens.flatMap(({ text }, at) => (word(at - 1) === 'as' ? [text] : [])));
  const frames: Frame[] = [{ isList: false, item: null, isRows: false, call: '' }];
  const found: {
    readonly literal: Omit<Literal, 'isGiven'>;
    readonly isFixed: boolean;
    readonly item: Frame['item'];
  }[] = [];
  for (const [at, token] of tokens.entries()) {
    const frame = frames.at(-1) as Frame;
    const text = word(at);
    const item = frames.findLast((one) => one.item !== null)?.item ?? null;
    if (text === '(') {
      const isRows = frame.isRows || ROWS.test(word(at - 1));
      const call = tokens[at - 1]?.kind === 'word' ? word(at - 1) : '';
      frames.push({ isList: false, item: null, isRows, call });
    } else if (text === ')') {
      if (frames.length > 1) frames.pop();
    } else if (token.kind === 'word' && text === 'select')
      Object.assign(frame, { isList: true, item: { readsColumn: false } });
    else if (token.kind === 'word' && text === 'values') frame.isRows = true;
    else if (token.kind === 'word' && frame.isList && endsList(at)) Object.assign(frame, { isList: false, item: null });
    else if (text === ',' && frame.isList) frame.item = { readsColumn: false };
    else if (isLiteral(at) || (dialect === 'sqlite' && token.kind === 'quoted' && !aliases.has(token.text))) {
      const value = token.kind === 'string' ? textIn(token.raw) : token.text;
      const kind = token.kind === 'number' ? 'number' : 'text';
      // A comparison of two literals decides nothing about rows.
      const isAlone = [1, -1].some((by) => COMPARISON.test(word(at + by)) && isLiteral(at + 2 * by));
      const isFixed = frame.isRows || isAlone;
      const { call } = frame;
      found.push({ literal: { kind, value, before: word(at - 1), after: word(at + 1), call }, isFixed, item });
      if (token.kind === 'quoted' && item !== null && !isLiteral(at - 1)) item.readsColumn = true;
    } else if (['true', 'false'].includes(text) && item !== null)
      found.push({ literal: { kind: 'text', value: text, before: '', after: '', call: '' }, isFixed: false, item });
    else if (item !== null && readsColumn(at)) item.readsColumn = true;
  }
  return found.map(({ literal, isFixed, item }) => ({
    ...literal,
    isGiven: isFixed || (item !== null && !item.readsColumn),
  }));

  /** Not `IS DISTINCT FROM` and `WITHIN GROUP (`. */
  function endsList(at: number): boolean {
    return CLAUSES.has(word(at)) && word(at - 1) !== '.' && word(at - 1) !== 'distinct' && word(at + 1) !== '(';
  }

  function readsColumn(at: number): boolean {
    const { kind } = tokens[at] as Token;
    const [before, after] = [word(at - 1), word(at + 1)];
    if (word(at) === '*') return ['select', ',', '(', '.', 'distinct'].includes(before) || COUNTERS.has(word(at - 2));
    if (kind !== 'word' && kind !== 'quoted') return false;
    if (COUNTERS.has(word(at))) return true;
    const isAlias = before === 'as' || before === ')' || isLiteral(at - 1);
    return !isAlias && !KEYWORDS.has(word(at)) && after !== '(' && !isLiteral(at + 1) && before !== ':';
  }
}

/** `100.0` is three tokens in some dialects. */
function wholeNumbers(tokens: readonly Token[]): readonly Token[] {
  return tokens.reduce<Token[]>((all, token) => {
    const last = all.at(-1);
    const isPart = token.kind === 'number' || (token.raw === '.' && last?.kind === 'number');
    if (last === undefined || !isPart || last.at + last.raw.length !== token.at) return [...all, token];
    if (last.kind !== 'number' && last.raw !== '.') return [...all, token];
    const raw = last.raw + token.raw;
    return [...all.slice(0, -1), { ...last, kind: 'number', raw, text: raw }];
  }, []);
}

function textIn(raw: string): string {
  const hex = /^[xX]'([\da-fA-F]*)'$/.exec(raw)?.[1];
  return hex === undefined ? raw.replace(/^[^']*'|'$/g, '').replaceAll("''", "'") : Buffer.from(hex, 'hex').toString();
}

interface Words {
  /** Words, each between spaces. */
  readonly text: string;
  readonly words: ReadonlySet<string>;
  readonly numbers: ReadonlySet<number>;
}

interface Known {
  readonly told: Words;
  readonly seen: Words;
  /** Dates that were told, and the clock. */
  readonly days: readonly (readonly [number, number, number])[];
  /** Numbers of months, weekdays and quarters that are told by name. */
  readonly calendar: ReadonlySet<number>;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
/** Factors between units: how many of one make the next, percent, powers of ten. */
const UNITS = new Set([
  ...[2, 4, 7, 10, 12, 24, 28, 29, 30, 31, 52, 60, 90, 100, 180, 360, 365, 365.2425, 365.25, 366, 0.5, 0.01, 0.001],
  ...[1_000, 1_024, 1_440, 3_600, 10_000, 86_400, 100_000, 3_600_000, 86_400_000, 1_000_000, 1e9],
]);
/** A number that was told may be counted in another unit: a share in percent, seconds in milliseconds. */
const SCALES = [1, 100, 0.01, 7, 12, 24, 60, 1_000, 3_600, 86_400, 0.001, 1e6, 1e9];
/** Names that a case may have without a source. */
const GENERIC = new Set(
  'yes no true false y n other others none unknown total all not n a missing high low'.split(' '),
);
/** Formats of dates and numbers, their units, and spans: `%Y-%m`, `YYYY-MM`, `start of month`, `-1 month`. */
const WRITTEN = [
  /^(?:[^%\p{L}\p{N}]|%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z%])+$/u,
  /^(?:fm|yyyy|yy|month|mon|mm|day|dd|hh24|hh12|hh|mi|ss|[^\p{L}\p{N}])+$/iu,
  /^(?:fm)?[09]*9[09.,]*$/i,
  /^(?:(?:start of )?(?:micro|milli)?(?:second|minute|hour|day|week|month|quarter|year|decade|epoch|dow|doy)s?|weekday [0-6]|now|utc|localtime)$/i,
  /^(?:\s*[+-]\s*)?(?:1|12|7)?\s*(?:second|minute|hour|day|week|month|year)s?$/i,
];
const AROUND_FACTOR = /^[-+*/%]$/;
/** Functions that take a format, a unit or a span. */
const FORMATTERS = new Set(
  'date time datetime julianday unixepoch strftime date_trunc date_part datediff dateadd timestampdiff timestampadd format printf to_char to_date to_timestamp to_number trunc'.split(
    ' ',
  ),
);
const BEFORE_FORMAT = new Set(['interval', 'zone', ':', '::']);
/** Functions that take a position, a length or a number of places. */
const COUNTING = new Set(
  'substr substring left right round trunc lpad rpad split_part nth_value ntile lag lead power mod percentile_cont percentile_disc repeat width_bucket generate_series'.split(
    ' ',
  ),
);
const SHARES = new Set([0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]);

/** Rows to give, the place of a column to order by, the bounds of a window, a position. */
function isCount({ kind, before, after, call }: Literal, size: number): boolean {
  if (kind !== 'number' || COMPARISON.test(after)) return false;
  if (COUNTING.has(call) && SHARES.has(size)) return true;
  const isPlace = ['limit', 'offset', 'by'].includes(before) || ['preceding', 'following'].includes(after);
  return Number.isInteger(size) && size <= 12 && (isPlace || (before === ',' && COUNTING.has(call)));
}

function isKnown(literal: Literal, known: Known): boolean {
  const { kind, value: given, isGiven, before, after, call } = literal;
  const { told, seen } = known;
  const value = given.trim();
  const isEmpty = kind === 'text' && !/[\p{L}\p{N}]/u.test(value);
  const takesFormat = FORMATTERS.has(call) || BEFORE_FORMAT.has(before) || BEFORE_FORMAT.has(after);
  const isFormat = isEmpty || (kind === 'text' && takesFormat && WRITTEN.some((form) => form.test(value)));
  if (isFormat && !NUMBER.test(value)) return true;
  if (kind === 'number' || NUMBER.test(value)) {
    const size = Math.abs(Number(value));
    if (told.numbers.has(size)) return true;
    if (isGiven) return false;
    if (size === 0 || size === 1 || seen.numbers.has(size) || known.calendar.has(size)) return true;
    if (isFormat && size >= 99) return true;
    if (SCALES.some((by) => told.numbers.has(rounded(size / by)))) return true;
    const isFactor = AROUND_FACTOR.test(before) || AROUND_FACTOR.test(after);
    return (isFactor && UNITS.has(size)) || isCount(literal, size);
  }
  const parts = plainWords(value);
  if (told.text.includes(` ${parts.join(' ')} `) || parts.every((word) => isTold(word, told))) return true;
  if (isGiven) return false;
  if (['then', 'else', ','].includes(before) && parts.every((word) => GENERIC.has(word))) return true;
  // A path of JSON, whose keys were seen.
  if (/^[${]/.test(value) && parts.every((word) => seen.words.has(word))) return true;
  return isCounted(value, known) || seen.text.includes(` ${parts.join(' ')} `);
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');

function calendarOf({ words }: Words): ReadonlySet<number> {
  const has = (...names: string[]): boolean => names.some((name) => words.has(name) || words.has(`${name}s`));
  return new Set([
    ...MONTHS.flatMap((name, at) => (has(name, name.slice(0, 3)) ? [at + 1] : [])),
    ...WEEKDAYS.flatMap((name, at) => (has(name) ? [at, at === 0 ? 7 : at] : [])),
    ...(has('weekend', 'weekday') ? [0, 1, 5, 6, 7] : []),
    ...(has('quarter', 'half', 'semester') ? [1, 2, 3, 4, 6, 7, 9, 10, 12] : []),
  ]);
}

/** A date whose year was told, or lies beside one that was, and which begins or ends a month, or has a day that was told. */
function isCounted(value: string, { told, days }: Known): boolean {
  const [, year, month, day] =
    /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:[T ](?:00:00|23:59)(?::(?:00|59))?)?$/.exec(value) ?? [];
  if (year === undefined) return false;
  const years = [...days.map(([one]) => one), ...told.numbers];
  if (!years.some((one) => Math.abs(one - Number(year)) <= 1)) return false;
  const isMonth = (one: number): boolean =>
    days.some(([, known]) => Math.abs(known - one) <= 1) ||
    told.numbers.has(one) ||
    [one - 1, one - 2].some(
      (at) => told.words.has(MONTHS[at] ?? '-') || told.words.has(MONTHS[at]?.slice(0, 3) ?? '-'),
    );
  if (month !== undefined && !['01', '12'].includes(month) && !isMonth(Number(month))) return false;
  const last = new Date(Date.UTC(Number(year), Number(month ?? 1), 0)).getUTCDate();
  const isDay = day === undefined || [1, last, ...days.map(([, , one]) => one)].includes(Number(day));
  return isDay || told.numbers.has(Number(day));
}

function daysIn(text: string): readonly (readonly [number, number, number])[] {
  return [...text.matchAll(/\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})/g)].map(
    ([, y, m, d]) => [Number(y), Number(m), Number(d)] as const,
  );
}

const NUMBER_WORDS = new Map(
  [
    'zero one two three four five six seven eight nine ten eleven twelve',
    'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth',
    'never once twice',
  ].flatMap((names) => names.split(' ').map((name, at) => [name, at] as const)),
);

function wordsOf(text: string): Words {
  const words = plainWords(text);
  const numbers = new Set(words.flatMap((word) => NUMBER_WORDS.get(word) ?? []));
  const scales: Readonly<Record<string, number>> = { k: 1e3, thousand: 1e3, m: 1e6, million: 1e6, billion: 1e9 };
  for (const [digits, unit = ''] of [
    ...text.matchAll(/(\d[\d,]*(?:\.\d+)?|\.\d+)\s?(k|thousand|m|million|billion)?\b/gi),
  ].map(([, one = '', two]) => [one, two] as const)) {
    const number = Number(digits.replaceAll(',', ''));
    numbers.add(number).add(rounded(number * (scales[unit.toLowerCase()] ?? 1)));
  }
  for (const [digits] of text.matchAll(/\d+(?:\.\d+)?/g)) numbers.add(Number(digits));
  return { text: ` ${words.join(' ')} `, words: new Set(words), numbers };
}

/** Words in lower case, without accents; what stands between words is left out. */
function plainWords(text: string): string[] {
  const plain = text.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Another form of the word counts too: `patients` for `patient`. */
function isTold(word: string, { words }: Words): boolean {
  if (words.has(word)) return true;
  if (word.length < 4) return false;
  return [...words].some((other) => other.length >= 4 && (other.startsWith(word) || word.startsWith(other)));
}

const rounded = (number: number): number => Number(number.toPrecision(12));
