/**
 * A reader of queries in dialects for which no small and complete parser exists. The server checks the grammar anyway, so this
 * follows only the structure that matters here: brackets, WITH, SELECT, FROM with its list of relations, and calls. It refuses
 * whatever it does not know.
 *
 * 1. Every SELECT keyword opens a query wherever it stands, so that no relation is missed.
 * 2. Where a relation is expected, only a name, a query, VALUES or a harmless table function is allowed.
 * 3. Every name before a bracket must be a known keyword, an alias with columns, or an allowed function.
 *
 * A CTE shadows a relation; a CTE sees earlier ones, with RECURSIVE all of them.
 */
import { Refusal, SyntaxProblem } from './inspection';
import { words, type FunctionRules } from './functions';
import { closing, type Token } from '../../sql/lexer';

/** What the reader has to know of a dialect. Words are in upper case. */
export interface Grammar {
  /** Keywords before a bracket that make it no call. */
  readonly keywords: ReadonlySet<string>;
  /** Those that may also name a function, with what stands before the keyword: words in upper case, a space between tokens. */
  readonly unreserved?: Readonly<Record<string, RegExp>>;
  readonly functions: FunctionRules;
  /** A path that begins with the name of an earlier relation of the same FROM is a list in its rows, and no relation. */
  readonly arrays?: (name: Token) => boolean;
  /** With RECURSIVE a CTE sees later ones too. Left out: itself and earlier ones, so that a later name is a table's. */
  readonly forward?: boolean;
  /** The CTEs of a WITH inside a query see none around it, except where it begins the body of another CTE. */
  readonly flatWith?: boolean;
  /** The word for no relation at all. */
  readonly nothing?: string;
  /** Words that cannot begin a query in brackets, or stand before a name, each with what to write instead. */
  readonly refused: ReadonlyMap<string, string>;
  /** Reserved words that end a list of relations, beside those of all dialects. */
  readonly clauses?: ReadonlySet<string>;
  /** A part of a relation's name: as the port says, lower case unless it needs quotes, where the engine folds names. */
  readonly name: (part: Token) => string;
  /** What is equal for names that the engine takes for the same. */
  readonly sameName: (part: Token) => string;
  /** Why a relation of that name may not be read; null: it may. */
  readonly refuseRelation: (parts: readonly string[]) => string | null;
}

/** The reader's state between two brackets. */
interface Level {
  scope: ReadonlySet<string>;
  clause: 'none' | 'select' | 'from' | 'other';
  expects: 'relation' | 'query' | null;
  /** VALUES was read, so that further brackets are rows. */
  values: boolean;
  /** A relation was read, so an alias with column names may follow. */
  alias: boolean;
  /** By which names rows of the relations read so far can be told (`Grammar.arrays`). */
  ranges?: Set<string>;
  /** The body of a CTE. */
  body?: boolean;
  /** Inside MATCH_RECOGNIZE, where a row pattern may stand instead of an expression. */
  pattern?: boolean;
}

