/**
 * Which literals of an answer's SQL are covered by nothing that is shown. Each value of a use needs one of these: the question's
 * own words, a claim whose counts vary it, something said to be assumed, or a stored row or a document that defines it.
 */
import { cut } from '../clip';
import type { Defined, Dialect } from '../domain';
import type { LiteralUse } from './literal-uses';
import { isoNames } from '../iso-names';
import { childrenOf, isQuery, readQuery, selectOf, textOf, type Node } from './tree';

export interface Sayings {
  /** The question with what its asker says beside it. */
  readonly asked: string;
  readonly claims: readonly SaidClaim[];
  /** What is assumed, and how words are read; with the SQL that would stand there under another reading. */
  readonly assumed: readonly string[];
  /** What the schema says of keys that are written in two ways. */
  readonly padded: readonly string[];
  /** Stored rows that are told with the answer. */
  readonly defined: readonly Pick<Defined, 'sql' | 'row'>[];
  /** SQL that counts how much the answer covers: it counts, too, which keys meet. */
  readonly coverage: readonly string[];
}

export interface SaidClaim {
  readonly statement: string;
  /** As its author wrote it, before operators were put in. */
  readonly check: string;
  /** Pieces of SQL that its rivals replace. */
  readonly replaced: readonly string[];
  /** Operators on which its check rests. */
  readonly reads: ReadonlySet<string>;
}

export interface OperatorUse extends LiteralUse {
  readonly operator: string;
}

/** Those of the uses that something leaves uncovered, with the values that are. */
export function uncovered(uses: readonly OperatorUse[], said: Sayings, dialect: Dialect): readonly OperatorUse[] {
  const asked = wordsOf(said.asked);
  const checks = said.claims.map((claim) => ({ ...claim, scopes: scopesOf(claim.check, dialect) }));
  // What a value is made with shows in what the check compares; a filter has to be varied.
  const isCompared = ({ operator, filters }: OperatorUse): boolean =>
    !filters && said.claims.some(({ reads }) => reads.has(operator));
  // A rival of a literal by which the control side is filtered, too, could never fit: it decides nothing.
  const isReplaced = ({ replaced, check }: SaidClaim, value: string, columns: readonly string[]): boolean =>
    replaced.some((piece) => holdsLiteral(piece, value, columns)) && !holdsLiteral(check, value, columns);
  const isCovered = (value: string, { columns, text, codes }: OperatorUse): boolean => {
    return (
      isAsked(
        value,
        said.asked,
        asked,
        codes.some((code) => code.value === value),
      ) ||
      said.defined.some(({ sql, row }) => sql === text && row.startsWith(`${value} | `)) ||
      said.assumed.some((text) => isNamed(text, value, columns)) ||
      checks.some(
        (claim) =>
          isNamed(claim.statement, value, columns) ||
          isReplaced(claim, value, columns) ||
          isVaried(claim.scopes, value, columns),
      ) ||
      said.coverage.some((sql) => holdsLiteral(sql, value, columns)) ||
      (/^[0 ]$/.test(value) && said.padded.some((line) => isColumnNamed(line, columns)))
    );
  };
  return uses
    .filter((use) => !isCompared(use))
    .map((use) => ({ ...use, values: use.values.filter((value) => !isCovered(value, use)) }))
    .filter(({ values }) => values.length > 0);
}

export interface Seen {
  /** Rows that the conversation has seen, cell by cell: of code tables and of looks. */
  readonly rows: readonly (readonly string[])[];
  /** Lines of documents, and what is said of columns. */
  readonly notes: readonly string[];
}

/** The value with the words of a row that says of it what the question names, or with the line of a document that says it. */
export function sayingOf(
  value: string,
  { columns }: Pick<OperatorUse, 'columns'>,
  { rows, notes }: Seen,
  question: string,
): string | null {
  const asked = wordsOf(question);
  const isNear = (cell: string): boolean =>
    wordsOf(cell).some((word) => /^\p{L}{4}/u.test(word) && asked.some((each) => isSameWord(each, word)));
  const row = rows.find((cells) => cells.some((cell) => cell.trim() === value) && cells.some(isNear));
  const words = row?.filter(isNear).slice(0, MOST_CELLS);
  const note = notes.find((each) => isNamed(each, value, columns) && mentions(each, value));
  const said = words ?? (note === undefined ? [] : [note]);
  return said.length === 0 ? null : [value, ...said.map((each) => cut(each.trim(), SAYING_CHARS))].join(' | ');
}

const MOST_CELLS = 2;
const SAYING_CHARS = 100;

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Whether a text names a code. */
export const isNamedIn = (text: string, value: string): boolean => isAsked(value, text, wordsOf(text), true);

/** Whether the question names the value: its words, its number, or the year of a date. */
function isAsked(value: string, text: string, asked: readonly string[], isCode: boolean): boolean {
  const years = yearsOf(value);
  if (years !== null) return years.some((year) => text.includes(year));
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number)) return isNumberAsked(number, asked, text, isCode);
  const isNamed = (words: readonly string[]): boolean =>
    words.join('').length >= 2 &&
    words.every((word) => asked.some((each) => (word.length < 3 ? each === word : each.startsWith(word))));
  // `NO` is Norway, and `JPY` is the Japanese yen, of which a question names the last word.
  const names = isoNames([value]).flat().map(wordsOf);
  return [wordsOf(value.replace(/[%_*?]/g, ' ')), ...names, ...names.map((words) => words.slice(-1))].some(isNamed);
}

