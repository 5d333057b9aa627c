/**
 * Bodies: the SQL texts of operators, normalised so that equal texts get equal ids (rules S3, S4, S8). Only blanks,
 * semicolons and comments after the statement are dropped. The statement itself is never edited.
 */
import type { Body } from '../domain';
import type { Inspection } from '../ports';

/** Hexadecimal SHA-256 of a text; passed in, because workflow code imports this file. */
export type Hash = (text: string) => string;

export type SelectInspection = Extract<Inspection, { kind: 'select' }>;

/** The statement without blanks, semicolons and comments after its last token. */
export function normaliseSql(sql: string): string {
  return sql.slice(0, significantEnd(sql)).trimStart();
}

/**
 * `reads` are the operator names that the text reads, its own name included when it recurses; every other relation of
 * the inspection is a base relation.
 */
export function makeBody(sql: string, reads: readonly string[], inspection: SelectInspection, hash: Hash): Body {
  const text = normaliseSql(sql);
  const used = unique(reads.filter((name) => inspection.relations.some((relation) => sameName(relation, name)))).sort();
  return {
    schemaVersion: 1,
    bodyId: bodyId(text, used, hash),
    sql: text,
    relations: unique(inspection.relations.filter((relation) => !used.some((name) => sameName(relation, name)))).sort(),
    reads: used,
    recursive: false,
    hasWith: inspection.hasWith,
  };
}

/** As `makeBody`, for the body of the operator `self`: reading itself makes it recursive. */
export function makeOperatorBody(
  sql: string,
  operator: { readonly name: string; readonly inputs: readonly string[] },
  inspection: SelectInspection,
  hash: Hash,
): Body {
  const body = makeBody(sql, [...operator.inputs, operator.name], inspection, hash);
  return { ...body, recursive: body.reads.includes(operator.name) };
}

/**
 * A hash of the text as an engine reads it, so that a different layout is not a different derivation (rule S4). The part
 * before the dot does not depend on the names of the operators that the text reads (`textOf`).
 */
export function bodyId(sql: string, reads: readonly string[], hash: Hash): string {
  const plain = plainSql(sql);
  const text = `b${hash(nameless(plain, reads)).slice(0, 16)}`;
  // The part after the dot includes the names: else `op_a.n - op_b.n` and `op_b.n - op_a.n` would have the same id.
  return reads.length === 0 ? text : `${text}.${hash(JSON.stringify([plain, reads])).slice(0, 8)}`;
}

/** Equal for bodies that differ at most in the names of the operators they read. */
export function textOf(bodyId: string): string {
  return bodyId.split('.', 1)[0] ?? bodyId;
}

/** Replaces names by numbers, in the order in which they appear in the text. */
function nameless(plain: string, names: readonly string[]): string {
  const places: string[] = [];
  const placed = (word: string): string => {
    const name = word.replace(/^"(.*)"$/s, '$1').toLowerCase();
    if (!names.some((other) => other.toLowerCase() === name)) return word;
    if (!places.includes(name)) places.push(name);
    return `$${places.indexOf(name)}`;
  };
  let text = '';
  for (let at = 0, next = 0; at < plain.length; at = next) {
    const word = /^[a-z_][\w$]*/i.exec(plain.slice(at, at + 128))?.[0];
    next = word === undefined ? tokenEnd(plain, at) : at + word.length;
    text += placed(plain.slice(at, next));
  }
  return text;
}

/** Without comments, layout and the case of unquoted words; quoted pieces stay as they are. */
export function plainSql(sql: string): string {
  let plain = '';
  let isApart = false;
  for (let at = 0, next = 0; at < sql.length; at = next) {
    next = tokenEnd(sql, at);
    const token = sql.slice(at, next);
    if (/^(?:\s|--|\/\*)/.test(token)) {
      isApart = true;
      continue;
    }
    // Blanks beside brackets and commas are layout; elsewhere a blank may separate two words or signs.
    const needsSpace = isApart && !/[(,]$/.test(plain) && !/^[(),]/.test(token) && plain !== '';
    plain += (needsSpace ? ' ' : '') + (token.length === 1 ? token.toLowerCase() : token);
    isApart = false;
  }
  return plain;
}

function sameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

/** Index after the last character that belongs to a token other than a comment or a semicolon. */
function significantEnd(sql: string): number {
  let end = 0;
  let at = 0;
  while (at < sql.length) {
    const next = tokenEnd(sql, at);
    if (!isFiller(sql, at)) end = next;
    at = next;
  }
  return end;
}

function isFiller(sql: string, at: number): boolean {
  return /\s|;/.test(sql.charAt(at)) || sql.startsWith('--', at) || sql.startsWith('/*', at);
}

/** End of the comment, quoted piece or single character that starts at `at`. */
function tokenEnd(sql: string, at: number): number {
  if (sql.startsWith('--', at)) return after(sql, '\n', at + 2);
  if (sql.startsWith('/*', at)) return after(sql, '*/', at + 2);
  const character = sql.charAt(at);
  if (character === "'" || character === '"' || character === '`') {
    return quotedEnd(sql, at, character, character === "'" && isEscapeString(sql, at));
  }
  if (character === '$') {
    const tag = /^\$(?:[A-Za-z_][A-Za-z_0-9]*)?\$/.exec(sql.slice(at, at + 70))?.[0];
    if (tag !== undefined && !/\w/.test(sql.charAt(at - 1))) return after(sql, tag, at + tag.length);
  }
  return at + 1;
}

function after(sql: string, mark: string, from: number): number {
  const found = sql.indexOf(mark, from);
  return found < 0 ? sql.length : found + mark.length;
}

/** PostgreSQL's E'…', where a backslash escapes. */
function isEscapeString(sql: string, at: number): boolean {
  return /e/i.test(sql.charAt(at - 1)) && !/\w/.test(sql.charAt(at - 2));
}

function quotedEnd(sql: string, start: number, quote: string, escapes: boolean): number {
  for (let at = start + 1; at < sql.length; at += 1) {
    if (escapes && sql.charAt(at) === '\\') at += 1;
    else if (sql.charAt(at) === quote) return at + 1;
  }
  return sql.length;
}
