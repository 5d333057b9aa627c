/**
 * Access lists: which tables and columns may be read and shown (design §7). A pattern is `table`, `schema.table`,
 * `table.column` or `schema.table.column`; `*` stands for any characters in one part; case does not matter. Two parts are
 * read both ways: `*.ssn` names the column ssn of every table and the table ssn of every schema.
 *
 * 1. Deny wins over allow; an empty allow list allows everything.
 * 2. A pattern for a table allows all of its columns. A pattern for a column allows that column only, and so that its
 *    table is read.
 */
import type { Dialect, TableDescription } from '../domain';
import { nameParts as partsOf } from './dialects';
import { opening, partsOfPaths, tokensOf, type Token } from './lexer';

export interface AccessLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export interface AccessRules {
  /** Neither list has an entry. */
  readonly open: boolean;
  /** Those that a name without one may stand for. */
  readonly schemas: readonly string[];
  mayReadTable(table: string): boolean;
  mayReadColumn(table: string, column: string): boolean;
  /** By a pattern for some of its columns: also one that is not described yet. */
  deniesByName(table: string, column: string): boolean;
  /** The lists name some of its columns: `denied` ones, or all that are `allowed`. */
  namesColumnsOf(table: string): 'denied' | 'allowed' | null;
  /** Those of the patterns that match none of these tables and none of their columns. */
  unmatched(tables: readonly Pick<TableDescription, 'name' | 'columns'>[]): readonly string[];
}

/** Where the engine has no search path. */
export const DEFAULT_SCHEMAS: readonly string[] = ['public', 'main'];

export function accessRules(
  { allow, deny }: AccessLists,
  searchPath: readonly string[],
  dialect: Dialect,
): AccessRules {
  const schemas = searchPath.length > 0 ? searchPath : DEFAULT_SCHEMAS;
  const splitName = (name: string): TableName => nameParts(name, schemas, dialect);
  const allowed = allow.map((text) => ({ text, ...toPattern(text, toExpression) }));
  const denied = deny.map((text) => ({ text, ...toPattern(text, touching) }));
  const mayReadTable = (table: string): boolean => {
    const name = splitName(table);
    if (denied.some((pattern) => pattern.isTable(name))) return false;
    return allowed.length === 0 || allowed.some((pattern) => pattern.isTable(name) || pattern.reachesInto(name));
  };
  return {
    open: allow.length === 0 && deny.length === 0,
    schemas,
    mayReadTable,
    deniesByName(table, column) {
      const name = splitName(table);
      return denied.some((pattern) => pattern.isColumn(name, column) && !pattern.isColumn(name, ''));
    },
    namesColumnsOf(table) {
      const name = splitName(table);
      if (allowed.length > 0 && !allowed.some((pattern) => pattern.isTable(name))) return 'allowed';
      return denied.some((pattern) => pattern.reachesInto(name)) ? 'denied' : null;
    },
    mayReadColumn(table, column) {
      const name = splitName(table);
      if (!mayReadTable(table) || denied.some((pattern) => pattern.isColumn(name, column))) return false;
      return allowed.length === 0 || allowed.some((pattern) => pattern.isTable(name) || pattern.isColumn(name, column));
    },
    unmatched(tables) {
      const all = tables.map(({ name, columns }) => ({ name: splitName(name), columns }));
      const isMatched = ({ isTable, isColumn }: Pattern): boolean =>
        all.some(({ name, columns }) => isTable(name) || columns.some((column) => isColumn(name, column.name)));
      return [...allowed, ...denied].filter((pattern) => !isMatched(pattern)).map(({ text }) => text);
    },
  };
}

interface TableName {
  /** With the project, where the dialect has projects, and without. */
  readonly schemas: readonly string[];
  readonly table: string;
}

interface Test {
  test(text: string): boolean;
}

interface Pattern {
  readonly isTable: (name: TableName) => boolean;
  readonly isColumn: (name: TableName, column: string) => boolean;
  /** Some column of the table may match. */
  readonly reachesInto: (name: TableName) => boolean;
}

