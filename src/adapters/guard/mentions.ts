/**
 * Whether a statement might read hidden columns of the tables it names. It errs on the side of refusing: the text is
 * split into tokens and every way to a column that does not name it is refused too: `*`, a whole row (`SELECT t FROM t`),
 * a list of new names for the columns (`t AS x(a, b)`), `TABLE t`, and escaped identifiers. `SELECT *` from subqueries and
 * named queries alone stays: what they read is looked at where they read it, and every compiled plan has such steps.
 */

interface Token {
  readonly kind: 'word' | 'quoted' | 'other';
  /** Lower case, without quotes. */
  readonly text: string;
}

const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\s+|(\$[A-Za-z_]*\$)[\s\S]*?\1|[eExXbB]?'(?:[^'\\]|''|\\[\s\S])*'|[uU]&"|"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|\d[\w.]*|[\s\S]/g;

/** Words that end a list of expressions: before one of them `*` is no multiplication. */
const AFTER_STAR = new Set([
  'from',
  'where',
  'group',
  'having',
  'order',
  'limit',
  'offset',
  'fetch',
  'union',
  'except',
  'intersect',
  'window',
  'into',
  'as',
]);
/** Words before a table name or a new name for it. */
const BEFORE_TABLE = new Set(['from', 'join', 'as', '.']);

export interface HiddenIn {
  /** The table's name without its schema. */
  readonly table: string;
  readonly columns: readonly string[];
}

/** The sentence that says why the statement is refused, or null. */
export function findHidden(sql: string, tables: readonly HiddenIn[]): string | null {
  const tokens = tokenize(sql);
  const hidden = new Map(
    tables.flatMap(({ table, columns }) =>
      columns.map((column) => [column.toLowerCase(), `${table}.${column}`] as const),
    ),
  );
  const names = new Set(tables.map(({ table }) => table.toLowerCase()));
  const shown = tables.map(({ table }) => table).join(', ');
  const aliases = aliasesOf(tokens, names);
  for (const [index, token] of tokens.entries()) {
    const previous = tokens[index - 1]?.text ?? '';
    const next = tokens[index + 1];
    if (token.text === 'u&"')
      return 'escaped identifiers (U&"…") cannot be checked against the access list: write names as they are';
    if (token.kind !== 'other') {
      const column = hidden.get(token.text);
      if (column !== undefined) return `the column ${column} may not be read here: leave it out`;
    }
    if (token.text === '*' && isStar(tokens, index) && !isOfDerived(tokens, index, names))
      return `* would read hidden columns of ${shown}: name the columns`;
    if (token.kind === 'word' && token.text === 'table' && next !== undefined && names.has(next.text)) {
      return `TABLE would read hidden columns of ${shown}: name the columns`;
    }
    if (token.kind === 'other') continue;
    const renames =
      aliases.has(token.text) ||
      names.has(token.text) ||
      (previous === ')' && !continues(tokens, index)) ||
      (previous === 'as' && tokens[index - 2]?.text === ')');
    const afterTable = BEFORE_TABLE.has(previous) || names.has(previous) || previous === ')';
    if (renames && next?.text === '(' && afterTable)
      return `new names for the columns of ${shown} hide which ones are read: leave the list out`;
    if ((names.has(token.text) || aliases.has(token.text)) && next?.text !== '.' && !afterTable) {
      return `${token.text} without a column would read hidden columns of ${shown}: write ${token.text}.column (and JOIN in place of a comma in FROM)`;
    }
  }
  return null;
}

function isStar(tokens: readonly Token[], index: number): boolean {
  if (tokens[index - 1]?.text === '(' && tokens[index - 2]?.text === 'count' && tokens[index + 1]?.text === ')')
    return false;
  const next = tokens[index + 1];
  // Nothing to multiply stands before it, whatever Snowflake lets follow: EXCLUDE, RENAME, REPLACE, ILIKE.
  if (['.', ',', '{', 'select', 'distinct', 'all'].includes(tokens[index - 1]?.text ?? '')) return true;
  if (next === undefined || [',', ')', ';'].includes(next.text)) return true;
  return next.kind === 'word' && AFTER_STAR.has(next.text);
}