export class Reader {
  readonly relations = new Set<string>();
  /** CTE names of the WITH at the start of the statement. */
  firstCtes: readonly string[] = [];
  #at = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly grammar: Grammar,
  ) {}

  /** Reads up to the bracket that closes this level, or to the end. */
  level(level: Level): void {
    for (;;) {
      const token = this.tokens[this.#at];
      if (token === undefined || isSymbol(token, ')')) {
        if (level.expects !== null) throw this.problem(token);
        return;
      }
      if (level.expects === 'relation') this.relation(level);
      else if (isSymbol(token, '(')) this.bracket(level);
      else if (token.kind === 'word') this.word(token, level);
      else if (token.kind === 'quoted' && isSymbol(this.peek(1), '(')) this.call(token, level);
      else {
        if (level.expects === 'query') throw this.problem(token);
        if (isSymbol(token, ',') && level.clause === 'from') level.expects = 'relation';
        this.#at += 1;
      }
    }
  }

  inner(scope: Level['scope'], expects: Level['expects'] = 'query', clause: Level['clause'] = 'none'): void {
    this.level({ scope, clause, expects, values: false, alias: false });
  }

  private word(token: Token, level: Level): void {
    const word = keyword(token);
    if (isSymbol(this.peek(-1), '.') || isSymbol(this.peek(-1), ':')) {
      if (word === 'NEXTVAL') throw new Refusal('sequences (.nextval) are not allowed: they change state');
      if (isSymbol(this.peek(1), '(')) this.call(token, level);
      else this.#at += 1;
      return;
    }
    this.refuse(token);
    if (word === 'WITH' && opensCtes(this.tokens, this.#at)) {
      this.ctes(level);
      return;
    }
    if (word === 'SELECT') {
      Object.assign(level, { clause: 'select', expects: null, values: false, alias: false, ranges: new Set() });
      this.#at += 1;
      return;
    }
    if (level.expects === 'query') {
      if (word === 'VALUES') level.expects = null;
      else throw new Refusal(`${word} is not allowed: write one SELECT that only reads`);
    }
    if (SET_OPERATORS.has(word) && !isSymbol(this.peek(-1), '*')) {
      // No set operator directly follows `*`: Snowflake's exclusion of columns is `* EXCLUDE`, not `* EXCEPT`.
      level.clause = 'none';
      this.#at += 1;
      while (SET_WORDS.has(keyword(this.tokens[this.#at]))) this.#at += 1;
      // `UNION ALL BY NAME ON (a, b)`, `UNION ALL CORRESPONDING BY (a, b)`
      if (isSymbol(this.tokens[this.#at], '(') && (isWord(this.peek(-1), 'ON') || isWord(this.peek(-1), 'BY'))) {
        this.#at += 1;
        this.inner(level.scope, null);
        this.close();
      }
      level.expects = 'query';
      return;
    }
    if (word === 'FROM' && (isDistinctFrom(this.tokens, this.#at) || isNthValue(this.tokens, this.#at))) {
      this.#at += 1;
      return;
    }
    if (word === 'FROM' && level.clause === 'select') {
      Object.assign(level, { clause: 'from', expects: 'relation' });
      this.#at += 1;
      return;
    }
    if (level.clause === 'from' && (word === 'JOIN' || word === 'STRAIGHT_JOIN')) level.expects = 'relation';
    if (AFTER_ALIAS.has(word)) level.alias = false;
    if (word === 'FROM' && ['from', 'other'].includes(level.clause)) throw this.problem(token);
    // Not in `WITHIN GROUP`, nor in MySQL's `USE INDEX FOR ORDER BY`.
    const isPart = ['WITHIN', 'FOR'].includes(keyword(this.peek(-1)));
    if (this.endsFrom(word) && level.clause === 'from' && !isPart) level.clause = 'other';
    // Its rows have another name than those of the relation that it turns.
    if (word === 'PIVOT' || word === 'UNPIVOT' || word === 'MATCH_RECOGNIZE') level.ranges?.clear();
    if (level.clause !== 'none' && word === 'INTO')
      throw new Refusal('SELECT INTO is not allowed: leave INTO out, the rows are returned');
    if (word === 'FOR' && (isWord(this.peek(1), 'UPDATE') || isWord(this.peek(1), 'SHARE')))
      throw new Refusal('FOR UPDATE and FOR SHARE are not allowed: leave the locking clause out');
    if (word !== 'VALUES') level.values = false;
    if (level.pattern === true && word === 'PATTERN' && isSymbol(this.peek(1), '(')) {
      this.#at += 1;
      this.skipBracket();
    } else if (isSymbol(this.peek(1), '(') && level.expects !== 'relation') this.call(token, level);
    else this.#at += 1;
  }

  private endsFrom(word: string): boolean {
    if (CLAUSES.has(word) || this.grammar.clauses?.has(word) === true) return true;
    return word === 'WINDOW' && isWord(this.peek(2), 'AS') && isSymbol(this.peek(3), '(');
  }

  /** A query or statement that does not begin with SELECT may stand in brackets, where its relation would be missed. */
  private refuse(token: Token): void {
    const next = this.peek(1);
    const before = this.peek(-1);
    if (isWord(token, 'FROM') && isSymbol(before, '('))
      throw new Refusal('FROM in front is not allowed: begin with SELECT: SELECT * FROM …');
    const refused = this.grammar.refused.get(keyword(token));
    if (refused === undefined) return;
    const isBegin = before === undefined || isSymbol(before, '(');
    if (isBegin && (next?.kind === 'word' || next?.kind === 'quoted' || next?.kind === 'string'))
      throw new Refusal(refused);
  }

  private bracket(level: Level): void {
    // `(a).(dataset.name)(b)` calls a function in BigQuery.
    if (isSymbol(this.peek(-1), '.')) throw new Refusal('a bracket after a dot is not allowed: write name(a, b)');
    const pattern = level.clause === 'from' && isWord(this.peek(-1), 'MATCH_RECOGNIZE');
    this.#at += 1;
    const expects = level.expects === 'query' ? 'query' : null;
    level.expects = null;
    this.level({ scope: level.scope, clause: 'none', expects, values: false, alias: false, pattern });
    this.close();
  }

  private close(): void {
    if (!isSymbol(this.tokens[this.#at], ')')) throw this.problem(this.tokens[this.#at]);
    this.#at += 1;
  }

  /** WITH [RECURSIVE] name [(columns)] AS (query), … */
  private ctes(level: Level): void {
    const isFirst = this.#at === 0;
    const beginsBody = level.body === true && isSymbol(this.peek(-1), '(');
    this.#at += 1;
    const recursive = isWord(this.tokens[this.#at], 'RECURSIVE') && !isWord(this.peek(1), 'AS');
    if (recursive) this.#at += 1;
    const from = this.#at;
    const { forward = false, flatWith = false, sameName } = this.grammar;
    const names = recursive && forward ? cteNames(this.tokens, from) : [];
    let scope = new Set([...level.scope, ...names.map(sameName)]);
    let seen = flatWith && !isFirst && !beginsBody ? new Set<string>() : scope;
    const own: Token[] = [];
    for (;;) {
      const name = this.tokens[this.#at];
      if (name === undefined || (name.kind !== 'word' && name.kind !== 'quoted')) throw this.problem(name);
      this.#at += 1;
      if (isSymbol(this.tokens[this.#at], '(')) this.skipBracket();
      if (!isWord(this.tokens[this.#at], 'AS')) throw this.problem(this.tokens[this.#at]);
      this.#at += 1;
      if (isWord(this.tokens[this.#at], 'NOT') && isWord(this.peek(1), 'MATERIALIZED')) this.#at += 1;
      if (isWord(this.tokens[this.#at], 'MATERIALIZED')) this.#at += 1;
      if (isWord(this.tokens[this.#at], 'PROCEDURE'))
        throw new Refusal('WITH … AS PROCEDURE is not allowed: a CTE may only be a SELECT');
      if (!isSymbol(this.tokens[this.#at], '(')) throw this.problem(this.tokens[this.#at]);
      this.#at += 1;
      const first = this.tokens[this.#at];
      if (first?.kind === 'word' && !QUERY_STARTS.has(keyword(first)))
        throw new Refusal(`the CTE ${this.grammar.name(name)} is no query: a CTE may only be a SELECT`);
      const withOwn = recursive ? new Set([...seen, sameName(name)]) : seen;
      this.level({ scope: withOwn, clause: 'none', expects: 'query', values: false, alias: false, body: true });
      this.close();
      own.push(name);
      scope = new Set([...scope, sameName(name)]);
      seen = new Set([...seen, sameName(name)]);
      if (!isSymbol(this.tokens[this.#at], ',')) break;
      this.#at += 1;
    }
    if (isFirst) this.firstCtes = own.map((name) => this.grammar.name(name));
    level.scope = scope;
    level.expects = 'query';
  }

  /** Reads the relation that must stand here. */
  private relation(level: Level): void {
    const token = this.tokens[this.#at];
    if (token === undefined) throw this.problem(token);
    if (isSymbol(token, '(')) {
      const next = this.peek(1);
      this.#at += 1;
      Object.assign(level, { expects: null, alias: true });
      if (QUERY_STARTS.has(keyword(next))) this.inner(level.scope);
      else if (level.values) this.inner(level.scope, null, 'other');
      else this.inner(level.scope, 'relation', 'from');
      this.close();
      this.range(level, []);
      return;
    }
    if (token.kind === 'string')
      throw new Refusal('a relation is named by a text: write its name, and read tables and views only');
    if (token.kind !== 'word' && token.kind !== 'quoted') throw this.problem(token);
    if (isWord(token, 'LATERAL')) {
      this.#at += 1;
      return;
    }
    Object.assign(level, { expects: null, alias: true });
    // Where VALUES is no reserved word, it may be the name of a table.
    if (isWord(token, 'VALUES') && (isSymbol(this.peek(1), '(') || isWord(this.peek(1), 'ROW'))) {
      level.values = true;
      this.#at += 1;
      return;
    }
    if (isWord(token, 'SELECT') || isWord(token, 'WITH')) throw this.problem(token);
    this.refuse(token);
    if (VERBS.has(keyword(token)) && this.peek(1)?.kind === 'word')
      throw new Refusal(`${keyword(token)} is not allowed: write one SELECT that only reads`);
    if (isWord(token, 'TABLE') && isSymbol(this.peek(1), '(')) {
      this.#at += 2;
      this.tableFunction(level.scope);
      this.close();
      return;
    }
    const parts = this.path();
    if (isSymbol(this.tokens[this.#at], ':'))
      throw new Refusal('an alias in front (name: table) is not allowed: write table AS name');
    const isCall = isSymbol(this.tokens[this.#at], '(');
    if (isCall) this.tableCall(parts, level.scope);
    else if (!this.isArray(parts, level)) this.addRelation(parts, level.scope);
    // What goes on with a dash or a digit would be another name.
    const after = this.tokens[this.#at];
    if (isSymbol(after, '-') || after?.kind === 'number') throw this.problem(after);
    this.range(level, isCall ? [] : parts);
  }

  /** A path in one pair of quotes is a table's: only its first part has the opening one, and no closing one. */
  private isArray(parts: readonly Token[], { ranges }: Level): boolean {
    const [first] = parts;
    if (first === undefined || parts.length === 1 || first.raw.length === first.text.length + 1) return false;
    return ranges?.has(this.grammar.sameName(first)) === true;
  }

  /** After a relation: its alias, or without one the end of its name, tells its rows from now on. */
  private range(level: Level, parts: readonly Token[]): void {
    const { arrays, sameName } = this.grammar;
    if (arrays === undefined || level.ranges === undefined) return;
    const hasAs = isWord(this.tokens[this.#at], 'AS');
    const next = hasAs ? this.peek(1) : this.tokens[this.#at];
    const isNamed = next !== undefined && (next.kind === 'quoted' || (next.kind === 'word' && arrays(next)));
    const name = isNamed ? next : hasAs ? undefined : parts.at(-1);
    if (name !== undefined) level.ranges.add(sameName(name));
  }

  private tableFunction(scope: ReadonlySet<string>): void {
    const token = this.tokens[this.#at];
    if (token?.kind !== 'word' && token?.kind !== 'quoted')
      throw new Refusal('TABLE(…) of a value is not allowed: write the name of the table');
    const parts = this.path();
    if (!isSymbol(this.tokens[this.#at], '('))
      throw new Refusal('TABLE(…) of a name is not allowed: write the name of the table alone');
    this.tableCall(parts, scope);
  }

  private tableCall(parts: readonly Token[], scope: ReadonlySet<string>): void {
    const refused = this.grammar.functions.refuseTable(called(parts));
    if (refused !== null) throw new Refusal(refused);
    this.#at += 1;
    this.inner(scope, null);
    this.close();
  }

  /** `name`, `schema.name` or `database.schema.name`. */
  private path(): Token[] {
    const parts: Token[] = [];
    for (;;) {
      const part = this.tokens[this.#at];
      if (part === undefined || (part.kind !== 'word' && part.kind !== 'quoted')) throw this.problem(part);
      parts.push(part);
      this.#at += 1;
      if (!isSymbol(this.tokens[this.#at], '.')) return parts;
      this.#at += 1;
    }
  }

  private addRelation(parts: readonly Token[], scope: ReadonlySet<string>): void {
    const [first] = parts;
    if (first === undefined || parts.length > 3) throw new SyntaxProblem('a relation has more than three parts');
    if (parts.length === 1 && scope.has(this.grammar.sameName(first))) return;
    if (parts.length === 1 && this.grammar.nothing !== undefined && isWord(first, this.grammar.nothing)) return;
    const names = parts.map((part) => this.grammar.name(part));
    const refused = this.grammar.refuseRelation(names);
    if (refused !== null) throw new Refusal(refused);
    this.relations.add(names.join('.'));
  }

  /** A name before a bracket: a keyword, an alias with columns, or a call. */
  private call(token: Token, level: Level): void {
    const qualifiers: Token[] = [];
    for (let at = this.#at - 1; isSymbol(this.tokens[at], '.'); at -= 2) {
      const part = this.tokens[at - 1];
      if (part === undefined || (part.kind !== 'word' && part.kind !== 'quoted')) break;
      qualifiers.unshift(part);
    }
    this.#at += 1;
    if (isSymbol(this.peek(1), '+') && isSymbol(this.peek(2), ')')) return; // `a.id = b.id (+)` is an outer join
    const { keywords, functions } = this.grammar;
    if (qualifiers.length === 0) {
      if (this.isKeyword(token, level) || (level.alias && isAlias(this.tokens, this.#at - 2, keywords))) return;
    }
    const refused = functions.refuse(called([...qualifiers, token]));
    if (refused !== null) throw new Refusal(refused);
  }

  /** `token`: the one before that where the reader stands. In a row pattern AS begins a condition, and is no sign of a type. */
  private isKeyword(token: Token, { pattern = false }: Level): boolean {
    const { keywords, unreserved = {} } = this.grammar;
    const [word, end] = [keyword(token), this.#at - 1];
    if (!keywords.has(word) || unreserved[word] === undefined) return keywords.has(word);
    if (pattern && ['AS', 'MEASURES'].includes(keyword(this.tokens[end - 1]))) return false;
    const before = this.tokens.slice(Math.max(0, end - TOKENS_BEFORE), end).map(({ raw }) => raw.toUpperCase());
    return unreserved[word].test(before.join(' '));
  }

  private skipBracket(): void {
    let depth = 0;
    do {
      const token = this.tokens[this.#at];
      if (token === undefined) throw this.problem(token);
      if (isSymbol(token, '(')) depth += 1;
      if (isSymbol(token, ')')) depth -= 1;
      this.#at += 1;
    } while (depth > 0);
  }

  private peek(offset: number): Token | undefined {
    return this.tokens[this.#at + offset];
  }

  private problem(token: Token | undefined): SyntaxProblem {
    return new SyntaxProblem(
      token === undefined
        ? 'the statement ends too early'
        : `syntax error at or near "${token.text}" (at character ${token.at + 1})`,
    );
  }
}

/** As many as tell a keyword from a name. */
const TOKENS_BEFORE = 7;

/** A function's name in upper case. */
const called = (parts: readonly Token[]): string =>
  parts.map(({ kind, text }) => (kind === 'word' ? text.toUpperCase() : text)).join('.');

/** Words and symbols as the reader tells them apart. */

/** A word in upper case; empty: it is none. */
const keyword = (token: Token | undefined): string => (token?.kind === 'word' ? token.raw.toUpperCase() : '');

const isSymbol = (token: Token | undefined, text: string): boolean => token?.kind === 'symbol' && token.text === text;
export const isWord = (token: Token | undefined, text: string): boolean => keyword(token) === text;

/** Where a relation is expected and another word follows, these words begin a statement. */
const VERBS = words('INSERT UPDATE DELETE MERGE CALL EXECUTE CREATE ALTER DROP TRUNCATE COPY SHOW DESCRIBE');
const QUERY_STARTS = new Set(['SELECT', 'WITH', 'VALUES']);
const SET_OPERATORS = new Set(['UNION', 'INTERSECT', 'EXCEPT', 'MINUS']);
const SET_WORDS = new Set(['ALL', 'DISTINCT', 'STRICT', 'CORRESPONDING', 'BY', 'NAME', 'ON']);
/** Reserved words only: a word that may also be an alias (LIMIT, OFFSET) would hide the relations that follow it. */
const CLAUSES = new Set(['WHERE', 'GROUP', 'HAVING', 'ORDER']);
const AFTER_ALIAS = new Set([...CLAUSES, 'QUALIFY', 'START', 'CONNECT', 'ON', 'USING', 'JOIN']);
/** What the reader has to see ahead or behind before it decides. `at` is the token that it stands on. */

/** The CTE names of a WITH whose first one is at `from`, found ahead of time by matching brackets. */
function cteNames(tokens: readonly Token[], from: number): Token[] {
  const names: Token[] = [];
  for (let at = from; ; at += 1) {
    const name = tokens[at];
    if (name === undefined) return names;
    names.push(name);
    while (at < tokens.length && !isWord(tokens[at], 'AS')) at += 1;
    while (at < tokens.length && !isSymbol(tokens[at], '(')) at += 1;
    at = closing(tokens, at) + 1;
    if (!isSymbol(tokens[at], ',')) return names;
  }
}

function opensCtes(tokens: readonly Token[], at: number): boolean {
  if (isWord(tokens[at - 1], 'START')) return false;
  const skip = isWord(tokens[at + 1], 'RECURSIVE') && !isWord(tokens[at + 2], 'AS') ? 2 : 1;
  const name = tokens[at + skip];
  const after = tokens[at + skip + 1];
  // `UNNEST(a) WITH OFFSET AS b`: a CTE would have a bracket there.
  if (isWord(name, 'OFFSET') && isWord(after, 'AS') && !isSymbol(tokens[at + skip + 2], '(')) return false;
  return (name?.kind === 'word' || name?.kind === 'quoted') && (isWord(after, 'AS') || isSymbol(after, '('));
}

/** In FROM, after a relation: `t (a, b)`, `) AS t (a, b)`. */
function isAlias(tokens: readonly Token[], at: number, keywords: ReadonlySet<string>): boolean {
  const previous = tokens[at];
  if (previous === undefined) return false;
  if (previous.kind === 'quoted' || isSymbol(previous, ')')) return true;
  return previous.kind === 'word' && (isWord(previous, 'AS') || !keywords.has(keyword(previous)));
}

/** `a IS [NOT] DISTINCT FROM b`: this FROM is followed by no relation. */
function isDistinctFrom(tokens: readonly Token[], at: number): boolean {
  return isWord(tokens[at - 1], 'DISTINCT') && (isWord(tokens[at - 2], 'IS') || isWord(tokens[at - 2], 'NOT'));
}

/**
 * `NTH_VALUE(a, 2) FROM FIRST OVER (ORDER BY b)`: this FROM is followed by no relation either. ORDER BY or PARTITION BY
 * tells it from a relation FIRST with the alias OVER, which would have column names there.
 */
function isNthValue(tokens: readonly Token[], at: number): boolean {
  const after = isWord(tokens[at + 3], 'NULLS') ? 4 : 2;
  return (
    isSymbol(tokens[at - 1], ')') &&
    (isWord(tokens[at + 1], 'FIRST') || isWord(tokens[at + 1], 'LAST')) &&
    isWord(tokens[at + after], 'OVER') &&
    isWord(tokens[at + after + 3], 'BY') // `(ORDER BY` or `(PARTITION BY`
  );
}