/** In BigQuery a schema may be `project.dataset`: then three parts are read both ways, and four are those of a column. */
function toPattern(text: string, toTest: (part: string) => Test): Pattern {
  const pieces = text.trim().split('.');
  const parts = pieces.map(toTest);
  const [first, second, third, fourth] = parts;
  const project = toTest(pieces.slice(0, 2).join('.'));
  const inSchema = (schema: Test | undefined, name: TableName): boolean =>
    name.schemas.some((one) => schema?.test(one) === true);
  const never = (): boolean => false;
  if (parts.length === 1)
    return { isTable: ({ table }) => first?.test(table) === true, isColumn: never, reachesInto: never };
  if (parts.length === 2) {
    return {
      isTable: (name) => inSchema(first, name) && second?.test(name.table) === true,
      isColumn: ({ table }, column) => first?.test(table) === true && second?.test(column) === true,
      reachesInto: ({ table }) => first?.test(table) === true,
    };
  }
  const isIn = (name: TableName): boolean => inSchema(first, name) && second?.test(name.table) === true;
  const isInProject = (name: TableName): boolean => inSchema(project, name) && third?.test(name.table) === true;
  if (parts.length === 4)
    return {
      isTable: never,
      isColumn: (name, column) => isInProject(name) && fourth?.test(column) === true,
      reachesInto: isInProject,
    };
  return {
    isTable: isInProject,
    isColumn: (name, column) => isIn(name) && third?.test(column) === true,
    reachesInto: isIn,
  };
}

function toExpression(part: string): RegExp {
  const escaped = part.split('*').map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 'is');
}

/**
 * For what is denied: also a wildcard (BigQuery) that reads tables of such names: one that begins like the pattern, or a shard, whose
 * eight digits may be any. Other tables that a wildcard reads are described, and judged by their own names.
 */
function touching(part: string): Test {
  const whole = toExpression(part);
  const [start = ''] = part.toLowerCase().split('*', 1);
  const shard = new RegExp(whole.source.replace(/\d/g, '[$&#]'), whole.flags);
  const isRead = (beginning: string): boolean =>
    start.startsWith(beginning.toLowerCase()) || shard.test(`${beginning}########`);
  return { test: (text) => whole.test(text) || (text.endsWith('*') && isRead(text.slice(0, -1))) };
}

function nameParts(name: string, schemas: readonly string[], dialect: Dialect): TableName {
  const [project, dataset, ...table] = dialect === 'bigquery' ? partsOf(name, dialect) : [];
  if (project !== undefined && dataset !== undefined && table.length > 0)
    return { schemas: [dataset, `${project}.${dataset}`], table: table.join('.') };
  const dot = name.indexOf('.');
  return dot < 0 ? { schemas, table: name } : { schemas: [name.slice(0, dot)], table: name.slice(dot + 1) };
}

/**
 * Whether a statement might read hidden columns of the tables it names. In doubt it refuses. It splits the text into
 * tokens and also refuses every way to read a column without its name: `*`, a whole row (`SELECT t FROM t`), a list of new
 * column names (`t AS x(a, b)`), `TABLE t`, PIVOT and escaped identifiers. `SELECT *` is allowed where FROM holds only
 * subqueries and CTEs: they are checked themselves, and every compiled plan contains such steps.
 */

/** Words that end a list of expressions: before one of them `*` is no multiplication. */
const AFTER_STAR = new Set(
  'from where group having order limit offset fetch union except intersect window into as'.split(' '),
);

/** Words that can follow a table and its alias. */
const AFTER_NAME = new Set(
  'where join inner left right full cross on using group having order limit offset fetch union except intersect'.split(
    ' ',
  ),
);

export interface HiddenIn {
  /** The table's name without its schema. */
  readonly table: string;
  readonly columns: readonly string[];
  /** With those that may be read. */
  readonly all: readonly string[];
}

/** In every table of PostgreSQL. */
const SYSTEM_COLUMNS = new Set(['ctid', 'tableoid', 'xmin', 'xmax', 'cmin', 'cmax']);

/** A token as it is read here. `text` is in lower case; a name in quotes is no keyword and no symbol, whatever it is. */
interface Read extends Token {
  /** In lower case; empty: it is none. */
  readonly name: string;
  /** Only a relation can follow: FROM, JOIN, a comma in FROM, or ONLY or a bracket after one of them. */
  readonly beforeTable: boolean;
  /** Where the innermost query in brackets begins that it stands in. */
  readonly query: number;
}