/** `SELECT * FROM …` with none of the tables up to the end of its brackets, except inside subqueries. */
function isOfDerived(tokens: readonly Token[], index: number, names: ReadonlySet<string>): boolean {
  if (!['select', 'distinct'].includes(tokens[index - 1]?.text ?? '') || tokens[index + 1]?.text !== 'from')
    return false;
  let depth = 0;
  for (let at = index + 2; at < tokens.length && depth >= 0; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.kind !== 'other') {
      if (names.has(token.text)) return false;
    } else if (token.text === ')') depth -= 1;
    else if (token.text === '(' && beginsQuery(tokens, at + 1)) at = closing(tokens, at);
    else if (token.text === '(') depth += 1;
  }
  return true;
}

/** SQLite lets a relation be called `with` or `recursive`, so that a named query has to follow. */
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
  if (name === undefined || name.kind === 'other' || (name.kind === 'word' && RESERVED.has(name.text))) return false;
  return ['as', '('].includes(tokens[index + 1]?.text ?? '');
}

function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    if (tokens[at]?.kind !== 'other') continue;
    if (tokens[at]?.text === '(') depth += 1;
    if (tokens[at]?.text === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length;
}

/** Names given to the tables: the word after the table, with or without AS. */
function aliasesOf(tokens: readonly Token[], names: ReadonlySet<string>): Set<string> {
  const aliases = new Set<string>();
  for (const [index, { text, kind }] of tokens.entries()) {
    if (kind === 'other' || !names.has(text)) continue;
    const next = tokens[index + 1]?.text === 'as' ? tokens[index + 2] : tokens[index + 1];
    if (next !== undefined && next.kind !== 'other' && !(next.kind === 'word' && NOT_AN_ALIAS.has(next.text)))
      aliases.add(next.text);
  }
  return aliases;
}

/** After a closing bracket: a word that no relation can be called, or the window or filter of a function. */
function continues(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  if (token?.kind !== 'word') return false;
  const inside = tokens[index + 2]?.text ?? '';
  if (token.text === 'over') return [')', 'partition', 'order'].includes(inside);
  if (token.text === 'filter') return inside === 'where';
  return RESERVED.has(token.text);
}

const RESERVED = new Set(
  'in and or not then else when union except intersect on using where having limit offset from select join like ilike as'.split(
    ' ',
  ),
);

const NOT_AN_ALIAS = new Set(
  'on using join left right inner outer full cross natural where group order having limit offset fetch union except intersect window tablesample and or as from'.split(
    ' ',
  ),
);

function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  for (const match of sql.matchAll(TOKEN)) {
    const [text, dollar, double, backtick, bracket, word] = match;
    if (/^(--|\/\*|\s)/.test(text)) continue;
    const quoted = double ?? backtick ?? (bracket !== undefined && isBracketName(tokens) ? bracket : undefined);
    if (quoted !== undefined) tokens.push({ kind: 'quoted', text: quoted.replaceAll('""', '"').toLowerCase() });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word.toLowerCase() });
    else if (bracket !== undefined)
      tokens.push({ kind: 'other', text: '[' }, ...tokenize(bracket), { kind: 'other', text: ']' });
    else tokens.push({ kind: 'other', text: dollar !== undefined || text.includes("'") ? "'" : text.toLowerCase() });
  }
  return tokens;
}

/** `[name]` is an identifier in SQLite, a subscript after an expression in PostgreSQL: there its content is read as SQL. */
function isBracketName(before: readonly Token[]): boolean {
  const previous = before.at(-1);
  if (previous === undefined) return false;
  return previous.kind === 'other' ? ![')', ']'].includes(previous.text) : previous.text !== 'array';
}