/** Of a date, and of the day before: a bound may be the first day that is left out. */
function yearsOf(value: string): readonly string[] | null {
  const found = /^(\d{4})-?(\d{2})(?:-?(\d{2}))?(?:[ T].*)?$/.exec(value);
  if (found === null || Number(found[2]) > 12 || Number(found[1]) < 1000) return null;
  const [, year = '', month, day = '01'] = found;
  return month === '01' && day === '01' ? [year, String(Number(year) - 1)] : [year];
}

const NUMBER_WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven'];
const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth'];
/** As databases number them: Sunday is 0 or 7. */
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const MONTHS = [
  ...['', 'january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october'],
  ...['november', 'december'],
];
const UNITS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/\b(?:percent|percentage|share|rate)\b|%/i, [100]],
  [/\bthousands?\b/i, [1000, 0.001]],
  [/\bmillions?\b/i, [1e6, 1e-6]],
  [/\bminutes?\b/i, [60, 1440, 24]],
  [/\bhours?\b/i, [60, 3600, 24]],
  [/\bdays?\b/i, [24, 1440, 86_400]],
  // The first and last months of each.
  [/\bquarter/i, [3, 4, 6, 7, 9, 10, 12]],
  [/\bhal(?:f|ves)\b/i, [6, 7, 12]],
];

function isNumberAsked(number: number, asked: readonly string[], text: string, isCode: boolean): boolean {
  const named = [
    String(number),
    NUMBER_WORDS[number],
    ORDINALS[number],
    WEEKDAYS[number],
    MONTHS[number],
    `q${number}`,
  ];
  if (asked.some((word) => word !== '' && named.includes(word))) return true;
  if (
    (text.match(/(?<![\p{L}\p{N}])-?\d+(?:[.,]\d+)*(?![\p{L}\p{N}])/gu) ?? []).some(
      (each) => Number(each.replaceAll(',', '')) === number,
    )
  )
    return true;
  // That an amount is asked for in thousands says nothing of company 1000.
  return !isCode && UNITS.some(([unit, factors]) => unit.test(text) && factors.includes(number));
}

/** Whether a text speaks of the column, or of the value in a form that cannot be another word. */
function isNamed(text: string, value: string, columns: readonly string[]): boolean {
  if (isColumnNamed(text, columns)) return true;
  return value.length > 2 ? mentions(text, value) : isCode(value) && isWritten(text, value);
}

function isColumnNamed(text: string, columns: readonly string[]): boolean {
  const words = wordsWithUnderscores(text);
  return columns.some((column) => column.length > 1 && words.has(column));
}

/** A short value that can be told from a word: `S`, `12`, `->`; not `a`. */
function isCode(value: string): boolean {
  return value.trim() !== '' && value === value.toUpperCase() && !['A', 'I'].includes(value);
}

function mentions(text: string, value: string): boolean {
  return isWritten(text.toLowerCase(), value.trim().toLowerCase());
}

/** As a word of its own, in this case. */
function isWritten(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0 && value !== ''; at = text.indexOf(value, at + 1)) {
    const [before = '', after = ''] = [text[at - 1], text[at + value.length]];
    const isInside = (one: string, other: string) => WORD.test(one) && WORD.test(other);
    if (!isInside(before, value[0] ?? '') && !isInside(after, value.at(-1) ?? '')) return true;
  }
  return false;
}

const WORD = /[\p{L}\p{N}]/u;

function wordsWithUnderscores(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+/gu));
}

/** Whether a piece of SQL has the literal; short ones only beside the column. */
function holdsLiteral(piece: string, value: string, columns: readonly string[]): boolean {
  const quoted = `'${value.replaceAll("'", "''")}'`;
  if (!piece.includes(quoted) && !mentions(piece, value)) return false;
  // Replaced alone, it is varied wherever it stands.
  if (piece.trim() === quoted) return true;
  const words = wordsWithUnderscores(piece);
  return value.length > 2 || columns.some((column) => words.has(column));
}

interface Scope {
  /** The tables and operators in its FROM. */
  readonly relations: ReadonlySet<string>;
  /** What it counts, and what its rows have to fulfil. */
  readonly counts: string;
  readonly whole: string;
}

function scopesOf(check: string, dialect: Dialect): readonly Scope[] {
  const query = readQuery(check, dialect);
  return query === null ? [] : selectsIn(query).map(scopeOf);
}

function selectsIn(node: Node): Node[] {
  const inner = childrenOf(node).flatMap(selectsIn);
  return node.type === 'select_stmt' ? [node, ...inner] : inner;
}

function scopeOf(node: Node): Scope {
  const select = selectOf(node);
  return {
    relations: new Set(select?.from === null || select === null ? [] : relationsIn(select.from)),
    counts: (select?.columns ?? []).map(({ value }) => textOf(value)).join('\n'),
    whole: textOf(node),
  };
}

function relationsIn(node: Node): string[] {
  if (isQuery(node)) return [];
  if (node.type === 'identifier') return [node.name.toLowerCase()];
  if (node.type === 'alias') return relationsIn(node.expr);
  if (node.type === 'join_expr') return [node.left, node.right].flatMap(relationsIn);
  if (node.type === 'member_expr') return relationsIn(node.property);
  return childrenOf(node).flatMap(relationsIn);
}

/** Whether a check counts with and without it: in a count, or in one query of the table and not in another. */
function isVaried(scopes: readonly Scope[], value: string, columns: readonly string[]): boolean {
  const having = scopes.filter(({ whole }) => holdsLiteral(whole, value, columns));
  if (having.some(({ counts }) => holdsLiteral(counts, value, columns))) return true;
  const read = new Set(having.flatMap(({ relations }) => [...relations]));
  return scopes.some((scope) => !having.includes(scope) && [...scope.relations].some((name) => read.has(name)));
}

/** `orders` and `order`. */
function isSameWord(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length > 3 && long.startsWith(short) && long.length - short.length < 3;
}