/** One walk along brackets and FROM clauses, which `trim(FROM t)`, `extract(day FROM t)` and `a IS DISTINCT FROM t` are none of. */
function read(written: readonly Token[]): Read[] {
  const tokens = written.map((token) => ({ ...token, text: token.kind === 'quoted' ? '"' : token.text.toLowerCase() }));
  const outside = { query: 0, hasSelect: false, inFrom: false };
  const levels: (typeof outside)[] = [];
  let beforeTable = false;
  return tokens.map((token, at) => {
    const { text } = token;
    const level = levels.at(-1) ?? outside;
    const goesOn = beforeTable && (text === '(' || text === 'only');
    const isFrom = text === 'from' && level.hasSelect && !isDistinctFrom(tokens, at);
    if (['(', '[', '{'].includes(text))
      levels.push({
        query: text === '(' && beginsQuery(tokens, at + 1) ? at : level.query,
        hasSelect: false,
        inFrom: goesOn,
      });
    else if ([')', ']', '}'].includes(text)) levels.pop();
    level.hasSelect ||= text === 'select' && tokens[at - 1]?.text !== '.';
    level.inFrom = isFrom || (level.inFrom && !NOT_IN_FROM.has(text));
    beforeTable = isFrom || goesOn || /^(straight_)?join$/.test(text) || (text === ',' && level.inFrom);
    const name = isName(token) ? (written[at]?.text.toLowerCase() ?? '') : '';
    return { ...token, name, beforeTable, query: level.query };
  });
}

/** Whether IS DISTINCT stands before, and no column of such a name (`SELECT 1 AS distinct FROM`, `SELECT t.is distinct FROM`). */
const isDistinctFrom = (tokens: readonly Token[], from: number): boolean =>
  /[^.] is (not )?distinct$/.test(
    tokens
      .slice(Math.max(0, from - 4), from)
      .map(({ text }) => text)
      .join(' '),
  );

/** Why the statement is refused, as one sentence; null if it may run. */
export function findHidden(sql: string, tables: readonly HiddenIn[], dialect: Dialect): string | null {
  // Snowflake folds names to upper case, and so some letters (ı, ſ) to ASCII ones.
  const written = tokensOf(sql, dialect);
  const split = dialect === 'bigquery' ? partsOfPaths(written, true) : written;
  const tokens = read(split);
  const hidden = new Map(
    tables.flatMap(({ table, columns }) =>
      columns.map((column) => [column.toLowerCase(), `${table}.${column}`] as const),
    ),
  );
  const names = new Set(tables.map(({ table }) => table.toLowerCase()));
  const shown = tables.map(({ table }) => table).join(', ');
  const aliases = aliasesOf(tokens, names);
  /** PostgreSQL reads `p.f` as `f(p)` where `p` has no column `f`. In doubt about `p`, each that it may be has to have it. */
  const isColumn = (row: string, member: string): boolean =>
    SYSTEM_COLUMNS.has(member) ||
    [...(names.has(row) ? [[row]] : []), ...(aliases.get(row) ?? [])].every((joined) =>
      joined.some((name) =>
        tables.every(({ table, all }) => table.toLowerCase() !== name || lower(all).includes(member)),
      ),
    );
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    if (/^u&"/i.test(token.raw))
      return 'escaped identifiers (U&"…") cannot be checked against the access list: write names as they are';
    // PostgreSQL cuts them there, so that a longer one stands for a hidden column or an alias.
    if (dialect === 'postgresql' && Buffer.byteLength(token.name) > 63)
      return `the name ${token.name} is longer than 63 bytes, and PostgreSQL would cut it: shorten it`;
    // Backslashes escape in the second part too.
    if (token.kind === 'string' && /^e/i.test(token.raw) && next?.raw.startsWith("'") === true)
      return "a text of two parts (E'…' '…') cannot be checked against the access list: write it as one";
    if (/^\$\d/.test(token.raw))
      return `columns by their place (${token.raw}) may be hidden ones of ${shown}: name the columns`;
    const column = isName(token) ? hidden.get(token.name) : undefined;
    if (column !== undefined) return `the column ${column} may not be read here: leave it out`;
    if (
      token.text === '*' &&
      isStar(tokens, index) &&
      !isOfDerived(tokens, index, names) &&
      !isOfOther(tokens, index, (name) => names.has(name) || aliases.has(name))
    )
      return `* would read hidden columns of ${shown}: name the columns`;
    if (dialect === 'duckdb' && isWord(token, 'columns') && next?.text === '(')
      return `COLUMNS(…) may read hidden columns of ${shown}: name the columns`;
    if (isWord(token, 'natural') && NATURAL_JOIN.has(next?.text ?? ''))
      return `NATURAL JOIN may compare hidden columns of ${shown}: join ON the columns meant`;
    if (
      /^(un)?pivot$/.test(token.text) &&
      ['(', 'include', 'exclude'].includes(next?.text ?? '') &&
      namesAny(tokens.slice(0, index), token, names)
    )
      return `${token.raw.toUpperCase()} would read hidden columns of ${shown}: turn a subquery of the columns meant`;
    if (isWord(token, 'table') && names.has(tokens[endOfName(tokens, index + 1)]?.name ?? '')) {
      return `TABLE would read hidden columns of ${shown}: name the columns`;
    }
    if (token.kind === 'string' && tokens[index - 1]?.text === 'as' && names.has(tokens[index - 2]?.name ?? ''))
      return `an alias in quotes (${token.raw}) for ${shown} cannot be checked against the access list: write it without`;
    if (!isName(token)) continue;
    if (names.has(token.name) && next?.text !== '.' && isPathOfRow(tokens, index, dialect))
      return `${token.name} without a column would read hidden columns of ${shown}: write ${token.name}.column`;
    const afterTable = isAfterTable(tokens, index - 1, names);
    if (
      next?.text === '(' &&
      afterTable &&
      (names.has(token.name) || aliases.has(token.name) || renames(tokens, index))
    )
      return `new names for the columns of ${shown} hide which ones are read: leave the list out`;
    const isTable = names.has(token.name) || aliases.has(token.name);
    const member = next?.text === '.' && tokens[index + 3]?.text !== '(' ? tokens[index + 2]?.name : '';
    if (
      dialect === 'postgresql' &&
      isTable &&
      member &&
      tokens[index - 1]?.beforeTable !== true &&
      !isColumn(token.name, member)
    )
      return `${token.name}.${member} is no column, and as a function it would read hidden columns of ${shown}: name the columns, and give ${token.name} to one table only`;
    if (isTable && next?.text !== '.' && !afterTable) {
      return `${token.name} without a column would read hidden columns of ${shown}: write ${token.name}.column`;
    }
  }
  return null;
}

function isStar(tokens: readonly Read[], index: number): boolean {
  if (tokens[index - 1]?.text === '(' && tokens[index - 2]?.name === 'count' && tokens[index + 1]?.text === ')')
    return false;
  const next = tokens[index + 1];
  const before = tokens[index - 1]?.text ?? '';
  // After these tokens `*` cannot be a multiplication, whatever follows (in Snowflake EXCLUDE, RENAME, REPLACE, ILIKE).
  if (['.', ',', '{', '(', '[', 'select', 'distinct', 'all', 'struct', 'value'].includes(before)) return true;
  if (tokens[index - 2]?.text === 'top' || (before === ')' && isDistinctOn(tokens, opening(tokens, index - 1))))
    return true;
  if (next === undefined || [',', ')', ';'].includes(next.text)) return true;
  return next.kind === 'word' && AFTER_STAR.has(next.text);
}

/** `SELECT * FROM …` after which its query names none of the tables, except inside subqueries. */
function isOfDerived(tokens: readonly Read[], star: number, names: ReadonlySet<string>): boolean {
  if (!['select', 'distinct'].includes(tokens[star - 1]?.text ?? '') || tokens[star + 1]?.text !== 'from') return false;
  return !namesAny(tokens.slice(star), tokens[star], names);
}

/** Whether some of these tokens name a table in the query of one token, and not in a subquery. */
const namesAny = (tokens: readonly Read[], one: Read | undefined, names: ReadonlySet<string>): boolean =>
  tokens.some(({ query, name }) => query === one?.query && names.has(name));

/**
 * `e.*` where `e` is another table, or its alias, wherever the statement gives that name. In doubt it is not: a name may also stand
 * behind `PARTITION (…)`, before a colon (DuckDB), or in the quotes of a text (SQLite).
 */
function isOfOther(tokens: readonly Read[], star: number, isHidden: (name: string) => boolean): boolean {
  const row = tokens[star - 2]?.name ?? '';
  if (tokens[star - 1]?.text !== '.' || !/^\w+$/.test(row) || isHidden(row)) return false;
  const others = new Set(
    tokens.flatMap((token, at) => (token.beforeTable ? (nameOfOther(tokens, at + 1, isHidden) ?? []) : [])),
  );
  const given = tokens.flatMap(({ kind, raw, name }, at) => {
    if (kind === 'string') return folded(raw.slice(1, -1)) === row ? at : [];
    return folded(name) === row && tokens[at + 1]?.text !== '.' ? at : [];
  });
  return given.length > 0 && given.every((at) => others.has(at));
}

/** Where the relation that begins here gets its name, if it is one of other names and nothing but a name may follow. */
function nameOfOther(tokens: readonly Read[], from: number, isHidden: (name: string) => boolean): number | null {
  const end = endOfPath(tokens, from);
  const after = tokens[end + 1]?.text === 'as' ? end + 2 : end + 1;
  const at = isName(tokens[after]) && !mayFollow(tokens[after]) ? after : end;
  const isOther = ({ text, name }: Read): boolean => text === '.' || (name !== '' && !isHidden(name));
  return tokens.slice(from, end + 1).every(isOther) && mayFollow(tokens[at + 1]) ? at : null;
}

const mayFollow = (token: Read | undefined): boolean =>
  token === undefined || [',', ')', ';'].includes(token.text) || (token.kind === 'word' && AFTER_NAME.has(token.text));

/** As MySQL may compare names: `ſ` is an `s`. */
const folded = (name: string): string => name.toUpperCase().toLowerCase();

/** SQLite allows a table to be called `with` or `recursive`, so `WITH` counts only if a named query follows. */
function beginsQuery(tokens: readonly Token[], index: number): boolean {
  const first = tokens[index];
  if (first?.kind !== 'word') return false;
  if (first.text !== 'with') return first.text === 'select';
  return (
    isNamedQuery(tokens, index + 1) || (tokens[index + 1]?.text === 'recursive' && isNamedQuery(tokens, index + 2))
  );
}

function isNamedQuery(tokens: readonly Token[], index: number): boolean {
  const name = tokens[index];
  if (!isName(name) || (name.kind === 'word' && RESERVED.has(name.text))) return false;
  return ['as', '('].includes(tokens[index + 1]?.text ?? '');
}

/** Whether the next token is a table name or an alias, and so not a value. */
function isAfterTable(tokens: readonly Read[], index: number, names: ReadonlySet<string>): boolean {
  const { text = '', name = '', beforeTable = false } = tokens[index] ?? {};
  if (text === 'as' || text === '.' || beforeTable) return true;
  if (text !== ')') return names.has(name);
  const open = opening(tokens, index);
  return tokens[open - 1]?.text !== 'operator' && !isDistinctOn(tokens, open);
}

/** Whether the bracket is that of `SELECT DISTINCT ON (…)`, which an expression follows. */
function isDistinctOn(tokens: readonly Read[], open: number): boolean {
  return tokens[open - 1]?.text === 'on' && tokens[open - 2]?.text === 'distinct';
}

/** Whether `schema.table` is all of its columns: after IN (SQLite), or anywhere outside of FROM (DuckDB). */
function isPathOfRow(tokens: readonly Read[], index: number, dialect: Dialect): boolean {
  let head = index;
  while (tokens[head - 1]?.text === '.') head -= 2;
  const before = tokens[head - 1];
  return head < index && (before?.text === 'in' || (dialect === 'duckdb' && before?.beforeTable !== true));
}

const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());

type Name<T> = T & { readonly kind: 'word' | 'quoted' };
const isName = <T extends Token>(token: T | undefined): token is Name<T> =>
  token?.kind === 'word' || token?.kind === 'quoted';
const isWord = (token: Read, text: string): boolean => token.kind === 'word' && token.text === text;

/** The index of the last part of `[ONLY] [(] schema.name`. */
function endOfName(tokens: readonly Read[], from: number): number {
  let at = from;
  while (['only', '('].includes(tokens[at]?.text ?? '')) at += 1;
  return endOfPath(tokens, at);
}

function endOfPath(tokens: readonly Read[], from: number): number {
  let at = from;
  while (tokens[at + 1]?.text === '.') at += 2;
  return at;
}

/**
 * Names given to the tables, or to tables in brackets: the word that follows, with or without AS. Each with the tables that it is
 * given to, those of a bracket together.
 */
function aliasesOf(tokens: readonly Read[], names: ReadonlySet<string>): Map<string, (readonly string[])[]> {
  const aliases = new Map<string, (readonly string[])[]>();
  for (const [index, token] of tokens.entries()) {
    if (isName(token) ? !names.has(token.name) : !(token.text === ')' && closesTables(tokens, index))) continue;
    const after = tokens[index + 1]?.text === '*' ? index + 2 : index + 1; // `t *` also reads the tables that inherit from t
    const hasAs = tokens[after]?.text === 'as';
    const next = tokens[hasAs ? after + 1 : after];
    if (!isName(next) || (!hasAs && next.kind !== 'quoted' && NOT_AN_ALIAS.has(next.text))) continue;
    aliases.set(next.name, [...(aliases.get(next.name) ?? []), isName(token) ? [token.name] : [...names]]);
  }
  return aliases;
}

/** Whether the bracket holds tables, and no query. */
function closesTables(tokens: readonly Read[], close: number): boolean {
  const open = opening(tokens, close);
  return tokens[open]?.beforeTable === true && !beginsQuery(tokens, open + 1) && tokens[open + 1]?.text !== 'values';
}

/** Whether this is a list of new column names for joined tables in brackets. Subqueries and calls have their own columns. */
function renames(tokens: readonly Read[], index: number): boolean {
  const isNamed = tokens[index - 1]?.text === 'as';
  const close = isNamed ? index - 2 : index - 1;
  if (tokens[close]?.text !== ')' || (!isNamed && continues(tokens, index))) return false;
  const open = opening(tokens, close);
  const isRows = tokens[open + 1]?.text === 'values' && tokens[open + 2]?.text === '(';
  if (isRows || beginsQuery(tokens, open + 1)) return false;
  return !isCall(tokens, open - 1);
}

/** Whether this is the name of a function that is called in FROM. */
function isCall(tokens: readonly Read[], index: number): boolean {
  const name = tokens[index];
  if (!isName(name)) return false;
  if (['from', 'join', 'lateral', 'only'].includes(name.text)) return false;
  let at = index;
  while (tokens[at - 1]?.text === '.') at -= 2;
  return ['from', 'join', 'lateral', ',', '('].includes(tokens[at - 1]?.text ?? '');
}

/** After a closing bracket: a word that cannot be an alias, or the OVER or FILTER of a function. */
function continues(tokens: readonly Read[], index: number): boolean {
  const token = tokens[index];
  if (token?.kind !== 'word') return false;
  const inside = tokens[index + 2]?.text ?? '';
  // `OVER (w ROWS …)`: in a list of names, a comma or the end would follow the first name.
  if (token.text === 'over') return inside === ')' || ![',', ')'].includes(tokens[index + 3]?.text ?? ')');
  if (token.text === 'filter') return inside === 'where';
  return RESERVED.has(token.text);
}

const RESERVED = new Set(
  'in and or not then else when union except intersect on using where having limit offset from select join like ilike as'.split(
    ' ',
  ),
);

/** Before a comma at the same depth: it separates no relations. */
const NOT_IN_FROM = new Set(
  'select values where group having order window qualify limit offset fetch for [ {'.split(' '),
);

const NATURAL_JOIN = new Set([
  'join',
  'inner',
  'left',
  'right',
  'full',
  'cross',
  'asof',
  'outer',
  'semi',
  'anti',
  'positional',
  'straight_join',
]);

const NOT_AN_ALIAS = new Set(
  'on using join left right inner outer full cross natural where group order having limit offset fetch union except intersect window tablesample and or as from'.split(
    ' ',
  ),
);
